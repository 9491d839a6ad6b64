"""The slope of one series that a few wild numbers do not move, with its interval, and how steadily it goes there.

The Theil-Sen slope with Sen's interval ("Estimates of the regression coefficient based on Kendall's tau", Journal of
the American Statistical Association 63, 1968), and Kendall's tau-b, from the same pairs of days: as scipy has them,
which takes three times as long to tell it what it is given.
"""

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]


class Slope(NamedTuple):
    """A slope, between what it is likely to lie, and Kendall's tau between days and numbers."""

    middle: float
    low: float
    high: float
    tau: float


@cache
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return every pair of so many numbers."""
    first, second = np.triu_indices(count, 1)
    return first, second


def slope(days: Floats, values: Floats, sure: float) -> Slope:
    """Return the slope of numbers over days, which ascend and differ."""
    first, second = _pairs(len(days))
    ordered = np.sort((values[second] - values[first]) / (days[second] - days[first]))
    every, falling = len(ordered), int(np.searchsorted(ordered, 0))
    same = int(np.searchsorted(ordered, 0, side="right")) - falling
    concordant = every - same - 2 * falling
    away = float(special.ndtri((1 + sure) / 2)) * _deviation(values)
    low, high = max(round((every - away) / 2) - 1, 0), min(round((every + away) / 2), every - 1)
    middle = float(ordered[(every - 1) // 2] + ordered[every // 2]) / 2
    tau = concordant / sqrt(every * (every - same)) if same < every else 0.0
    return Slope(middle, float(ordered[low]), float(ordered[high]), tau)


def _deviation(values: Floats) -> float:
    """Return by how much concordant pairs outnumber the others by chance, as a standard deviation."""
    count, ties = len(values), np.unique(values, return_counts=True)[1]
    square = count * (count - 1) * (2 * count + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return sqrt(square / 18)
