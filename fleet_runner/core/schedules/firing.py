"""One moment of a fleet's job, begun by one runner: pure, from a schedule's row as it is to as it becomes.

Whoever holds the row steps it and writes it back before another reads it. All times are by the database's clock.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from fleet_runner.core.schedules.schedule import Missed, Schedule

GRACE = 60.0
"""Seconds after a moment until which it is not missed yet, only late."""

APART = 1.0
"""Seconds that lie between two moments of any schedule, at least."""

WRONG = 86_400.0
"""Seconds that a clock may be set back and nothing comes twice; set back further, it was wrong before."""


class Outcome(StrEnum):
    """How a firing ended."""

    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule as the store knows it.

    `firing` is the moment that the last taking, by `runner`, was for; `token` grows with each. `outcome` is "" while
    it runs, which its runner has the right to until `until`.
    """

    name: str
    plan: str = ""
    due_at: float = 0.0
    asked_at: float | None = None
    token: int = 0
    firing: float | None = None
    began_at: float | None = None
    until: float = 0.0
    runner: str = ""
    ended_at: float | None = None
    outcome: str = ""
    detail: str = ""

    @property
    def is_running(self) -> bool:
        """Whether a runner began it and nobody has seen its end."""
        return self.began_at is not None and self.ended_at is None


def step(row: Row, schedule: Schedule, fleet: str, now: float, *, paused: bool = False) -> tuple[Row, bool]:
    """Return a schedule's row as it becomes now, and whether a firing of it is to begin.

    While one runs the next one waits. One whose runner is silent for its lease is taken up again. Of moments that
    were missed one is caught up with, or none.
    """
    row = _planned(row, schedule, fleet, now)
    if row.is_running:
        return row, now >= row.until and not paused
    if paused:
        return row, False
    if row.asked_at is not None:
        return replace(row, asked_at=None, firing=now), True
    if now < row.due_at:
        return row, False
    ahead = schedule.next(fleet, now)
    newest = schedule.next(fleet, max(now - GRACE, row.due_at - APART / 2))
    if schedule.missed is Missed.SKIP and newest > now:
        return replace(row, due_at=ahead), False
    return replace(row, due_at=ahead, firing=row.due_at), True


def taken(row: Row, runner: str, now: float, lease: float) -> Row:
    """Return a row whose firing a runner begins, or takes up."""
    return replace(
        row, token=row.token + 1, began_at=now, until=now + lease, runner=runner, ended_at=None, outcome="", detail=""
    )


def _planned(row: Row, schedule: Schedule, fleet: str, now: float) -> Row:
    """Work its next moment out where it is new, or planned otherwise, or where a clock was far ahead."""
    ahead = schedule.next(fleet, now)
    if row.plan == schedule.plan and row.due_at <= ahead + WRONG:
        return row
    return replace(row, plan=schedule.plan, due_at=ahead)
