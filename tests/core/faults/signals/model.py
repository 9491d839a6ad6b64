"""What a desk does, done slowly: every second each kind of fault is looked at, and nothing is ever forgotten."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.signal import Signal
from fleet_runner.core.faults.signals.standing import APART

Fault = tuple[str, str, str]


@dataclass
class Kept:
    """All that was ever told of one kind of fault of one component; `times` are those of the alarm that stands."""

    told: set[Signal] = field(default_factory=set)
    ended_at: float = float("-inf")
    before: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    heard_at: float = 0.0
    ripe_at: float | None = None
    raised_at: float | None = None


class Model:
    """Alarms by fault, without bounds and without shortcuts."""

    def __init__(self, following: Callable[[str, str], Following]) -> None:
        self.following = following
        self.kept: dict[Fault, Kept] = {}

    def standing(self) -> dict[Fault, bool]:
        """Return whether each alarm that stands counts."""
        return {fault: each.raised_at is not None for fault, each in self.kept.items() if each.times}

    def hear(self, signal: Signal, now: float) -> None:
        """Take one signal."""
        each = self.kept.setdefault((signal.node, signal.code, signal.component), Kept())
        if signal in each.told:
            return
        each.told.add(signal)
        if signal.ended:
            each.ended_at = max(each.ended_at, signal.at)
            if each.times and signal.at >= max(each.times):
                self.clear(each)
            else:
                each.times = [at for at in each.times if at >= signal.at]
        elif signal.at >= each.ended_at:
            each.times.append(signal.at)
            each.heard_at = now
        self.look(now)

    def clear(self, each: Kept) -> None:
        """End an alarm."""
        each.before, each.times, each.ripe_at, each.raised_at = each.times, [], None, None

    def look(self, now: float) -> None:
        """Let pass what time does."""
        for (node, code, _), each in self.kept.items():
            rule = self.following(node, code)
            if not each.times:
                continue
            if each.ripe_at is None and self.often(each, rule) and self.accompanied(node, code, each, rule):
                each.ripe_at = now
            if each.raised_at is None and each.ripe_at is not None and now >= each.ripe_at + rule.hold:
                each.raised_at = now
            waits = each.raised_at is None and (rule.repeats > 1 or rule.beside)
            since = max(each.heard_at, each.raised_at or each.heard_at)
            if now >= since + (max(rule.quiet, rule.within) if waits else rule.quiet):
                self.clear(each)

    def often(self, each: Kept, rule: Following) -> bool:
        """Whether it happened often enough within some span that begins with one of the signals."""
        for first in each.times:
            events, at = 0, first
            while at <= first + rule.within:
                events += 1
                at = min((other for other in each.times if other >= at + APART), default=float("inf"))
            if events >= rule.repeats:
                return True
        return False

    def accompanied(self, node: str, code: str, each: Kept, rule: Following) -> bool:
        """Whether a code that is asked for was told near to one of its signals."""
        return not rule.beside or any(
            abs(theirs - mine) <= rule.within
            for (other, its, _), kept in self.kept.items()
            if other == node and its != code and any(fnmatchcase(its, glob) for glob in rule.beside)
            for theirs in (kept.times or kept.before)
            for mine in each.times
        )
