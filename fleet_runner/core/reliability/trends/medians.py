"""Medians over what is there: of rows and of columns of arrays with days on which nothing was told (NaN)."""

from collections.abc import Iterator, Sized

import numpy as np

from fleet_runner.core.reliability.trends.panel import Numbers

ROWS = 2_000
"""Rows that are worked on at a time: of 90 days, what is made of them on the way stays in a core's own cache."""


def pieces(values: Sized) -> Iterator[slice]:
    """Yield where the pieces of an array's rows are."""
    return (slice(at, at + ROWS) for at in range(0, len(values), ROWS))


def across(values: Numbers) -> Numbers:
    """Return the median of each row; NaN of a row that tells nothing."""
    found = np.full(len(values), np.nan, np.float32)
    for piece in pieces(values):
        found[piece] = _across(values[piece])
    return found


def down(values: Numbers, fewest: int) -> Numbers:
    """Return the median of each column, of one array or several; NaN where fewer than this told something."""
    turned = np.ascontiguousarray(np.swapaxes(values, -1, -2))
    told = (~np.isnan(turned)).sum(axis=-1)
    middle = across(turned.reshape(-1, turned.shape[-1])).reshape(told.shape)
    return np.where(told >= fewest, middle, np.float32(np.nan))


def _across(values: Numbers) -> Numbers:
    """Sort each row, where NaN comes last, and take what lies in the middle of the others."""
    if not values.shape[1]:
        return np.full(len(values), np.nan, np.float32)
    ordered = np.sort(values, axis=1)
    told = (~np.isnan(ordered)).sum(axis=1)
    rows = np.arange(len(values))
    low = ordered[rows, np.maximum((told - 1) // 2, 0)]
    high = ordered[rows, np.minimum(told // 2, values.shape[1] - 1)]
    return np.where(told > 0, (low + high) / 2, np.float32(np.nan))
