"""What metrics are made of: rows of the history that are new, counted in the database where that can be done.

Each question reads a bounded stretch of ids, so that what it costs does not grow with the history.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, case, func, select

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.core import journal, results, runs
from fleet_runner.core.lifecycle.metrics import RUN_BOUNDS, Step

STRETCH = 10_000
"""Ids that one question is about; also how many a statement names at most."""


class Watermarks(NamedTuple):
    """The newest ids that are settled: nothing with a lower one comes any more."""

    journal: int
    runs: int
    results: int


class Took(NamedTuple):
    """Ended runs of a stage with one outcome: how many took up to a bound of `RUN_BOUNDS`, and their seconds."""

    stage: str
    outcome: str
    bound: int
    times: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """What came of the runs of a stretch; `still` are the ids of those that are open."""

    took: tuple[Took, ...] = ()
    still: frozenset[int] = field(default_factory=frozenset[int])


class TallyMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def tops(self) -> Watermarks:
        """Return how far each table may be counted now."""
        with self._database.read() as connection:
            return Watermarks(*(_top(connection, table) for table in (journal, runs, results)))

    def nodes_with_results(self, after: int, top: int) -> frozenset[str]:
        """Return the names of those that have results with ids after one, up to `top`."""
        query = select(results.c.node).distinct().where(_within(results.c.id, after, top))
        with self._database.read() as connection:
            return frozenset(connection.scalars(query))

    def steps(self, after: int, top: int) -> tuple[Step, ...]:
        """Return the transitions of the stretch of the history after an id, up to `top`."""
        query = select(journal.c.id, journal.c.node, journal.c.at, journal.c.state, journal.c.event, journal.c.to)
        query = query.where(_within(journal.c.id, after, top), journal.c.kind == "transition")
        with self._database.read() as connection:
            return tuple(Step(*row) for row in connection.execute(query.order_by(journal.c.id)))

    def verdicts(self, after: int, top: int) -> dict[tuple[str, str], int]:
        """Return how many results of a stretch have which verdict, by check and verdict."""
        query = select(results.c.check, results.c.verdict, func.count()).where(_within(results.c.id, after, top))
        with self._database.read() as connection:
            rows = connection.execute(query.group_by(results.c.check, results.c.verdict)).all()
        return {(row[0], row[1]): row[2] for row in rows}

    def stretch(self, after: int, top: int) -> Stretch:
        """Return what came of a stretch of runs."""
        with self._database.read() as connection:
            still = frozenset(_open(connection, _within(runs.c.id, after, top)))
            # One that ends between the two questions is counted with those that were open, not here too.
            ended = (_within(runs.c.id, after, top), runs.c.id.not_in(sorted(still)))
            return Stretch(_took(connection, *ended), still)

    def since_open(self, known: Collection[int]) -> Stretch:
        """Return what came of runs that were open before."""
        with self._database.read() as connection:
            still = frozenset(_open(connection)).intersection(known)
            ended = sorted(set(known) - still)
            pages = (ended[at : at + STRETCH] for at in range(0, len(ended), STRETCH))
            return Stretch(tuple(each for page in pages for each in _took(connection, runs.c.id.in_(page))), still)


def _top(connection: Connection, table: Table) -> int:
    """Return the newest id of a table, once nobody is about to add one below it."""
    top = connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
    database.settle(connection, table)
    return int(top)


def _within(number: ColumnElement[int], after: int, top: int) -> ColumnElement[bool]:
    return (number > after) & (number <= min(after + STRETCH, top))


def _open(connection: Connection, *which: ColumnElement[bool]) -> list[int]:
    return list(connection.execute(select(runs.c.id).where(runs.c.ended_at.is_(None), *which)).scalars())


def _took(connection: Connection, *which: ColumnElement[bool]) -> tuple[Took, ...]:
    seconds: Any = runs.c.ended_at - runs.c.opened_at
    bound = case(*((seconds <= each, at) for at, each in enumerate(RUN_BOUNDS)), else_=len(RUN_BOUNDS))
    query = select(runs.c.stage, runs.c.outcome, bound.label("bound"), func.count(), func.sum(seconds))
    query = query.where(runs.c.ended_at.is_not(None), *which)
    rows = connection.execute(query.group_by(runs.c.stage, runs.c.outcome, bound)).all()
    return tuple(Took(row[0], row[1], row[2], row[3], max(0.0, row[4])) for row in rows)
