"""Alarms: one standing row per node, code, component and whether it is authenticated.

What raises or clears one wakes its node and is history.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.faults import rows
from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.schema.core import nodes as node_rows
from fleet_runner.adapters.store.schema.remedies import STANDING, alarms
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.alarm import UNPROVEN, Alarm
from fleet_runner.core.lifecycle.runs import Entry

KIND = "alarm"
"""The kind of its entries in the history."""

BY = "signals"
"""Who raises and clears them, in the history."""

CHUNK = 500

Key = tuple[str, str, str, bool]


@dataclass(frozen=True, slots=True)
class Known:
    """A node as those need it who judge signals: its type, since when it is in its state, what stands of it."""

    name: str
    device_type: str
    since: float
    standing: tuple[Alarm, ...]


_OF_NODE = select(alarms).where(STANDING, alarms.c.node == bindparam("node")).order_by(alarms.c.id)
_OF_NODES = (
    select(alarms).where(STANDING, alarms.c.node.in_(bindparam("names", expanding=True))).order_by(alarms.c.id)
)


def of(connection: Connection, node: str) -> tuple[Alarm, ...]:
    """Return what stands of a node, oldest first."""
    return tuple(map(rows.alarm, connection.execute(_OF_NODE, {"node": node}).mappings()))


def standing(connection: Connection, since: float | None) -> tuple[Alarm, ...]:
    """Return what stands of all nodes, oldest first; and what was cleared since a moment, if one is given."""
    counted = STANDING if since is None else or_(STANDING, alarms.c.cleared_at >= since)
    mine = select(alarms).where(counted)
    return tuple(map(rows.alarm, connection.execute(mine.order_by(alarms.c.id)).mappings()))


def types(connection: Connection) -> dict[str, str]:
    """Return the device type of every node, by name: fabrics have no alarms."""
    mine = select(node_rows.c.name, node_rows.c.device_type).where(node_rows.c.device_type.not_in(FABRIC_TYPES))
    return {row.name: row.device_type for row in connection.execute(mine).all()}


def past(connection: Connection, node: str | None, limit: int) -> tuple[Alarm, ...]:
    """Return the newest alarms, all or a node's, standing and cleared, oldest first."""
    newest = select(alarms).order_by(alarms.c.id.desc()).limit(limit)
    mine = newest.where(alarms.c.node == node) if node is not None else newest
    return tuple(map(rows.alarm, reversed(connection.execute(mine).mappings().all())))


_HELD = (
    select(node_rows.c.name, node_rows.c.device_type, node_rows.c.since)
    .where(node_rows.c.name.in_(bindparam("names", expanding=True)))
    .order_by(node_rows.c.name)
    .with_for_update()
)


def held(connection: Connection, names: Collection[str]) -> tuple[Known, ...]:
    """Return nodes with what stands of them, and keep everybody else from changing either until it is written.

    Whoever changes a node takes its row first, and its alarms then: so nobody waits for each other in a circle.
    """
    known = [row for chunk in _chunks(names) for row in connection.execute(_HELD, {"names": chunk})]
    stands: dict[str, list[Alarm]] = {row.name: [] for row in known}
    for alarm in _read(connection, stands):
        stands[alarm.node].append(alarm)
    return tuple(Known(row.name, row.device_type, row.since, tuple(stands[row.name])) for row in known)


def keep(connection: Connection, known: Iterable[Known], changed: Iterable[Alarm], now: float) -> frozenset[str]:
    """Write alarms of nodes that are held as they are now, in the order given.

    Returns the nodes for which something was decided anew. What was cleared meanwhile begins anew; what never counted
    clears in silence.
    """
    rows: dict[Key, Alarm] = {key(alarm): alarm for each in known for alarm in each.standing}
    entries: list[Entry] = []
    woken: set[str] = set()
    old: dict[int, Alarm] = {}
    new: dict[int, Alarm] = {}
    for alarm in map(_bounded, changed):
        before = rows.pop(key(alarm), None)
        if before is None and alarm.cleared_at is not None and alarm.raised_at is None:
            continue
        after = replace(alarm, id=before.id if before is not None else -1 - len(new))  # below 0: not stored yet
        if after != before:
            (old if after.id > 0 else new)[after.id] = after
        if after.cleared_at is None:
            rows[key(after)] = after
        said = _news(before, after, now)
        entries += said
        if said or _decides(before) != _decides(after):
            woken.add(alarm.node)
    _write(connection, old.values())  # first: what is cleared makes room for what begins anew
    if new:
        connection.execute(insert(alarms), [_row(alarm) for alarm in new.values()])
    nodes.wake(connection, sorted(woken), nodes.PRESSING)
    history.add(connection, entries)
    return frozenset(woken)


def clear(connection: Connection, alarm: int, because: str, now: float) -> list[Entry]:
    """Clear an alarm; return what the history says of it, nothing where it had been cleared or never counted."""
    mine = update(alarms).where(alarms.c.id == alarm, STANDING)
    cleared = mine.values(cleared_at=now, cleared_because=because).returning(*alarms.c)
    row = connection.execute(cleared).mappings().one_or_none()
    return _news(None, rows.alarm(row), now) if row is not None else []


def _write(connection: Connection, changed: Iterable[Alarm]) -> None:
    """Write alarms over their rows."""
    rows = [{"_id": alarm.id, **_row(alarm)} for alarm in changed]
    if rows:
        values: dict[str, Any] = {name: bindparam(name) for name in rows[0] if name != "_id"}
        connection.execute(update(alarms).where(alarms.c.id == bindparam("_id")).values(values), rows)


def _news(before: Alarm | None, after: Alarm, now: float) -> list[Entry]:
    """Return the sentences of an alarm that is raised, or cleared, and was not before; counts are no news."""
    found: list[Entry] = []
    about = f"{after.code} of {after.component}" if after.component else after.code
    if after.raised_at is None:
        return found
    if (before is None or before.raised_at is None) and after.cleared_at is None:
        unproven = "" if after.authenticated else f" ({UNPROVEN})"
        said = f"Alarm {about}: {after.message}{unproven}"
        found.append(Entry(0, after.node, now, KIND, said, f"{BY}:{after.source}"))
    if after.cleared_at is not None:
        said = f"Alarm {about} is cleared: {after.cleared_because}"
        found.append(Entry(0, after.node, now, KIND, said, BY))
    return found


def _decides(alarm: Alarm | None) -> tuple[Remedy, bool] | None:
    """Return of an alarm what is decided by, None where it does not count."""
    if alarm is None or alarm.raised_at is None or alarm.cleared_at is not None:
        return None
    return alarm.remedy, alarm.at_once


def _read(connection: Connection, names: Collection[str]) -> tuple[Alarm, ...]:
    found = (row for chunk in _chunks(names) for row in connection.execute(_OF_NODES, {"names": chunk}).mappings())
    return tuple(map(rows.alarm, found))


def _chunks(names: Collection[str]) -> Iterable[list[str]]:
    wanted = sorted(set(names))
    return (wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK))


def key(alarm: Alarm) -> Key:
    """Return what tells an alarm apart from all others that stand."""
    return alarm.node, alarm.code, alarm.component, alarm.authenticated


def _bounded(alarm: Alarm) -> Alarm:
    """Bound what somebody pushed."""
    return replace(
        alarm,
        code=bounds.key(alarm.code),
        component=bounds.key(alarm.component),
        fault=bounds.key(alarm.fault),
        message=bounds.words(alarm.message),
        count=bounds.count(alarm.count),
    )


def _row(alarm: Alarm) -> dict[str, Any]:
    row = {field.name: getattr(alarm, field.name) for field in fields(alarm) if field.name != "id"}
    return row | {"source": alarm.source.value, "remedy": alarm.remedy.value}
