"""The pictures of a report as numbers: where each bar begins, how wide it is, and what stands beside it."""

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import median
from typing import NamedTuple

from fleet_runner.core.reliability.report.text import NINETY, Stay, duration

WIDTH = 720
"""Of a picture, in its own units."""

BAR = 160
LEAST = 1.0
"""Units of a bar that stands for anything at all."""

LABEL = 46
"""Units that a part must be wide to carry its share."""

MARKS = (
    900.0,
    3_600.0,
    4 * 3_600.0,
    12 * 3_600.0,
    86_400.0,
    2 * 86_400.0,
    7 * 86_400.0,
    28 * 86_400.0,
    112 * 86_400.0,
)
"""Steps between ticks, from which the first is taken that gives few enough."""

TICKS, DOTS = 8, 400


class Part(NamedTuple):
    """A part of a stacked bar; `label` is "" where it is too narrow for one."""

    name: str
    x: float
    width: float
    label: str


class Tick(NamedTuple):
    """A mark on an axis."""

    x: float
    label: str


class Strip(NamedTuple):
    """Durations on an axis: a dot for each, a box from the tenth to the ninetieth of a hundred, and the median."""

    dots: tuple[float, ...]
    box: tuple[float, float]
    middle: float
    ticks: tuple[Tick, ...]


def bar(value: float, largest: float) -> float:
    """Return the width of a bar beside the largest one."""
    return max(LEAST, round(BAR * value / largest, 1)) if value > 0 and largest > 0 else 0.0


def stack(found: Iterable[Stay]) -> tuple[Part, ...]:
    """Return the parts of a bar that shows how a whole divides."""
    parts: list[Part] = []
    x = 0.0
    for each in found:
        width = each.share * WIDTH
        label = f"{each.share * 100:.0f} %" if width >= LABEL else ""
        parts.append(Part(each.state.value, round(x, 1), round(width, 1), label))
        x += width
    return tuple(parts)


def strip(seconds: Sequence[float]) -> Strip | None:
    """Return durations on an axis from nothing to the longest; None where there are none."""
    rows = sorted(max(0.0, each) for each in seconds)
    if not rows:
        return None
    step = next((mark for mark in MARKS if rows[-1] / mark <= TICKS), max(MARKS[-1], rows[-1] / TICKS))
    whole = max(1, ceil(rows[-1] / step)) * step

    def place(value: float) -> float:
        return round(WIDTH * value / whole, 1)

    ends = (rows[int((1 - NINETY) * (len(rows) - 1))], rows[ceil(NINETY * len(rows)) - 1])
    shown = rows if len(rows) <= DOTS else [rows[len(rows) * at // DOTS] for at in range(DOTS)]
    ticks = tuple(Tick(place(step * at), duration(step * at) if at else "0") for at in range(round(whole / step) + 1))
    return Strip(tuple(map(place, shown)), (place(ends[0]), place(ends[1])), place(median(rows)), ticks)
