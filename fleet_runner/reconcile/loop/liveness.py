"""Liveness of the loop: when it last moved, and what fails. The loop writes, any thread may read."""

import time
from collections.abc import Callable

from fleet_runner.core.schedules.health import Alive, bound

JUMP = 5.0
"""Seconds that the time of day may be set by at once and nobody need be told."""


def since_boot() -> float:
    """Return seconds of a clock that nobody sets, and that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Steady:
    """The time of day beside a clock that nobody sets."""

    def __init__(self, day: Callable[[], float] = time.time, steady: Callable[[], float] = since_boot) -> None:
        self._day, self._steady = day, steady
        self._apart = day() - steady()

    def jumped(self) -> float:
        """Return by how many seconds the time of day was set since this was last asked; 0.0 for next to nothing."""
        apart = self._day() - self._steady()
        by, self._apart = apart - self._apart, apart
        return by if abs(by) >= JUMP else 0.0


class LastHeard:
    """When the other runners last heard of this one."""

    def __init__(self, steady: Callable[[], float] = since_boot) -> None:
        self._steady = steady
        self._at = steady()

    def again(self, at: float) -> float:
        """They heard of it, at the latest at a moment of the steady clock; return how long it was silent."""
        silent, self._at = at - self._at, at
        return silent

    def silent(self) -> float:
        """Return since how many seconds they have heard nothing."""
        return max(0.0, self._steady() - self._at)


class Heartbeat:
    """One loop's signs of life. `clock` never jumps, whatever happens to the time of day."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._moved_at = clock()
        self.rounds = 0
        self.longest = 0.0
        self.trouble = ""
        self.source_trouble = ""

    def move(self) -> None:
        """The loop took a step."""
        self._moved_at = self._clock()

    def worked(self, seconds: float) -> bool:
        """A round did its work; return whether the one before could not."""
        self.rounds += 1
        self.longest = max(self.longest, seconds)
        over, self.trouble = bool(self.trouble), ""
        self.move()
        return over

    def failed(self, trouble: str) -> bool:
        """A round could not do its work; return whether that is news."""
        news, self.trouble = trouble != self.trouble, trouble
        self.move()
        return news

    def source_failed(self, trouble: str) -> bool:
        """The source of truth could not be read; return whether that is news."""
        news, self.source_trouble = trouble != self.source_trouble, trouble
        return news

    def alive(self, tick_seconds: float) -> Alive:
        """Say how long ago it moved, and how long that may be."""
        return Alive(max(0.0, self._clock() - self._moved_at), bound(tick_seconds, self.longest))
