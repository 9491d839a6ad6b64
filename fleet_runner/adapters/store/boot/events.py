"""What happened at the boot service, line by line: each step of a boot once, repeated refusals counted."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, delete, func, insert, or_, select

from fleet_runner.adapters.store.schema.core import STEPS, boot_events, boots
from fleet_runner.core.boot.boots import BootEvent
from fleet_runner.core.lifecycle.runs import Entry

KEPT = 500
"""Newest lines that are kept of a node, and of those that are nobody's."""

COLUMNS = (
    boot_events.c.id,
    boot_events.c.node,
    boot_events.c.boot,
    boot_events.c.at,
    boot_events.c.kind,
    boot_events.c.sentence,
    boot_events.c.source,
    boot_events.c.times,
    boot_events.c.code,
    boot_events.c.last_at,
)
"""In the order of BootEvent's fields."""

Line = dict[str, Any]
"""A row of the table."""


class News(NamedTuple):
    """A line that was not there, and what the node's history says of it, if anything."""

    line: Line
    entry: Entry | None = None


def row(  # noqa: PLR0913  a line has this many parts
    node: str, boot: int | None, at: float, kind: str, sentence: str, *, source: str = "", code: str = ""
) -> Line:
    """Return a line as a row; what it is made of must be bounded."""
    return {
        "node": node,
        "boot": boot,
        "at": at,
        "last_at": at,
        "kind": kind,
        "code": code,
        "sentence": sentence,
        "source": source,
        "times": 1,
    }


def add(connection: Connection, rows: list[Line]) -> None:
    """Append lines."""
    if rows:
        connection.execute(insert(boot_events), rows)


def prune(connection: Connection, names: Iterable[str]) -> None:
    """Drop the oldest lines of nodes that have too many; the steps of an open boot stay."""
    rows = [{"_node": name} for name in sorted(set(names))]
    if not rows:
        return
    mine = boot_events.c.node == bindparam("_node")
    last = select(boot_events.c.id).where(mine).order_by(boot_events.c.id.desc()).offset(KEPT).limit(1)
    opened = select(boots.c.id).where(boots.c.node == bindparam("_node"), boots.c.closed_at.is_(None))
    done = or_(boot_events.c.kind == "refused", boot_events.c.boot.not_in(opened))
    connection.execute(delete(boot_events).where(and_(mine, boot_events.c.id <= last.scalar_subquery(), done)), rows)


def told(connection: Connection, node: str | None, limit: int) -> tuple[BootEvent, ...]:
    """Return the newest lines, all or those of a node, oldest first."""
    newest = select(*COLUMNS).order_by(boot_events.c.id.desc()).limit(limit)
    mine = newest if node is None else newest.where(boot_events.c.node == node)
    return tuple(BootEvent(*each) for each in reversed(connection.execute(mine).all()))


def steps(connection: Connection, wanted: ColumnElement[bool]) -> Sequence[Row[Any, Any, Any, Any]]:
    """Return boot, kind, moment and source of the steps of some boots, told by a condition on them."""
    query = select(boot_events.c.boot, boot_events.c.kind, boot_events.c.at, boot_events.c.source)
    return connection.execute(query.where(boot_events.c.boot.in_(select(boots.c.id).where(wanted)), STEPS)).all()


def steps_after(connection: Connection, line: int) -> tuple[tuple[int, int, str], ...]:
    """Return the id, the boot and the kind of every step after a line, in their order."""
    query = select(boot_events.c.id, boot_events.c.boot, boot_events.c.kind)
    mine = query.where(boot_events.c.id > line, STEPS).order_by(boot_events.c.id)
    return tuple((number, boot, kind) for number, boot, kind in connection.execute(mine).all())


def last(connection: Connection) -> int:
    """Return the id of the newest line; 0 while there is none."""
    return connection.execute(select(func.max(boot_events.c.id))).scalar_one() or 0


def taken(connection: Connection, numbers: list[int]) -> set[tuple[int, str]]:
    """Return which steps some boots have taken."""
    return {(boot, kind) for boot, kind in connection.execute(_TAKEN, {"numbers": numbers}).all()}


_TAKEN = select(boot_events.c.boot, boot_events.c.kind).where(
    boot_events.c.boot.in_(bindparam("numbers", expanding=True)), STEPS
)
