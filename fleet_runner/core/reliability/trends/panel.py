"""Numbers of many parts: what one metric was on one day, and over a window of days.

A panel is what the nightly analysis keeps of a day of results; a window is what it looks at.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]
Numbers = NDArray[np.float32]
Days = NDArray[np.int32]

DAY = 86_400
"""Seconds of a day; days are counted since the epoch, in UTC."""

WEEK = 7
"""Days of a week."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric on one day: a row for each stay (`core.reliability.parts.stay`) that told it, by their ids.

    `middle` is the median of what was told, in the metric's unit, `spread` the median deviation from it, `count` how
    many numbers there were.
    """

    metric: str
    day: int
    stays: Ids
    count: Ids
    middle: Numbers
    spread: Numbers


@dataclass(frozen=True, slots=True)
class Window:
    """One metric over days: arrays of shape (stays, days), NaN where nothing was told that day (count 0).

    A column stands for `step` days, one or a week, and `days` has the last of each; the newest may stand for fewer.
    Then `count` is on how many of its days something was told.
    """

    metric: str
    days: Days
    stays: Ids
    count: Ids
    middle: Numbers
    spread: Numbers
    step: int = 1

    def since(self, column: int) -> int:
        """Return the first day of a column."""
        return int(self.days[column - 1]) + 1 if column else int(self.days[0]) - self.step + 1

    def ago(self, column: int) -> float:
        """Return how many days before the window's last one a column's numbers were told: those in its middle."""
        return int(self.days[-1]) - (self.since(column) + int(self.days[column])) / 2
