"""Nodes, and fabrics beside them, with their conditions: reading many in one query, registering thousands at once."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, select, update

from fleet_runner.adapters.store.database import insert
from fleet_runner.adapters.store.schema import LIVE, conditions, nodes
from fleet_runner.core.fabrics import FABRIC
from fleet_runner.core.lifecycle import Condition, State
from fleet_runner.core.records import Device, Management
from fleet_runner.core.runs import Held, Node


def every(connection: Connection, *, fabrics: bool = False) -> tuple[Node, ...]:
    """Return every node, by name; or every fabric."""
    mine = nodes.c.device_type == FABRIC if fabrics else nodes.c.device_type != FABRIC
    return _collect(connection.execute(_with_conditions().where(mine).order_by(nodes.c.name)).all())


def one(connection: Connection, name: str) -> Node | None:
    """Return a node, or a fabric."""
    found = _collect(connection.execute(_with_conditions().where(nodes.c.name == name)).all())
    return found[0] if found else None


def some(connection: Connection, names: Iterable[str]) -> tuple[Node, ...]:
    """Return nodes by their names, in their order; unknown ones are left out."""
    wanted = sorted(set(names))
    mine = _with_conditions().where(nodes.c.name.in_(bindparam("names", expanding=True))).order_by(nodes.c.name)
    chunks = (wanted[start : start + 1000] for start in range(0, len(wanted), 1000))
    return tuple(node for chunk in chunks for node in _collect(connection.execute(mine, {"names": chunk}).all()))


def due(connection: Connection, now: float) -> tuple[Node, ...]:
    """Return the nodes and fabrics to look at now, the longest waiting first."""
    return _collect(connection.execute(due_query(now)).all())


def due_query(now: float) -> Select[Any]:
    """Return the query behind `due`: its cost follows the nodes that are due, not the size of the fleet."""
    wanted = _with_conditions().where(nodes.c.wake_at <= now, LIVE)
    return wanted.order_by(nodes.c.wake_at, nodes.c.name)


def register(connection: Connection, devices: Iterable[Device], now: float) -> tuple[str, ...]:
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
    return tuple(added)


def wake(connection: Connection, names: Iterable[str]) -> None:
    """Have the reconciler look at these nodes next; a decision that did not know why no longer applies."""
    rows = [{"_name": name} for name in names]
    if rows:
        woken = update(nodes).where(nodes.c.name == bindparam("_name"))
        connection.execute(woken.values(version=nodes.c.version + 1, wake_at=0.0), rows)


def existing(connection: Connection, names: Iterable[str]) -> frozenset[str]:
    """Return which of the names are nodes."""
    wanted = sorted(set(names))
    known = select(nodes.c.name).where(nodes.c.name.in_(bindparam("names", expanding=True)))
    chunks = (wanted[start : start + 1000] for start in range(0, len(wanted), 1000))
    return frozenset(name for chunk in chunks for name in connection.execute(known, {"names": chunk}).scalars())


def _with_conditions() -> Select[Any]:
    held = [conditions.c.condition, conditions.c.reason, conditions.c.by, conditions.c.detail]
    columns: list[ColumnElement[Any]] = [*nodes.c, *held, conditions.c.since.label("held_since")]
    return select(*columns).join_from(nodes, conditions, conditions.c.node == nodes.c.name, isouter=True)


def _collect(rows: Iterable[Row[Any]]) -> tuple[Node, ...]:
    return tuple(_node(list(group)) for _, group in groupby(rows, key=lambda row: row.name))


def _node(rows: list[Row[Any]]) -> Node:
    row = rows[0]
    return Node(
        name=row.name,
        device_type=row.device_type,
        state=State(row.state),
        since=row.since,
        version=row.version,
        management=Management(row.management),
        conditions={
            Condition(held.condition): Held(held.held_since, held.reason, held.by, held.detail)
            for held in rows
            if held.condition is not None
        },
        waiting=row.waiting,
        wake_at=row.wake_at,
    )


def _fresh(name: str, described: tuple[str, str], now: float) -> dict[str, Any]:
    return {
        "name": name,
        "device_type": described[0],
        "management": described[1],
        "state": (State.WATCHED if described[0] == FABRIC else State.REGISTERED).value,
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
