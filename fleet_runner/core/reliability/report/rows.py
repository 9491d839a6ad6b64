"""What a report is made of: rows of the store, as values. Times are seconds since the epoch."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from fleet_runner.core.lifecycle.states import Event, State

WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Span:
    """From a moment up to another, which it does not hold."""

    since: float
    until: float

    @property
    def seconds(self) -> float:
        """Return how long it is."""
        return self.until - self.since

    def before(self) -> "Span":
        """Return the span of the same length that ends where this one begins."""
        return Span(self.since - self.seconds, self.since)

    def holds(self, at: float) -> bool:
        """Whether a moment lies in it."""
        return self.since <= at < self.until

    def overlap(self, begins: float, ends: float) -> float:
        """Return how many seconds of another span lie in it."""
        return max(0.0, min(ends, self.until) - max(begins, self.since))


@dataclass(frozen=True, slots=True)
class Step:
    """A transition of a node; `results` are those that it was decided from."""

    node: str
    at: float
    state: State
    event: Event
    to: State
    by: str = "runner"
    results: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that a check saw, or that was pushed and raised an alarm: its code, on which node, and when."""

    node: str
    code: str
    fault: str
    at: float
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """An answer of a check that is UNKNOWN."""

    node: str
    check: str
    at: float


@dataclass(frozen=True, slots=True)
class Fix:
    """A ticket."""

    id: int
    title: str
    remedy: str
    nodes: tuple[str, ...]
    opened_at: float
    closed_at: float | None


@dataclass(frozen=True, slots=True)
class PastRemedy:
    """A remedy that was carried out, and whether it helped: None while nobody knows."""

    node: str
    remedy: str
    at: float
    helped: bool | None


@dataclass(frozen=True, slots=True)
class Hold:
    """A line of the journal about a hold or planned work; `begins` is False for its end."""

    node: str
    at: float
    by: str
    reason: str
    begins: bool


def week(text: str) -> Span:
    """Return the span of "2026-W46", in UTC; ValueError for anything else."""
    year, mark, number = text.partition("-W")
    if not (mark and year.isdigit() and number.isdigit()):
        raise ValueError(text)
    first = date.fromisocalendar(int(year), int(number), 1)
    begins = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
    return Span(begins, begins + WEEK)


def last_week(now: float) -> Span:
    """Return the last whole week before a moment."""
    year, number, _ = (datetime.fromtimestamp(now, UTC) - timedelta(days=7)).isocalendar()
    return week(f"{year}-W{number:02}")
