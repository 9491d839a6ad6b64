"""How many nodes were in each kind of state, day by day: walked back from now through the transitions since."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.lifecycle.diagram import kind
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import FABRICS, State
from fleet_runner.core.schedules.retention import DAY

KINDS = ("serving", "moving", "resting", "ended")
"""From the bottom of the picture to its top."""


class Moved(NamedTuple):
    """That so many nodes went from a state to another on a day: `day` counts the days since the first."""

    day: int
    state: State
    to: State
    number: int


class Day(NamedTuple):
    """How many nodes were in each kind of state at the end of a day, or now (epoch seconds)."""

    at: float
    counts: Mapping[str, int]


class Area(NamedTuple):
    """One kind's share of the picture: the corners of a polygon, as SVG has them."""

    kind: str
    points: str


def days(nodes: Iterable[Node], moves: Iterable[Moved], began: float, now: float) -> tuple[Day, ...]:
    """Return the days since a moment, the oldest first; the last is as it is now.

    A node is not counted before its first transition, for nobody knows how long it had been there; one that has had
    none is counted since it is registered.
    """
    there = list(nodes)
    waiting = [node.since for node in there if node.state is State.REGISTERED]
    counted = Counter(kind(node.state) for node in there if node.state is not State.REGISTERED)
    undone: dict[int, list[Moved]] = {}
    for move in moves:
        if move.state not in FABRICS:
            undone.setdefault(move.day, []).append(move)
    found: list[Day] = []
    for day in range(int((now - began) // DAY), -1, -1):
        at = min(now, began + (day + 1) * DAY)
        fresh = Counter(resting=sum(since <= at for since in waiting))
        every = counted + fresh
        found.append(Day(at, {name: every[name] for name in KINDS}))
        for move in undone.get(day, ()):
            counted[kind(move.to)] -= move.number
            if move.state is not State.REGISTERED:
                counted[kind(move.state)] += move.number
    return tuple(reversed(found))


def highest(found: Iterable[Day]) -> int:
    """Return the most nodes of a day; at least 1."""
    return max((sum(day.counts.values()) for day in found), default=0) or 1


def changes(found: Sequence[Day]) -> Mapping[str, int]:
    """Return by how many nodes each kind grew since a day before the last one; nothing where that is not kept."""
    before = [day for day in found if day.at <= found[-1].at - DAY]
    return {name: found[-1].counts[name] - before[-1].counts[name] for name in KINDS} if before else {}


def areas(found: Sequence[Day], width: float, height: float) -> tuple[Area, ...]:
    """Return the kinds one above the other as polygons of a picture of this size; kinds that no day has are left out.

    A single day is as wide as the picture.
    """
    most = highest(found)
    drawn = [found[0], *found] if len(found) == 1 else list(found)
    below = [0] * len(drawn)
    layers: list[Area] = []
    for name in KINDS:
        above = [low + day.counts[name] for low, day in zip(below, drawn, strict=True)]
        if above != below:
            edge = _line(above, most, width, height)
            layers.append(Area(name, " ".join([*edge, *reversed(_line(below, most, width, height))])))
        below = above
    return tuple(layers)


def _line(values: Sequence[int], most: int, width: float, height: float) -> list[str]:
    apart = width / max(1, len(values) - 1)
    return [f"{at * apart:.1f},{height * (1 - value / most):.1f}" for at, value in enumerate(values)]
