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


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric on one day: a row for each stay (`core.parts.stay`) that told it, in the order of their ids.

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
    """One metric over days: arrays of shape (stays, days), NaN where nothing was told that day (count 0)."""

    metric: str
    days: Days
    stays: Ids
    count: Ids
    middle: Numbers
    spread: Numbers
