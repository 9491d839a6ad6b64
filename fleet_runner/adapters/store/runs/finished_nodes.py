"""Which nodes of a batch are through, while others of it still run, and what came of those whose runs are closed."""

from sqlalchemy import select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.core.lifecycle.runs import Outcome


class ThroughMethods:
    """What the store knows of batches that are not over."""

    _database: Database

    def through(self, batch: str) -> frozenset[int]:
        """Return the batch's open runs for whose nodes the play said that it is over."""
        query = select(runs.c.id).where(runs.c.batch == batch, runs.c.ended_at.is_(None))
        query = query.where(runs.c.play_end.is_not(None))
        with self._database.read() as connection:
            return frozenset(connection.execute(query).scalars())

    def outcomes(self, batch: str) -> frozenset[Outcome]:
        """Return what came of a batch's runs that have ended."""
        query = select(runs.c.outcome).where(runs.c.batch == batch, runs.c.outcome.is_not(None)).distinct()
        with self._database.read() as connection:
            return frozenset(map(Outcome, connection.execute(query).scalars()))
