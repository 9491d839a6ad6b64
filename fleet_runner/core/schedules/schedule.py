"""A schedule: its moments, how they are spread, and the rule for those that were missed."""

import math
from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

from fleet_runner.core.schedules.times import Never, Times, read, span

LONGEST_SPREAD = 14_400.0
"""Seconds over which a sweep of the nodes is spread unless its settings say otherwise; a shorter pause, if it has."""

_ALL = 2**32
_EXACT = 1024
"""Parts of a second that add to any time of this age without rounding: a moment is never its own next one."""


class Missed(StrEnum):
    """What becomes of moments at which nobody was there."""

    CATCH_UP = "catch up"  # one of them is made up for, once
    SKIP = "skip"  # the next one is waited for


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule. `text` is what its settings say; `jitter` the seconds over which its moments are spread."""

    name: str
    text: str
    times: Times
    zone: str = "UTC"
    jitter: float = 0.0
    missed: Missed = Missed.CATCH_UP

    @property
    def plan(self) -> str:
        """Return all that its moments follow from: where that changes, they are worked out anew."""
        return f"{self.text} ({self.zone}), spread over {self.jitter:g} s"

    @property
    def is_off(self) -> bool:
        """Whether it never comes."""
        return isinstance(self.times, Never)

    def next(self, key: str, after: float) -> float:
        """Return its first moment later than `after` for a node, or a fleet: each has its own, always the same."""
        late = self.spread(key, self.jitter)
        return self.times.after(after - late) + late

    def spread(self, key: str, most: float) -> float:
        """Return how many of `most` seconds are a node's, or a fleet's."""
        share = crc32(f"{self.name} {key}".encode(errors="replace")) / _ALL
        return math.floor(share * most * _EXACT) / _EXACT


def schedule(
    name: str, text: str, zone: str = "UTC", jitter: str | None = None, missed: Missed = Missed.CATCH_UP
) -> Schedule:
    """Return a schedule as its settings have it; ValueError says what is wrong. Without `jitter`, none."""
    times = read(text, zone)
    seconds = span(jitter) if jitter is not None and jitter.strip() != "0" else 0.0
    if seconds > times.pause:
        raise ValueError(
            f"its jitter of {seconds:g} s is longer than the {times.pause:g} s between two of its moments; shorten it"
        )
    return Schedule(name, " ".join(text.split()), times, zone, seconds, missed)


def spread_sweep(found: Schedule) -> Schedule:
    """Return a schedule for nodes, spread over all its pause, or four hours of it."""
    pause = 0.0 if found.is_off else min(found.times.pause, LONGEST_SPREAD)
    return Schedule(found.name, found.text, found.times, found.zone, pause, found.missed)
