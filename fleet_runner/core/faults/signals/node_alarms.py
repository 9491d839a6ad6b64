"""One node's part of the desk: what stands and what is remembered of it, and how much it may tell."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain

from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.memory import Memory
from fleet_runner.core.faults.signals.standing import StandingAlarm

BURST = 500.0
"""Signals that a node may tell at once, beyond PER_SECOND; what is more does not add to counts."""

PER_SECOND = 10.0

ENDS, ENDS_PER_SECOND = 256.0, 60 / 3600
"""Alarms of a node that clear when they are taken back, at once and beyond that; the others stand on for a while."""

Key = tuple[str, str]
"""Code and component."""


@dataclass(slots=True)
class Measure:
    """So much at once, and then as much as comes back with time."""

    most: float
    per_second: float
    left: float
    drawn_at: float = 0.0

    def draw(self, now: float) -> bool:
        """Take one; False if there is none."""
        self.left = min(self.most, self.left + max(0.0, now - self.drawn_at) * self.per_second)
        self.drawn_at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass(slots=True)
class Desktop:
    """One node's part of the desk: its alarms, what is remembered of others, and how much it may tell."""

    standing: dict[Key, StandingAlarm] = field(default_factory=dict[Key, StandingAlarm])
    memories: dict[Key, Memory] = field(default_factory=dict[Key, Memory])
    waiting: dict[Key, StandingAlarm] = field(default_factory=dict[Key, StandingAlarm])
    tells: Measure = field(default_factory=lambda: Measure(BURST, PER_SECOND, BURST))
    ends: Measure = field(default_factory=lambda: Measure(ENDS, ENDS_PER_SECOND, ENDS))

    def ripen(self, each: StandingAlarm, now: float) -> bool:
        """Let an alarm count if enough was told, of its company too; True if it counts from now on."""
        if each.raised_at is not None:
            return False
        if not each.ripen(now, complete=each.often() and self._accompanied(each)):
            if each.following.beside:
                self.waiting[each.code, each.component] = each
            return False
        self.waiting.pop((each.code, each.component), None)
        return True

    def clear(self, each: StandingAlarm, at: float, because: str) -> None:
        """End an alarm, and remember its signals."""
        key = each.code, each.component
        each.cleared_at, each.cleared_because = at, because
        del self.standing[key]
        self.waiting.pop(key, None)
        each.memory.times = each.times
        self.memories[key] = each.memory

    def agree(self, each: StandingAlarm, stored: Alarm) -> None:
        """Take over what another process knows more of an alarm that stands."""
        if stored.heard_at > each.heard_at:
            each.count = max(each.count, stored.count)
            each.first_at = min(each.first_at, stored.first_at)
            each.last_at = max(each.last_at, stored.last_at)
            each.heard_at = stored.heard_at
            each.times.append(stored.last_at)
        if each.raised_at is None and stored.raised_at is not None:
            each.raised_at = stored.raised_at
            self.waiting.pop((each.code, each.component), None)

    def _accompanied(self, each: StandingAlarm) -> bool:
        """Whether one of the codes that the rules ask for was told of the node near to this one."""
        wanted = each.following.beside
        return not wanted or any(
            code != each.code and any(fnmatchcase(code, glob) for glob in wanted) and each.near(times)
            for code, times in self._told()
        )

    def _told(self) -> Iterator[tuple[str, list[float]]]:
        return chain(
            ((code, each.times) for (code, _), each in self.standing.items()),
            ((code, memory.times) for (code, _), memory in self.memories.items()),
        )
