"""The picture of survival: the share of parts that have not failed yet by their age, cohort by cohort.

Cohorts are told apart by their dashes and by names at the ends of their lines, not by colour alone; around each lies
the interval within which the truth lies in 95 of 100 cases.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fleet_runner.core.reliability.trends.picture_pen import (
    Axis,
    Point,
    area,
    cut,
    line,
    said,
    steps,
    tag,
    ticks,
    words,
)

WIDTH, HEIGHT = 720.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 560.0, 14.0, 240.0
"""Of the plot; to its right stand the names."""

COHORTS = 5
"""Lines that can be told apart."""

NAME = 20
"""Characters of a cohort's name for which there is room."""

APART = 15.0
"""Units between names, at least."""

ROOM = 0.02
"""Of survival that is shown below the lowest line."""


class Curve(NamedTuple):
    """A cohort: ages, and at each of them the share that has not failed with its interval, each from 0 to 1."""

    name: str
    ages: Sequence[float]
    share: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def svg(curves: Sequence[Curve], unit: str = "days", name: str = "Survival") -> str:
    """Return the picture of the first cohorts; a sentence as its text alternative."""
    shown = [each for each in curves if len(each.ages) > 0][:COHORTS]
    if not shown:
        return tag("p", "There are no failures to draw.", class_="dim")
    marks = ticks(0.0, max(each.ages[-1] for each in shown), 6)
    x = Axis(0.0, marks[-1], LEFT, RIGHT)
    lowest = min(min(each.low) for each in shown)
    heights = [each for each in ticks(max(0.0, lowest - ROOM), 1.0) if 0.0 <= each <= 1.0 + 1e-9]
    y = Axis(heights[0], 1.0, BOTTOM, TOP)
    ends = _apart([y.at(each.share[-1]) for each in shown])
    inside = [*_grid(x, y, marks, heights, unit)]
    inside += [area(_band(each, x, y), f"around c{at}") for at, each in enumerate(shown)]
    for at, each in enumerate(shown):
        points = _points(each.ages, each.share, x, y)
        inside.append(line(steps(points), f"curve c{at}"))
        inside.append(line([points[-1], (RIGHT + 4, points[-1][1]), (RIGHT + 12, ends[at])], f"lead c{at}"))
        inside.append(words(cut(each.name, NAME), RIGHT + 16, ends[at] + 4, f"name c{at}"))
    return tag("svg", "".join(inside), class_="survival", viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img",
               aria_label=sentence(shown, unit, name))  # fmt: skip


def sentence(curves: Sequence[Curve], unit: str, name: str) -> str:
    """Return what the picture shows, for who cannot see it."""
    told = [
        f"{each.name} {percent(each.share[-1])} after {said(each.ages[-1])} {unit}"
        f" ({percent(each.low[-1])} to {percent(each.high[-1])})"
        for each in curves
    ]
    return f"{name}: {'; '.join(told)}."


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{share * 100:.4g} %"


def _grid(x: Axis, y: Axis, marks: Sequence[float], heights: Sequence[float], unit: str) -> Iterable[str]:
    for height in heights:
        yield line([(LEFT, y.at(height)), (RIGHT, y.at(height))], "grid")
        yield words(percent(height), LEFT - 8, y.at(height) + 4, anchor="end")
    for mark in marks:
        yield line([(x.at(mark), BOTTOM), (x.at(mark), BOTTOM + 5)], "grid")
        yield words(said(mark), x.at(mark), BOTTOM + 20, anchor="middle")
    yield words(f"age in {unit}", (LEFT + RIGHT) / 2, BOTTOM + 40, anchor="middle")


def _points(ages: Sequence[float], shares: Sequence[float], x: Axis, y: Axis) -> list[Point]:
    """Return a line from the beginning, where everything still lives, unless that is told."""
    rows = list(zip(ages, shares, strict=True))
    begun = rows if rows[0][0] <= 0 else [(0.0, 1.0), *rows]
    return [(x.at(age), y.at(share)) for age, share in begun]


def _band(curve: Curve, x: Axis, y: Axis) -> list[Point]:
    over = steps(_points(curve.ages, curve.high, x, y))
    under = steps(_points(curve.ages, curve.low, x, y))
    return [*over, *reversed(under)]


def _apart(heights: Sequence[float]) -> list[float]:
    """Return where names stand so that none lies on another, in the order of their lines and within the picture."""
    found = dict.fromkeys(range(len(heights)), 0.0)
    last = TOP - APART
    for at in sorted(found, key=lambda each: heights[each]):
        last = found[at] = max(heights[at], last + APART)
    over = max(0.0, last - (HEIGHT - APART))
    return [found[at] - over for at in range(len(heights))]
