"""How much each day of a series is like the one before, as thousands of a metric know it and no single one does.

Noise that lasts ("regressing", of the first order) differs more over two days than over one: the square of how much
more, less one, is what a day has of the one before. It needs no level, and a jump touches one difference of many. A
series alone knows it to a tenth, and a tenth is a half more noise in a level; so each is taken to be as the fleet's
middle, and as itself only by as much as series truly differ: by what the first half of their days and the second
have in common ("empirical Bayes": Efron and Morris, "Stein's estimation rule and its competitors", Journal of the
American Statistical Association 68, 1973). What is left without the day before is noise that does not last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.trends.panel import Numbers

LEAST = 0.15
"""What a metric's days must have of the one before: with less, each is taken as new."""

MOST = 0.95
"""The most that a day is taken to have of the one before."""

ASKED = 4_000
"""Series that are asked, evenly chosen."""

FEWEST = 50
"""Series that tell it; of fewer nobody knows."""

VARIES = 0.01
"""The least variance that series of a metric truly differ by: with less, they are taken for alike."""

FAR = 6.0
"""How many times the mean difference one may count."""

NORMAL = 1.4826
"""Standard deviations of a normal distribution that a median deviation is."""


class Likeness(NamedTuple):
    """The middle of all series, the variance by which they truly differ, and that by which one of them errs here."""

    middle: float
    varies: float
    errs: float

    def of(self, values: Numbers) -> Numbers:
        """Return what each series' days have of the one before."""
        if not self.varies:
            return np.full(len(values), self.middle, np.float32)
        mine = np.nan_to_num(_of_each(values), nan=self.middle)
        own = self.varies / (self.varies + self.errs)
        return np.asarray(np.clip(self.middle + own * (mine - self.middle), 0.0, MOST), np.float32)


NEW = Likeness(0.0, 0.0, 0.0)
"""Each day is new, or nobody knows."""


def likeness(values: Numbers) -> Likeness:
    """Return how much alike neighbouring days are in these series."""
    some = values[~np.isnan(values).all(axis=1)]
    some = some[:: 1 + len(some) // ASKED]
    half = some.shape[1] // 2
    every, first, second = _of_each(some), _of_each(some[:, :half]), _of_each(some[:, half:])
    told = ~np.isnan(every + first + second)
    if int(told.sum()) < FEWEST:
        return NEW
    middle = float(np.median(every[told]))
    if middle < LEAST:
        return NEW
    both, apart = _deviation(first[told] + second[told]), _deviation(first[told] - second[told])
    varies = (both**2 - apart**2) / 4
    return Likeness(min(middle, MOST), varies if varies > VARIES else 0.0, apart**2 / 4)


def without(values: Numbers, like: Numbers) -> Numbers:
    """Take out of each number what is left of the one told before it; of noise that lasts, what is new is left."""
    if not like.any():
        return values
    new = np.sqrt(1 - like**2)
    found = np.empty_like(values)
    np.multiply(values[:, 0], new, out=found[:, 0])
    np.subtract(values[:, 1:], like[:, None] * values[:, :-1], out=found[:, 1:])
    at, before = after_gaps(~np.isnan(values))
    row = at // values.shape[1]
    kept = np.power(like[row], at - before, dtype=np.float32)
    told = np.take(values, before)
    kept[np.isnan(told)] = 0
    np.put(found, at, (np.take(values, at) - kept * np.nan_to_num(told)) * new[row] / np.sqrt(1 - kept**2))
    return found


def after_gaps(there: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the days before which a day tells nothing, and that of the last number before, by their flat indices.

    Where none was, it is a day that tells nothing. Few days are missing, so this costs less than to look at all.
    """
    width = there.shape[1]
    gaps = np.flatnonzero(~there)
    begins = np.diff(gaps, prepend=-2) != 1
    begins |= gaps % width == 0
    first = np.maximum.accumulate(np.where(begins, gaps, 0))
    before = np.where(first % width, first - 1, first)
    inside = (gaps + 1) % width != 0
    return gaps[inside] + 1, before[inside]


def _of_each(values: Numbers) -> Numbers:
    """Return it as each series has it alone; NaN of one that says nothing."""
    near, far = (_differing(np.abs(values[:, by:] - values[:, : max(values.shape[1] - by, 0)])) for by in (1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(near > 0, (far / near) ** 2 - 1, np.float32(np.nan)).astype(np.float32)


def _differing(steps: Numbers) -> Numbers:
    """Return the mean of each row, of which no single number has much."""
    there = ~np.isnan(steps)
    told = np.maximum(there.sum(axis=1), 1)
    steps[~there] = 0
    mean = steps.sum(axis=1) / told
    return np.asarray(np.minimum(steps, FAR * mean[:, None]).sum(axis=1) / told, np.float32)


def _deviation(values: Numbers) -> float:
    return NORMAL * float(np.median(np.abs(values - np.median(values))))
