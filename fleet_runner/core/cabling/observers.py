"""Through what a fabric is read: InfiniBand through any node with a port in it, others from all switches or trays."""

from collections.abc import Iterable, Mapping

from fleet_runner.core.cabling.exempt import WORKED_ON
from fleet_runner.core.cabling.fabrics import ETHERNET, NVLINK, Fabric
from fleet_runner.core.inventory.records import Fleet, Termination
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import FABRICS, Condition, State

MOST = 3
"""Observers of a sweep: where the first does not answer, the next one is asked."""

DARK = FABRICS | {State.REGISTERED, State.PROVISION, State.RMA, State.RETIRED}
"""States in which a node is not there, or not up."""


def observers(fabric: Fabric, fleet: Fleet, rows: Mapping[str, Node]) -> tuple[Termination, ...]:
    """Return the ports to read a fabric through, at most `MOST`: idle nodes in service first, of different racks.

    Of an Ethernet fabric these are all switches that can be asked, of an NVLink domain all compute trays that are up,
    each without a port.
    """
    if fabric.kind == ETHERNET:
        return tuple(Termination(name, "") for name in sorted(fabric.asked))
    up = {
        port.device
        for port in fabric.ports
        if (row := rows.get(port.device)) is not None and row.state not in DARK and port.device in fleet.devices
    }
    if fabric.kind == NVLINK:
        return tuple(port for port in fabric.ports if port.device in up)
    first: dict[str, Termination] = {}
    for port in fabric.ports:
        if port.device in up:
            first.setdefault(port.device, port)
    best = sorted(first.values(), key=lambda port: (_reluctance(rows[port.device]), port))
    return tuple(_spread(best, {port.device: fleet.devices[port.device].rack for port in best})[:MOST])


def _reluctance(row: Node) -> int:
    """Return 0 for an idle node in service, 1 for a busy one, 2 for one that is up and no more."""
    if row.state is not State.PRODUCTION or not WORKED_ON.keys().isdisjoint(row.conditions):
        return 2
    return int(Condition.IN_USE in row.conditions)


def _spread(ports: Iterable[Termination], racks: Mapping[str, str | None]) -> list[Termination]:
    """Put the first port of each rack before its others, and leave their order otherwise."""
    heads: dict[str | None, Termination] = {}
    others = [port for port in ports if heads.setdefault(racks[port.device], port) is not port]
    return [*heads.values(), *others]
