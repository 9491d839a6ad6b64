"""What goes after some time, so that the store and its folders stay bounded, and what stays whatever its age.

Moments are seconds since the epoch (UTC). History is not touched; of results only what says the same once more.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Verdict

DAY = 86_400.0

FRESH = DAY
"""Seconds for which evidence stays however much there is: its result may not be stored yet."""

STEADY = frozenset({Verdict.PASS, Verdict.SKIPPED})
"""Answers of which one a day says enough once they are old."""


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """How long things are kept, in days, and how many bytes evidence may have; 0: without an end."""

    evidence_days: float
    evidence_bytes: int
    sweeps_days: float
    artifacts_days: float
    signals_days: float
    audit_days: float = 0.0
    trend_days: float = 0.0


class Body(NamedTuple):
    """A piece of evidence: its hash, when it was told last (to the day), and its bytes in the store."""

    hash: str
    at: float
    size: int


class Said(NamedTuple):
    """A result of a sweep, as far as it matters here."""

    id: int
    run: int
    check: str
    verdict: Verdict


class Artifact(NamedTuple):
    """A folder: the last change in it, and what it has in all."""

    name: str
    at: float
    size: int


@dataclass(frozen=True, slots=True)
class Pruned:
    """How much went, or would go."""

    evidence: int = 0
    evidence_bytes: int = 0
    results: int = 0
    runs: int = 0
    alarms: int = 0
    steps: int = 0
    news: int = 0
    photos: int = 0
    counters: int = 0
    asked: int = 0
    days: int = 0
    episodes: int = 0
    foreseen: int = 0
    answers: int = 0
    folders: int = 0
    folder_bytes: int = 0
    more: bool = False

    def __add__(self, other: "Pruned") -> "Pruned":
        """Add up; there is more to do where either says so."""
        every = (field.name for field in fields(self) if field.name != "more")
        added = {name: getattr(self, name) + getattr(other, name) for name in every}
        return Pruned(**added, more=self.more or other.more)

    def sentence(self, *, would: bool = False) -> str:
        """Say what went, or what would go."""
        told = (
            (self.evidence, f"pieces of evidence ({size(self.evidence_bytes)})"),
            (self.results, "results of sweeps with the same result"),
            (self.runs, "of their runs"),
            (self.alarms, "cleared alarms"),
            (self.steps, "steps of closed boots"),
            (self.news, "sent lines about closed tickets"),
            (self.photos, "photos of closed tickets"),
            (self.counters, "counters of received signals"),
            (self.asked, "lines of the audit log"),
            (self.days, "days of metrics"),
            (self.episodes, "faults of long ago"),
            (self.foreseen, "ended predictions"),
            (self.answers, "answers about jobs"),
            (self.folders, f"folders ({size(self.folder_bytes)})"),
        )
        parts = [f"{count:,} {what}" for count, what in told if count]
        verb = "would go" if would else "went"
        said = f"{', '.join(parts)} {verb}" if parts else f"nothing {verb}"
        return f"{said}; there is more to do" if self.more else said


def since(now: float, days: float) -> float:
    """Return the moment before which things go; with 0 days there is none that anything is before."""
    return now - days * DAY if days > 0 else 0.0


def bodies(
    oldest: Iterable[Body], rests: Container[str], keep: RetentionLimits, over: int, now: float
) -> tuple[Body, ...]:
    """Return which pieces of evidence go, of some in the order of their age.

    `rests` are those that something still rests on; `over` is by how many bytes there is too much in all.
    """
    cutoff, gone = since(now, keep.evidence_days), list[Body]()
    for each in oldest:
        too_much = over > 0 and each.at < now - FRESH
        if (each.at < cutoff or too_much) and each.hash not in rests:
            gone.append(each)
            over -= each.size
    return tuple(gone)


def thinned(day: Sequence[Said], named: Container[int]) -> tuple[int, ...]:
    """Return which results of a node's sweeps of one day go, given in their order.

    The first of each check stays, and all that is no PASS, and the neighbours of what differs: when something
    changed is still known to the sweep. So do results that are `named` elsewhere.
    """
    by_check: dict[str, list[Said]] = {}
    for each in day:
        by_check.setdefault(each.check, []).append(each)
    return tuple(sorted(one for mine in by_check.values() for one in _repeated(mine) if one not in named))


def aged(found: Iterable[Artifact], stays: Container[str], now: float, days: float) -> tuple[Artifact, ...]:
    """Return which folders go: those in which nothing changed for so long, but for those that must stay."""
    cutoff = since(now, days)
    return tuple(each for each in found if each.at < cutoff and each.name not in stays)


def size(count: float) -> str:
    """Return bytes as people say them: "512 B", "3.4 MB"."""
    for unit, much in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= much:
            return f"{count / much:.1f} {unit}"
    return f"{count:.0f} B"


def _repeated(mine: Sequence[Said]) -> Iterable[int]:
    """Yield what says the same as the one before it and the one after it."""
    for at, each in enumerate(mine[1:], start=1):
        after = mine[at + 1] if at + 1 < len(mine) else each
        if each.verdict in STEADY and each.verdict is mine[at - 1].verdict is after.verdict:
            yield each.id
