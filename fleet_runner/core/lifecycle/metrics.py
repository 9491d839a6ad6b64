"""What is counted of the fleet's history, row by row: how long things took, and how often they came.

Whoever counts gives each row once, in the order of its id. Nothing here grows with the history: of a node only its
newest move is remembered.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from fleet_runner.core.lifecycle.states import SERVING, TRANSITIONS, Event, State

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0

RUN_BOUNDS = (5.0, 15.0, 30.0, MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR)
"""Seconds that runs are told apart by: from a look at a node to the longest deadline of a stage."""

STAY_BOUNDS = (MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY, 90 * DAY)
"""Seconds that stays in a state are told apart by: from a reset to a quarter in production."""

AGES = (10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY)
"""Seconds after which it is told how many nodes, or tickets, are older."""

OTHER = "other"
"""What stands for everything that has no name of its own here."""

LONGEST = 64
"""Characters of a name from the source of truth."""


@dataclass(slots=True)
class Spread:
    """How many values there were up to each bound, and their sum: a histogram."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list[int])
    total: float = 0.0

    def __post_init__(self) -> None:
        """Begin with nothing, one more place than bounds: for what lies above all."""
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    def add(self, value: float, times: int = 1) -> None:
        """Count a value; a clock that was set back makes none that is below zero."""
        self.counts[bisect_left(self.bounds, max(0.0, value))] += times
        self.total += max(0.0, value) * times

    def up_to(self) -> list[tuple[float, int]]:
        """Return each bound with how many lie at it or below, the last being infinity."""
        return list(zip((*self.bounds, float("inf")), accumulate(self.counts), strict=True))

    def copy(self) -> "Spread":
        """Return what stays as it is while this goes on counting."""
        return Spread(self.bounds, list(self.counts), self.total)


class Step(NamedTuple):
    """A transition, as the history has it."""

    id: int
    node: str
    at: float
    state: str
    event: str
    to: str


class Stay(NamedTuple):
    """Where a node is, since when; when and by which event it left production, and when it was begun with."""

    state: str
    since: float
    left_at: float | None = None
    because: str = ""
    begun_at: float | None = None


ROWS = frozenset((row.state.value, row.event.value, row.to.value) for row in TRANSITIONS.values())
SERVES = frozenset(state.value for state in SERVING)
ENDS = State.RETIRED.value


@dataclass(slots=True)
class Moves:
    """What all transitions so far come to.

    `repairs` are times from leaving production to the return, by the event that began them; `bring_up` from Day 0 to
    production, of nodes that were begun with and did not serve before.
    """

    transitions: Counter[tuple[str, str, str]] = field(default_factory=lambda: Counter(dict.fromkeys(ROWS, 0)))
    stays: dict[str, Spread] = field(default_factory=dict[str, Spread])
    repairs: dict[str, Spread] = field(default_factory=dict[str, Spread])
    bring_up: Spread = field(default_factory=lambda: Spread(STAY_BOUNDS))
    at: dict[str, Stay] = field(default_factory=dict[str, Stay])

    def take(self, steps: Iterable[Step]) -> None:
        """Count transitions, in their order."""
        for each in steps:
            row = (each.state, each.event, each.to)
            self.transitions[row if row in ROWS else (OTHER, OTHER, OTHER)] += 1
            if row in ROWS:
                self._follow(each)

    def _follow(self, step: Step) -> None:
        before = self.at.get(step.node)
        if before is not None and before.state == step.state:
            self.stays.setdefault(step.state, Spread(STAY_BOUNDS)).add(step.at - before.since)
        if step.to == ENDS:
            self.at.pop(step.node, None)
            return
        after = Stay(step.to, step.at) if before is None else before._replace(state=step.to, since=step.at)
        if step.state in SERVES:
            after = after._replace(left_at=step.at, because=step.event, begun_at=None)
        elif step.event == Event.START:
            after = after._replace(begun_at=step.at)
        self.at[step.node] = self._returned(after) if step.to in SERVES else after

    def _returned(self, stay: Stay) -> Stay:
        if stay.left_at is not None:
            self.repairs.setdefault(stay.because, Spread(STAY_BOUNDS)).add(stay.since - stay.left_at)
        elif stay.begun_at is not None:
            self.bring_up.add(stay.since - stay.begun_at)
        return Stay(stay.state, stay.since)


def older(ages: Iterable[float]) -> list[tuple[float, int]]:
    """Return for each of `AGES` how many of some ages lie above it."""
    spread = Spread(AGES)
    for each in ages:
        spread.add(each)
    whole = sum(spread.counts)
    return [(bound, whole - count) for bound, count in spread.up_to()[:-1]]


def named(counted: Mapping[tuple[str, ...], int], most: int) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return what each key is told as: the `most` commonest by their own names, cut, and all others as "other"."""
    ordered = sorted(counted, key=lambda key: (-counted[key], key))
    return {
        key: tuple(word[:LONGEST] for word in key) if at < most else (OTHER,) * len(key)
        for at, key in enumerate(ordered)
    }
