"""Which machine each node is, as the source of truth said it last."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, select

from fleet_runner.adapters.store.engine.database import insert
from fleet_runner.adapters.store.schema.core import LIVE, machines, nodes
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.identity import DesignedMachine, machine, merged
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.states import State

_COLUMNS = (machines.c.serial, machines.c.uuid, machines.c.bmc, machines.c.macs)


def every(connection: Connection) -> dict[str, DesignedMachine]:
    """Return the machine of each node that is not retired; of which nothing is known, one without evidence."""
    found = select(nodes.c.name, *_COLUMNS).join_from(nodes, machines, isouter=True)
    rows = connection.execute(found.where(nodes.c.device_type.not_in(FABRIC_TYPES), LIVE))
    return {name: _machine(said) if said[0] is not None else DesignedMachine() for name, *said in rows}


_ONE = select(*_COLUMNS).where(machines.c.node == bindparam("node"))


def one(connection: Connection, node: str) -> DesignedMachine:
    """Return the machine of a node."""
    row = connection.execute(_ONE, {"node": node}).one_or_none()
    return _machine(row) if row is not None else DesignedMachine()


def retired(connection: Connection) -> frozenset[str]:
    """Return the names of retired nodes and of fabrics: no machine can have one of them."""
    taken = select(nodes.c.name).where(
        (nodes.c.state == State.RETIRED.value) | (nodes.c.device_type.in_(FABRIC_TYPES))
    )
    return frozenset(connection.execute(taken).scalars())


def tell(connection: Connection, devices: Iterable[Device]) -> None:
    """Keep what the source of truth says of machines; what it said before of a serial number stays as it was."""
    known = every(connection)
    said = {each.name: (machine(each), known[each.name]) for each in devices if each.name in known}
    kept = {name: merged(before, now) for name, (now, before) in said.items()}
    put(connection, {name: each for name, each in kept.items() if each != known[name]})


def put(connection: Connection, found: Mapping[str, DesignedMachine]) -> None:
    """Keep which machines nodes are from now on."""
    if found:
        fresh = insert(connection, machines)
        row = {name: fresh.excluded[name] for name in ("serial", "uuid", "bmc", "macs")}
        rows = [{"node": name} | _row(each) for name, each in found.items()]
        connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=row), rows)


def _row(found: DesignedMachine) -> dict[str, Any]:
    return {"serial": found.serial, "uuid": found.uuid, "bmc": found.bmc, "macs": sorted(found.macs)}


def _machine(said: Any) -> DesignedMachine:
    serial, uuid, bmc, macs = said
    return DesignedMachine(serial, uuid, bmc, frozenset(macs))
