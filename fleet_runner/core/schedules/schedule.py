"""A schedule: its moments, how they are spread, and the rule for those that were missed."""

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from zlib import crc32

from fleet_runner.core.schedules.times import Never, Times, check_zone, read, span

LONGEST_SPREAD = 14_400.0
"""Seconds over which what nodes do is spread unless the setting says otherwise; a shorter pause, if it has."""

_ALL = 2**32
_EXACT = 1024
"""Parts of a second that add to any time of this age without rounding: a moment is never its own next one."""

_JITTER = "jitter "


class Scope(StrEnum):
    """Whose moments a schedule's are."""

    NODE = "node"  # each node has its own
    RUNNER = "runner"  # each runner does it for itself
    FLEET = "fleet"  # one runner does it for all


class Missed(StrEnum):
    """What becomes of moments at which nobody was there."""

    CATCH_UP = "catch up"  # one of them is made up for, once
    SKIP = "skip"  # the next one is waited for


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule. `text` is what says its moments; `jitter` the seconds over which they are spread."""

    name: str
    text: str
    times: Times
    zone: str
    jitter: float
    missed: Missed

    @property
    def plan(self) -> str:
        """Return all that its moments follow from: where that changes, they are worked out anew."""
        return f"{self.text}; {self.zone}; jitter {self.jitter:g} s"

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


@lru_cache(maxsize=256)
def schedule(name: str, text: str, whose: Scope = Scope.FLEET) -> Schedule:
    """Return what a setting means, such as "17 3 * * *; Europe/Berlin; jitter 1h; skip".

    First its moments; then, in any order, a time zone (else UTC), what it is spread over (else nothing, and for nodes
    all the pause), and the rule for moments that were missed (else one is made up for).

    Raises:
        ValueError: it means nothing, and why.
    """
    moments, *others = (part.strip() for part in text.split(";"))
    zone, missed, jitter = "UTC", Missed.CATCH_UP, None
    for part in others:
        if part.lower() in set(Missed):
            missed = Missed(part.lower())
        elif part.lower().startswith(_JITTER):
            jitter = part[len(_JITTER) :]
        else:
            check_zone(part)
            zone = part
    times = read(moments, zone)
    seconds = _spread(times, whose) if jitter is None else 0.0 if jitter.strip() == "0" else span(jitter)
    if seconds > times.pause:
        raise ValueError(
            f"its jitter of {seconds:g} s is longer than the {times.pause:g} s between two of its times; shorten it"
        )
    return Schedule(name, " ".join(moments.split()), times, zone, seconds, missed)


def _spread(times: Times, whose: Scope) -> float:
    if whose is not Scope.NODE or isinstance(times, Never):
        return 0.0
    return min(times.pause, LONGEST_SPREAD)
