"""Runs that have ended, for whoever tells of each of them."""

from collections.abc import Iterable

from sqlalchemy import select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.reliability.metrics import STRETCH
from fleet_runner.adapters.store.runs.rows import run as from_row
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.core.lifecycle.runs import Run


class TraceMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def ended_runs(self, after: int, top: int, *, since: float = 0.0) -> tuple[Run, ...]:
        """Return the runs with an id after one, and up to another, that ended since a moment, by id."""
        query = select(runs).where(runs.c.id > after, runs.c.id <= top, runs.c.ended_at > since)
        with self._database.read() as connection:
            return tuple(map(from_row, connection.execute(query.order_by(runs.c.id).limit(STRETCH))))

    def ended_among(self, ids: Iterable[int]) -> tuple[Run, ...]:
        """Return those of some runs that have ended, by id."""
        wanted = sorted(ids)[:STRETCH]
        query = select(runs).where(runs.c.id.in_(wanted), runs.c.ended_at.is_not(None))
        with self._database.read() as connection:
            return tuple(map(from_row, connection.execute(query.order_by(runs.c.id)))) if wanted else ()
