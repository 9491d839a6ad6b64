"""The history of a node: one journal that every change adds its sentence to, in the same transaction."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select

from fleet_runner.adapters.store.schema.core import STARTED, journal
from fleet_runner.core.lifecycle.runs import RUNNER, Entry
from fleet_runner.core.lifecycle.states import REMEDIED, SERVING, Event, State


def add(connection: Connection, entries: Iterable[Entry]) -> None:
    """Append entries; their ids are given here, whatever they carry."""
    rows = [
        {
            "node": entry.node,
            "at": entry.at,
            "kind": entry.kind,
            "sentence": entry.sentence,
            "by": entry.by,
            "state": entry.state,
            "event": entry.event,
            "to": entry.to,
            "results": list(entry.results),
            "run": entry.run,
        }
        for entry in entries
    ]
    if rows:
        connection.execute(insert(journal), rows)


def of_node(connection: Connection, node: str, limit: int, kind: str | None = None) -> tuple[Entry, ...]:
    """Return the newest entries of a node, all or those of a kind, oldest first."""
    mine = (journal.c.node == node, journal.c.kind == kind) if kind else (journal.c.node == node,)
    newest = select(journal).where(*mine).order_by(journal.c.at.desc(), journal.c.id.desc())
    return tuple(entry(row) for row in reversed(connection.execute(newest.limit(limit)).all()))


def after(
    connection: Connection, node: str, span: tuple[int, int], kinds: Collection[str], limit: int
) -> tuple[Entry, ...]:
    """Return the entries of a node after one line up to another, of some kinds, in the order of their lines."""
    mine = (
        journal.c.node == node,
        journal.c.kind.in_(sorted(kinds)),
        journal.c.id > span[0],
        journal.c.id <= span[1],
    )
    query = select(journal).where(*mine).order_by(journal.c.id).limit(limit)
    return tuple(entry(row) for row in connection.execute(query).all())


def moves(connection: Connection, names: Iterable[str], since: float) -> tuple[Entry, ...]:
    """Return the transitions of some nodes since a moment, oldest first."""
    wanted = journal.c.node.in_(bindparam("names", expanding=True))
    query = select(journal).where(wanted, journal.c.kind == "transition", journal.c.at >= since)
    found = connection.execute(query.order_by(journal.c.at, journal.c.id), {"names": sorted(set(names))}).all()
    return tuple(entry(row) for row in found)


def triaged(connection: Connection, since: float) -> dict[str, float]:
    """Return when nodes left service for triage since a moment, straight or by way of a remedy that did not help."""
    states = [state.value for state in SERVING | REMEDIED]
    moved = (journal.c.kind == "transition", journal.c.to == State.TRIAGE.value, journal.c.state.in_(states))
    newest = select(journal.c.node, func.max(journal.c.at)).where(*moved, journal.c.at >= since)
    return {node: float(at) for node, at in connection.execute(newest.group_by(journal.c.node)).all()}


def begun(connection: Connection, since: float) -> int:
    """Return how many nodes the runner has begun Day 0 of since a moment."""
    mine = (STARTED, journal.c.by == RUNNER, journal.c.at >= since)
    return int(connection.execute(select(func.count()).select_from(journal).where(*mine)).scalar_one())


_LEFT = (
    select(journal.c.node, func.max(journal.c.at))
    .where(
        journal.c.at >= bindparam("since"),
        journal.c.state.in_(bindparam("states", expanding=True)),
        journal.c.node.in_(bindparam("names", expanding=True)),
    )
    .group_by(journal.c.node)
)


def left(connection: Connection, names: Iterable[str], states: Iterable[State], since: float) -> dict[str, float]:
    """Return when each of some nodes last left any of some states, if it did since a moment."""
    given = {"states": [state.value for state in states], "since": since}
    wanted = sorted(set(names))
    chunks = (wanted[start : start + 500] for start in range(0, len(wanted), 500))
    found = (row for chunk in chunks for row in connection.execute(_LEFT, given | {"names": chunk}))
    return {node: float(at) for node, at in found}


def entry(row: Row[Any]) -> Entry:
    """Return a line as a value."""
    return Entry(
        id=row.id,
        node=row.node,
        at=row.at,
        kind=row.kind,
        sentence=row.sentence,
        by=row.by,
        state=State(row.state) if row.state is not None else None,
        event=Event(row.event) if row.event is not None else None,
        to=State(row.to) if row.to is not None else None,
        results=tuple(row.results),
        run=row.run,
    )
