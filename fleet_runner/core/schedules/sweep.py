"""When a node's turn comes in a sweep of the fleet: at its own moment, and not with all others after an outage."""

import math
from dataclasses import dataclass

from fleet_runner.core.schedules.schedule import Missed, Schedule

CATCHING_UP = 600.0
"""Seconds, at most, over which the nodes are spread of which a moment was missed, or that somebody wants swept."""


@dataclass(frozen=True, slots=True)
class SweepHistory:
    """What happened to a schedule lately.

    Since when runners have been there without a gap, when somebody asked for it, and who paused it and why, "" where
    nobody did.
    """

    awake_since: float = 0.0
    asked_at: float = 0.0
    paused: str = ""


AWAKE = SweepHistory()


@dataclass(frozen=True, slots=True)
class Sweep:
    """A schedule that each node keeps for itself, and how it stands."""

    schedule: Schedule
    standing: SweepHistory = AWAKE

    @property
    def pause(self) -> float:
        """Return the shortest time between two looks at a node."""
        return self.schedule.times.pause

    @property
    def is_off(self) -> bool:
        """Whether nothing is begun by it now: it never comes, or is paused."""
        return self.schedule.is_off or bool(self.standing.paused)

    def due(self, node: str, ended: float, now: float) -> float:
        """Return when a node's turn comes whose last one ended at `ended`: in the past where it is late.

        A turn that ended in what is now far in the future was told by a clock that was wrong.
        """
        if self.is_off:
            return math.inf
        if ended > now + self.pause:
            ended = now - self.pause
        at = self.schedule.next(node, ended)
        if self.standing.asked_at > ended:
            at = min(at, self.standing.asked_at + self._soon(node))
        since = self.standing.awake_since
        if at >= since:
            return at
        own = self.schedule.next(node, since)
        return own if self.schedule.missed is Missed.SKIP else min(own, since + self._soon(node))

    def _soon(self, node: str) -> float:
        return self.schedule.spread(node, min(self.pause, CATCHING_UP))
