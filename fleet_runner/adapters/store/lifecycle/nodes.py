"""Nodes, and fabrics beside them, with their conditions: reading many in one query, registering thousands at once."""

from collections.abc import Container, Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Double,
    Integer,
    Select,
    bindparam,
    case,
    select,
    update,
)

from fleet_runner.adapters.store.engine.database import insert
from fleet_runner.adapters.store.lifecycle import machines, rows
from fleet_runner.adapters.store.schema.core import LIVE, conditions, nodes
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State

_NODE = ("name", "device_type", "state", "since", "version", "management", "waiting", "wake_at")

PRESSING = -1.0
"""Since when nodes are due that alarms tell of: they come before all others, which are at 0 when woken."""


def every(connection: Connection, *, fabrics: bool = False) -> tuple[Node, ...]:
    """Return every node, by name; or every fabric."""
    mine = nodes.c.device_type.in_(FABRIC_TYPES) if fabrics else nodes.c.device_type.not_in(FABRIC_TYPES)
    return rows.nodes(connection.execute(_with_conditions().where(mine).order_by(nodes.c.name)).all())


def one(connection: Connection, name: str) -> Node | None:
    """Return a node, or a fabric."""
    found = some(connection, [name])
    return found[0] if found else None


def some(connection: Connection, names: Iterable[str]) -> tuple[Node, ...]:
    """Return nodes by their names, in their order; unknown ones are left out."""
    wanted = sorted(set(names))
    chunks = (wanted[start : start + 1000] for start in range(0, len(wanted), 1000))
    return tuple(node for chunk in chunks for node in rows.nodes(connection.execute(_SOME, {"names": chunk}).all()))


def due(connection: Connection, now: float) -> tuple[Node, ...]:
    """Return the nodes and fabrics to look at now, the longest waiting first."""
    return rows.nodes(connection.execute(_DUE, {"now": now}).all())


def waiting_with(connection: Connection, words: str) -> tuple[Node, ...]:
    """Return the nodes and fabrics whose wait ends with some words, the first to be looked at first."""
    wanted = _with_conditions().where(nodes.c.waiting.endswith(words, autoescape=True), LIVE)
    return rows.nodes(connection.execute(wanted.order_by(nodes.c.wake_at, nodes.c.name)).all())


def due_query(now: float | BindParameter[float]) -> Select[Any]:
    """Return the query behind `due`: its cost follows the nodes that are due, not the size of the fleet."""
    wanted = _with_conditions().where(nodes.c.wake_at <= now, LIVE)
    return wanted.order_by(nodes.c.wake_at, nodes.c.name)


def pressing(connection: Connection, limit: int) -> tuple[Node, ...]:
    """Return some nodes that do not wait their turn."""
    return some(connection, connection.execute(_PRESSING, {"limit": limit}).scalars())


def register(
    connection: Connection, devices: Sequence[Device], now: float, unsure: Container[str] = ()
) -> tuple[str, ...]:
    """Add the nodes and fabrics that are missing, bring the others to their record; return the names added."""
    wanted = {device.name: (device.device_type, device.management.value) for device in devices}
    stored = connection.execute(select(nodes.c.name, nodes.c.device_type, nodes.c.management)).all()
    known = {row.name: (row.device_type, row.management) for row in stored}
    added = sorted(wanted.keys() - known.keys())
    changed = sorted(name for name in wanted.keys() & known.keys() if wanted[name] != known[name])
    if added:
        fresh = insert(connection, nodes).on_conflict_do_nothing()
        connection.execute(fresh, [_fresh(name, wanted[name], now) for name in added])
    if changed:
        rows = [{"_name": name, "_type": wanted[name][0], "_management": wanted[name][1]} for name in changed]
        connection.execute(_redescribe(), rows)
    machines.tell(connection, (each for each in devices if each.name not in unsure))
    return tuple(added)


_WAKE = (
    update(nodes)
    .where(nodes.c.name == bindparam("_name"))
    .values(version=nodes.c.version + 1, wake_at=bindparam("_at"))
)


def wake(connection: Connection, names: Iterable[str], at: float = 0.0) -> None:
    """Have the reconciler look at these nodes next; a decision that did not know why no longer applies."""
    rows = [{"_name": name, "_at": at} for name in names]
    if rows:
        connection.execute(_WAKE, rows)


def wake_all(connection: Connection) -> None:
    """Have the reconciler look at every node that waits for a moment; what was decided before no longer applies."""
    at = case((nodes.c.wake_at > 0.0, 0.0), else_=nodes.c.wake_at)
    connection.execute(update(nodes).where(LIVE).values(version=nodes.c.version + 1, wake_at=at))


def existing(connection: Connection, names: Iterable[str]) -> frozenset[str]:
    """Return which of the names are nodes."""
    wanted = sorted(set(names))
    known = select(nodes.c.name).where(nodes.c.name.in_(bindparam("names", expanding=True)))
    chunks = (wanted[start : start + 1000] for start in range(0, len(wanted), 1000))
    return frozenset(name for chunk in chunks for name in connection.execute(known, {"names": chunk}).scalars())


def _with_conditions() -> Select[Any]:
    """Return the query for what `rows.nodes` makes a node of, in that order."""
    node = [nodes.c[name] for name in _NODE]
    held = [conditions.c[name] for name in ("condition", "since", "reason", "by", "detail")]
    return select(*node, *held).join_from(nodes, conditions, conditions.c.node == nodes.c.name, isouter=True)


_SOME = _with_conditions().where(nodes.c.name.in_(bindparam("names", expanding=True))).order_by(nodes.c.name)
_DUE = due_query(bindparam("now", type_=Double))
_PRESSING = (
    select(nodes.c.name)
    .where(nodes.c.wake_at <= PRESSING, LIVE)
    .order_by(nodes.c.wake_at, nodes.c.name)
    .limit(bindparam("limit", type_=Integer))
)


def _fresh(name: str, described: tuple[str, str], now: float) -> dict[str, Any]:
    return {
        "name": name,
        "device_type": described[0],
        "management": described[1],
        "state": (State.WATCHED if described[0] in FABRIC_TYPES else State.REGISTERED).value,
        "since": now,
        "version": 1,
        "fence": 0,
        "waiting": "",
        "wake_at": 0.0,
    }


def _redescribe() -> Any:
    return (
        update(nodes)
        .where(nodes.c.name == bindparam("_name"))
        .values(
            device_type=bindparam("_type"),
            management=bindparam("_management"),
            version=nodes.c.version + 1,
            wake_at=0.0,
        )
    )
