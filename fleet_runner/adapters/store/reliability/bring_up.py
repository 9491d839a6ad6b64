"""What the way of nodes into production is told from: their transitions, and the runs of that time."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, func, null, or_, select, union_all

from fleet_runner.adapters.store.boot.boots import chunked
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.reliability.report import holds, told
from fleet_runner.adapters.store.schema.core import journal, runs
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.stages import BY_HAND
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.core.reliability.bring_up.figures import Ways, concerned, ways
from fleet_runner.core.reliability.bring_up.way import Try
from fleet_runner.core.reliability.report.figures import Kept, kept
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import Story

MOST = 10_000
"""Bring-ups that are told of: those that began last."""


class BringUpMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def bring_ups(self, span: Span, now: float, stories: Iterable[Story] | None = None, *, most: int = MOST) -> Ways:
        """Return the ways that ended in a span, or go on at its end; `stories` are those of all nodes, if known.

        Where they are not, those of nodes are read whose Day 0 began in the span, of the `most` that began last.
        """
        end = min(span.until, now)
        with self._database.one_moment(), self._database.read() as connection:
            begun = _begun(connection, span, end, most) if stories is None else stories
            wanted = concerned(begun, span, now)
            last = sorted(wanted, key=lambda node: -wanted[node][0].stays[0].begins)[:most]
            wanted = {node: wanted[node] for node in last}
            tries, held = dict[str, list[Try]](), list[Kept]()
            for piece in chunked(wanted):
                since = min(wanted[name][0].stays[0].begins for name in piece)
                tries |= _tries(connection, piece, since, end)
                lasted = Span(since, end)
                held += kept(holds(connection, lasted, piece), lasted)
            return ways(wanted, tries, held, end)


def _begun(connection: Connection, span: Span, end: float, most: int) -> Iterable[Story]:
    """Tell the stories of nodes whose Day 0 began in a span, of those that began last."""
    started = select(journal.c.node).where(
        journal.c.event == Event.START.value, journal.c.at >= span.since, journal.c.at < end
    )
    started = started.group_by(journal.c.node).order_by(func.max(journal.c.at).desc(), journal.c.node).limit(most)
    for piece in chunked(connection.execute(started).scalars()):
        yield from told(connection, end, piece)


def _tries(connection: Connection, names: Sequence[str], since: float, end: float) -> dict[str, list[Try]]:
    """Return the runs of nodes; of looks at tests that go on, one after the other in the same stay, the first."""
    told_of = (runs.c.ended_at, runs.c.outcome, runs.c.play_ended_at, runs.c.id)
    mine = runs.c.node.in_(names), runs.c.opened_at >= since, runs.c.opened_at < end, runs.c.fence > BY_HAND
    ran = select(runs.c.node, runs.c.opened_at, *told_of).where(*mine)
    none = (null().label(column.name) for column in told_of)
    moved = select(journal.c.node, journal.c.at.label("opened_at"), *none).where(
        journal.c.node.in_(names), journal.c.kind == "transition", journal.c.at >= since, journal.c.at < end
    )
    both = union_all(ran, moved).subquery()
    ordered = (both.c.opened_at, both.c.id.is_not(None), both.c.id)  # a move is before the run that follows it
    before = func.lag(both.c.outcome).over(partition_by=both.c.node, order_by=ordered)
    every = select(both, before.label("before")).subquery()
    working = Outcome.WORKING.value
    first = or_(every.c.outcome.is_distinct_from(working), every.c.before.is_distinct_from(working))
    query = select(every).where(every.c.id.is_not(None), first)
    query = query.order_by(every.c.node, every.c.opened_at, every.c.id)
    rows = groupby(connection.execute(query), key=lambda row: row.node)
    return {node: [_try(row) for row in each] for node, each in rows}


def _try(row: Row[Any]) -> Try:
    outcome = None if row.outcome is None else Outcome(row.outcome)
    return Try(row.opened_at, row.ended_at, outcome, row.play_ended_at)
