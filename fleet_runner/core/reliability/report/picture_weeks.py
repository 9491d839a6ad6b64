"""The pictures of weeks as numbers: bars on bars for each week, and bars beside each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.reliability.trends.picture_pen import said, ticks

WIDTH, HEIGHT, LEFT, BELOW = 720.0, 200.0, 46.0, 22.0
"""Of a picture, in its own units: without the numbers at its left, and the names below."""

COLOURS = 6
"""Causes with a colour of their own; what is left is one more."""

MORE = 3
"""Colours beside these, and that of the rest, for causes that a picture beside it does not have."""

OTHERS = "all others"
GAP = 0.25
"""Of a week's width, between two bars."""


class Bar(NamedTuple):
    """A piece of a bar; `kind` is the number of its colour, from 1, and `words` what it stands for."""

    x: float
    y: float
    width: float
    height: float
    kind: int
    words: str


class Label(NamedTuple):
    """A number or a name at an axis."""

    at: float
    words: str


class Bars(NamedTuple):
    """Bars of weeks on an axis. `colours` are what the colours stand for, by their numbers."""

    bars: tuple[Bar, ...]
    below: tuple[Label, ...]
    beside: tuple[Label, ...]
    colours: Mapping[str, int]


def stacked(weeks: Sequence[tuple[str, Mapping[str, float]]], unit: str = "", like: Bars | None = None) -> Bars:
    """Return weeks of numbers by cause as bars on bars, what comes to most in all of them at the bottom.

    What has a colour in a picture beside it has the same one here.
    """
    whole = Counter[str]()
    for _, mine in weeks:
        whole.update(mine)
    ordered = sorted(whole.items(), key=lambda row: (-row[1], row[0]))
    first = [name for name, value in ordered if value and name != OTHERS][:COLOURS]
    others = any(name not in first for name, value in whole.items() if value)
    keys = _colours((*first, *((OTHERS,) if others else ())), like.colours if like else {})
    beside = ticks(0.0, max((sum(mine.values()) for _, mine in weeks), default=0.0) or 1.0, 4)
    step = WIDTH / max(1, len(weeks))
    bars: list[Bar] = []
    for at, (week, mine) in enumerate(weeks):
        y = HEIGHT
        for name, kind in keys.items():
            value = mine.get(name, 0.0)
            if name == OTHERS:
                value = sum(each for other, each in mine.items() if other not in first)
            height = HEIGHT * value / beside[-1]
            if value:
                y -= height
                told = f"{week}: {name}, {said(value)}{unit}"
                x, width = LEFT + step * (at + GAP / 2), step * (1 - GAP)
                bars.append(Bar(round(x, 1), round(y, 1), round(width, 1), round(height, 1), kind, told))
    below = tuple(Label(round(LEFT + step * (at + 0.5), 1), week[-3:]) for at, (week, _) in enumerate(weeks))
    whole_ones = (each for each in beside if unit or each == int(each))  # without a unit they count: no half a fault
    levels = tuple(Label(round(HEIGHT * (1 - each / beside[-1]), 1), f"{said(each)}{unit}") for each in whole_ones)
    return Bars(tuple(bars), below, levels, keys)


def _colours(names: Sequence[str], known: Mapping[str, int]) -> dict[str, int]:
    """Give each name the colour that it has already, or one that nothing has: if possible not beside it, either."""
    taken = {known[name] for name in names if name in known}
    usual = [number for number in range(1, COLOURS + 1) if number not in taken]
    fresh = [*range(COLOURS + 2, COLOURS + 2 + MORE)] if known else []
    free = iter([*fresh, *usual])
    return {name: COLOURS + 1 if name == OTHERS else known.get(name) or next(free) for name in names}
