"""One alarm while it stands: what its signals add up to, when it counts, and when it is looked at next."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fleet_runner.core.checks.answers import fault_key
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.memory import BY_KEY, RECENT, Memory
from fleet_runner.core.faults.signals.signal import Signal, Source

STORED_EVERY = 5.0
"""Seconds between two writings of an alarm while only its count grows."""

APART = 10.0
"""Seconds within which signals are one event: an application's crash is logged over several lines."""

LAST_WORD = frozenset({"xid.154"})
"""Codes that announce a state: of their signals the newest counts, of all others the one that asks for most."""

NEVER = float("inf")

_HARDNESS = {remedy: hardness for hardness, remedy in enumerate(Remedy)}


@dataclass(slots=True)
class StandingAlarm:
    """An alarm that has not cleared. Times of signals are their senders'; `heard_at` and the others are ours.

    `times` are those of its newest signals. `opened` are keys of signals that were not taken back yet. `ripe_at` is
    since when nothing but `hold` is missing. `over_at` is when it clears, taken back while its node told too much.
    `stored_at` is when it was last given out, `waits` whether it has changed since; `due_at` is when the desk looks
    at it next.
    """

    node: str
    code: str
    component: str
    source: Source
    following: Following
    remedy: Remedy
    message: str
    heard_at: float
    memory: Memory
    times: list[float] = field(default_factory=list[float])
    opened: set[str] = field(default_factory=set[str])
    count: int = 0
    first_at: float = NEVER
    last_at: float = -NEVER
    raised_at: float | None = None
    ripe_at: float | None = None
    over_at: float = NEVER
    cleared_at: float | None = None
    cleared_because: str = ""
    stored_at: float = -NEVER
    waits: bool = True
    due_at: float = NEVER
    id: int = 0
    authenticated: bool = False

    def take(self, signal: Signal, now: float) -> bool:
        """Add a signal; True if that changes more than the count of an alarm that counts already."""
        before = self.asked
        self.message = signal.message
        if signal.at >= self.last_at or self.code not in LAST_WORD:
            self.remedy = signal.remedy if self.code in LAST_WORD else max(self.remedy, signal.remedy, key=_hardness)
        if signal.key and signal.source in BY_KEY and len(self.opened) < RECENT:
            self.opened.add(signal.key)
        another = all(abs(signal.at - each) >= APART for each in self.times)
        self.times.append(signal.at)
        del self.times[:-RECENT]
        self.refresh(signal.at, now)
        if self.raised_at is None:
            self._windowed()
            return another
        self.count += 1
        self.first_at = min(self.first_at, signal.at)
        return self.asked is not before

    def refresh(self, at: float, now: float) -> None:
        """Note that it goes on."""
        self.last_at = max(self.last_at, at)
        self.heard_at = now
        self.over_at = NEVER
        self.waits = True

    def forget(self, at: float) -> None:
        """Leave out signals from before a moment at which it was well: they count no more towards its `repeats`."""
        self.times = [each for each in self.times if each >= at]
        if self.raised_at is None:
            self._windowed()
            self.waits = True

    def _windowed(self) -> None:
        """Until it counts, an alarm tells of the signals that may make it count."""
        least = self.last_at - self.following.within
        window = [each for each in self.times if each >= least]
        self.count, self.first_at = max(1, len(window)), min(window, default=self.last_at)

    @property
    def asked(self) -> Remedy:
        """Return what the rules make of it, or its signals where they say nothing."""
        return self.following.remedy or self.remedy

    @property
    def quiet_at(self) -> float:
        """Return when it clears unless more is heard; one that waits for more signals gives them their time."""
        rule = self.following
        if self.raised_at is not None:
            return max(self.heard_at, self.raised_at) + rule.quiet
        return self.heard_at + (max(rule.quiet, rule.within) if rule.repeats > 1 or rule.beside else rule.quiet)

    @property
    def held_at(self) -> float:
        """Return when it will have lasted long enough to count."""
        return self.ripe_at + self.following.hold if self.ripe_at is not None and self.raised_at is None else NEVER

    @property
    def next_at(self) -> float:
        """Return when something may have to be done about it without another signal."""
        stored = self.stored_at + STORED_EVERY if self.waits else NEVER
        return min(self.quiet_at, self.over_at, self.held_at, stored)

    def often(self) -> bool:
        """Whether it happened as often as the rules ask for within their time."""
        wanted = min(self.following.repeats, RECENT)
        if wanted <= 1:
            return True
        times = sorted(self.times)
        return any(
            _apart(times[index:], first + self.following.within) >= wanted for index, first in enumerate(times)
        )

    def near(self, times: Iterable[float]) -> bool:
        """Whether any of these times lies as near to one of its own as the rules ask for."""
        span = self.following.within
        return any(abs(theirs - mine) <= span for theirs in times for mine in self.times)

    def ripen(self, now: float, *, complete: bool) -> bool:
        """Let it count if it lasted and is `complete` (its repeats, its company); True if it counts from now on."""
        if self.raised_at is not None or not (complete or self.ripe_at is not None):
            return False
        self.ripe_at = now if self.ripe_at is None else self.ripe_at
        if now < self.ripe_at + self.following.hold:
            return False
        self.raised_at = now
        return True

    def alarm(self, now: float) -> Alarm:
        """Return it as it is kept, and note that it was."""
        self.stored_at, self.waits = now, False
        return Alarm(
            node=self.node,
            code=self.code,
            component=self.component,
            fault=fault_key(self.node, self.code, self.component),
            source=self.source,
            message=self.message,
            remedy=self.asked,
            at_once=self.following.at_once,
            first_at=self.first_at,
            last_at=self.last_at,
            heard_at=self.heard_at,
            count=self.count,
            raised_at=self.raised_at,
            cleared_at=self.cleared_at,
            cleared_because=self.cleared_because,
            authenticated=self.authenticated,
            id=self.id,
        )


def _apart(times: Iterable[float], until: float) -> int:
    """Return how many times up to a moment, in their order, lie apart from each other."""
    number, last = 0, -NEVER
    for at in times:
        if at > until:
            break
        if at - last >= APART:
            number, last = number + 1, at
    return number


def opened(signal: Signal, following: Following, memory: Memory) -> StandingAlarm:
    """Return an alarm without signals, for its first one."""
    return StandingAlarm(
        signal.node, signal.code, signal.component, signal.source, following, signal.remedy, signal.message,
        heard_at=signal.at, memory=memory, authenticated=signal.authenticated,
    )  # fmt: skip


def restored(alarm: Alarm, following: Following) -> StandingAlarm:
    """Return an alarm as it was kept. Of its signals the first and the last are known, those between are old ones."""
    between = max(0, min(alarm.count, RECENT) - 2)
    times = [alarm.first_at, *([alarm.first_at] * between), *([alarm.last_at] if alarm.count > 1 else [])]
    return StandingAlarm(
        alarm.node, alarm.code, alarm.component, alarm.source, following, alarm.remedy, alarm.message,
        heard_at=alarm.heard_at, memory=Memory(before=alarm.last_at), times=times,
        count=alarm.count, first_at=alarm.first_at, last_at=alarm.last_at, raised_at=alarm.raised_at, id=alarm.id,
        waits=following.remedy not in (None, alarm.remedy) or following.at_once is not alarm.at_once,
        authenticated=alarm.authenticated,
    )  # fmt: skip


def _hardness(remedy: Remedy) -> int:
    return _HARDNESS[remedy]
