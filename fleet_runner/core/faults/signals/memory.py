"""What was heard of one kind of fault of one component, kept beyond its alarm: so that nothing is taken twice."""

from dataclasses import dataclass, field
from enum import StrEnum

from fleet_runner.core.faults.signals.signal import Signal, Source

RECENT = 64
"""Signals of one kind and component that are known again; also the most `repeats` that are told apart."""

REORDER = 900.0
"""Seconds by which signals of one sender may overtake each other."""


GOING_ON = frozenset({Source.ALERT, Source.CLUSTER})
"""Senders that say again and again, with the same key, what is so still."""

BY_KEY = frozenset({Source.ALERT, Source.OPERATOR})
"""Senders that take back what they said by its key; the keys of others only tell what comes twice."""


class Outcome(StrEnum):
    """What became of a signal."""

    TAKEN = "taken"
    REPEATED = "repeated"  # heard before
    LATE = "late"  # it was taken back before it arrived, or takes back what has happened again since
    STAYS = "stays"  # it is over, and its alarm stands on for a while: those of its node come and go too often
    REFUSED = "refused"  # too many from its node, or not its sender's to take back


@dataclass(slots=True)
class Memory:
    """Signals by a hash of what tells them apart, with when they happened; and when they were last taken back.

    `times` are those of the signals of an alarm that cleared. What happened up to `before` was heard by an earlier
    process, which remembered more.
    """

    recent: dict[int, float] = field(default_factory=dict[int, float])
    times: list[float] = field(default_factory=list[float])
    ended_at: float = float("-inf")
    before: float = float("-inf")

    def judge(self, signal: Signal, mark: int) -> Outcome:
        """Return whether a signal that something is wrong is news."""
        seen = self.recent.get(mark)
        if signal.at <= self.before or (seen is not None and (signal.at <= seen or signal.source not in GOING_ON)):
            return Outcome.REPEATED
        if signal.key and ended(signal) in self.recent:
            return Outcome.LATE
        return Outcome.LATE if self.ended_at - REORDER <= signal.at < self.ended_at else Outcome.TAKEN

    def keep(self, mark: int, at: float) -> None:
        """Remember a signal, and forget the one that was heard longest ago."""
        self.recent.pop(mark, None)
        self.recent[mark] = at
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]


def marked(signal: Signal) -> int:
    """Return what tells a signal apart from others of its kind and component: its key, else its time and words."""
    return hash(signal.key) if signal.key else hash((signal.at, signal.message))


def ended(signal: Signal) -> int:
    """Return what tells that a signal, or the one of its key, is over."""
    return hash(("ended", signal.key or signal.at))
