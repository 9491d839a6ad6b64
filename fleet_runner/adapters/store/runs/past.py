"""Runs that are over, the newest first, a page at a time."""

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.runs.rows import run as from_row
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import Stage

WINDOW = 50_000
"""Runs that one page looks through at most: what is rare is not looked for in years of sweeps at once."""


@dataclass(frozen=True, slots=True)
class SoughtRuns:
    """Which runs are meant; what is empty narrows nothing."""

    node: str = ""
    stage: Stage | None = None
    outcome: Outcome | None = None


class PastRuns(NamedTuple):
    """Runs that are over, newest first; older ones have an id below `older`, None where there are none."""

    runs: tuple[Run, ...]
    older: int | None


class PastRunMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def past_runs(self, sought: SoughtRuns, *, below: int | None = None, limit: int = 200) -> PastRuns:
        """Return the newest `limit` runs that are over, of those with an id below `below`."""
        with self._database.read() as connection:
            return found(connection, sought, below, limit)


def found(connection: Connection, sought: SoughtRuns, below: int | None, limit: int) -> PastRuns:
    """Walk the ids backwards; those of a node are all looked at, for there are few."""
    end = below or int(connection.execute(select(func.max(runs.c.id))).scalar_one() or 0) + 1
    asked = select(runs).where(runs.c.id < end, runs.c.ended_at.is_not(None)).order_by(runs.c.id.desc())
    begin = 1
    if sought.node:
        asked = asked.where(runs.c.node == sought.node)
    else:
        begin = max(1, end - WINDOW)
        asked = asked.where(runs.c.id >= begin)
    if sought.stage is not None:
        asked = asked.where(runs.c.stage == sought.stage.value)
    if sought.outcome is not None:
        asked = asked.where(runs.c.outcome == sought.outcome.value)
    rows = connection.execute(asked.limit(limit + 1)).all()
    kept = tuple(from_row(row) for row in rows[:limit])
    if len(rows) > limit:
        return PastRuns(kept, kept[-1].id)
    return PastRuns(kept, begin if begin > 1 else None)
