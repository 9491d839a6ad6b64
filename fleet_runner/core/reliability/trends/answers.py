"""What the API answers of what is foreseen: shapes that it and its client agree on."""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.reliability.forecasts import Kind


@dataclass(frozen=True, slots=True)
class Days:
    """In how many days something comes, and between which two; `latest` is null where it may never come."""

    likely: float
    soonest: float
    latest: float | None


@dataclass(frozen=True, slots=True)
class Expected:
    """One thing foreseen of a node, or of a component of it.

    `mark_in` is when its pass mark is crossed, null where that cannot be said. `failures` are those of a place or
    a part, a sentence each. `next` is what to do, "" where the sentence says it.
    """

    kind: Kind
    component: str
    sentence: str
    since: float
    metric: str = ""
    serial: str = ""
    mark_in: Days | None = None
    failures: tuple[str, ...] = ()
    next: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A node's score as a lemon, its sentence, and a sentence for each signal; from `mark` triage is suggested."""

    points: float
    mark: float | None
    suggested: bool
    sentence: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is foreseen of a node, the newest first. `lemon` is null where it has no points.

    `parts` are places and parts of it that failed again and again, and of which nothing is foreseen now.
    """

    foreseen: tuple[Expected, ...] = ()
    lemon: Scored | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbered:
    """A part, by its slot or what findings call it, and what it told on each day; null on days without a number."""

    name: str
    component: str
    serial: str
    numbers: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """A metric of a node day by day, from `first_day` on ("2026-11-03", "" where nothing is kept).

    `peers` are the low and high end of what eight of ten parts of its device type told, and their middle; empty
    where that is not known. `left_out` counts parts beyond those that are told of.
    """

    metric: str
    unit: str
    first_day: str
    parts: tuple[Numbered, ...]
    peers: Mapping[str, tuple[float | None, ...]]
    left_out: int = 0
