"""Since when one rank takes longer than the others, where it did not always: one clear change, or none is told."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

Points = Sequence[tuple[float, float]]
"""Moments (epoch seconds) and values, oldest first."""

FEWEST = 5
"""Values before a change and after it without which nothing is told."""

OTHERS = 3
"""Others at least with whom a value is compared."""

MOST_OTHERS = 64
"""Of more others so many are as good as all."""

WRONG = 0.1
"""Of the values before or after a change, so many may lie on the other side: hiccups."""

LOW, HIGH = 0.3, 0.7
"""Of the whole change, below which the values just before it lie, and above which those just after it. A rank that
becomes slower little by little has no such moment."""

EXACT = 120.0
"""Seconds between two values within which a change is told as one moment."""


class Change(NamedTuple):
    """The last moment before a change, and the first one after it, in epoch seconds."""

    before: float
    after: float

    def words(self, clock: str) -> str:
        """Say it by a clock: "UTC"."""
        if self.after - self.before <= EXACT:
            return f"since {_minute(self.after)} {clock}"
        return f"since a moment between {_minute(self.before)} and {_minute(self.after)} {clock}"


def find(own: Points, others: Sequence[Points], times: float) -> Change | None:
    """Return when a rank became so many `times` as slow as the others; None where that is not clear.

    Values are compared with the others' at the same moments, so a change that all have is none. `times` is more
    than 1; values of which less is worse are given with `times` below 1.
    """
    ratios = list(_ratios(own, others[:: -(-len(others) // MOST_OTHERS) or 1]))
    level = [(ratio - 1) / (times - 1) for _, ratio in ratios]
    slow = [each > (LOW + HIGH) / 2 for each in level]
    wrong = [slow.count(False)]
    for each in slow:
        wrong.append(wrong[-1] + (1 if each else -1))
    places = [place for place, count in enumerate(wrong) if count == min(wrong)]
    first, last = places[0], places[-1]
    if not FEWEST <= first <= last <= min(first + FEWEST, len(slow) - FEWEST):
        return None
    if sum(slow[:first]) > WRONG * first or slow[last:].count(False) > WRONG * (len(slow) - last):
        return None
    if median(level[first - FEWEST : first]) > LOW or median(level[last : last + FEWEST]) < HIGH:
        return None
    return Change(ratios[first - 1][0], ratios[last][0])


def _ratios(own: Points, others: Sequence[Points]) -> Iterator[tuple[float, float]]:
    """Yield moments and how many times as much as the others' median a value is then."""
    moments = [[at for at, _ in each] for each in others]
    for at, value in own:
        near = [points[place][1] for points, times in zip(others, moments, strict=True)
                if (place := _near(times, at)) is not None]  # fmt: skip
        if len(near) >= OTHERS:
            yield at, value / median(near)


def _near(moments: Sequence[float], at: float) -> int | None:
    """Return the place of the moment that is next to another one; None before the first and after the last."""
    if len(moments) < 2:  # noqa: PLR2004  one moment has no distance from the next
        return None
    usual = (moments[-1] - moments[0]) / (len(moments) - 1)
    if not moments[0] - usual <= at <= moments[-1] + usual:
        return None
    place = min(bisect_left(moments, at), len(moments) - 1)
    return place - 1 if place and at - moments[place - 1] < moments[place] - at else place


def _minute(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"
