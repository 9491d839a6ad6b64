"""The picture of the lifecycle with one node's way in it: boxes and arrows as values, for a page to draw.

Where everything stands is `diagram_layout`'s; how it looks is the page's sheet.
"""

from typing import NamedTuple

from fleet_runner.core.base.durations import age
from fleet_runner.core.lifecycle.diagram import framed, kind, single
from fleet_runner.core.lifecycle.diagram_layout import (
    ARROWS,
    BOX_HEIGHT,
    BOX_WIDTH,
    CENTRES,
    FRAME,
    FRAMED,
    WITH_PEOPLE,
    Arrow,
)
from fleet_runner.core.lifecycle.journey import Journey, Visited
from fleet_runner.core.lifecycle.states import FABRICS, STATES, Event, State


class Box(NamedTuple):
    """A state: its upper left corner, its colour, how it is marked ("here", "been" or "never"), and its words."""

    state: State
    x: float
    y: float
    kind: str
    mark: str
    said: str
    title: str


class Line(NamedTuple):
    """An arrow: its corners as SVG has them, its words and where they stand; it was taken so many `times`."""

    points: str
    words: str
    x: float
    y: float
    anchor: str
    times: int


class Drawing(NamedTuple):
    """The whole picture. Arrows that were taken come last, so that they lie on top.

    `frame` is around the states that people work in: left, top, width and height.
    """

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    frame: tuple[float, float, float, float] = FRAME


def drawing(journey: Journey) -> Drawing:
    """Return the picture of a node's way; fabrics are no part of it."""
    lines = [_line(FRAMED[to], events, _from_frame(journey, to)) for to, events in framed().items()]
    lines += [
        _line(ARROWS[pair], events, _times(journey, pair))
        for pair, events in single().items()
        if not FABRICS.intersection(pair)
    ]
    boxes = tuple(_box(journey, state) for state in STATES if state not in FABRICS)
    return Drawing(boxes, tuple(sorted(lines, key=lambda line: line.times > 0)))


def _box(journey: Journey, state: State) -> Box:
    x, y = CENTRES[state]
    mark = "here" if state is journey.here else "been" if state in journey.visited else "never"
    visited = journey.visited.get(state)
    said = "" if visited is None else _said(visited)
    return Box(state, x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2, kind(state), mark, said, STATES[state].meaning)


def _said(visited: Visited) -> str:
    """Say how long it was there, and how often where that was more than once."""
    spent = age(visited.seconds) if visited.last is not None else ""
    often = f"{visited.times} times" if visited.times > 1 else ""
    return ", ".join(filter(None, (often, spent)))


def _line(arrow: Arrow, events: tuple[Event, ...], times: int) -> Line:
    words = " or ".join(event.value.replace("_", " ") for event in events)
    points = " ".join(f"{x:g},{y:g}" for x, y in arrow.corners)
    return Line(points, words, *arrow.label, arrow.anchor, times)


def _times(journey: Journey, pair: tuple[State, State]) -> int:
    return journey.taken.get(pair, (0, 0.0))[0]


def _from_frame(journey: Journey, to: State) -> int:
    return sum(_times(journey, (state, to)) for state in WITH_PEOPLE)
