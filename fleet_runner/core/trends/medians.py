"""Medians over what is there: of rows and of columns of arrays with days on which nothing was told (NaN)."""

import numpy as np

from fleet_runner.core.trends.panel import Numbers

ROWS = 20_000
"""Rows that are sorted at a time, so that no more than a piece of a fleet is there twice."""


def across(values: Numbers) -> Numbers:
    """Return the median of each row; NaN of a row that tells nothing."""
    pieces = [_across(values[at : at + ROWS]) for at in range(0, len(values), ROWS)]
    return np.concatenate(pieces) if pieces else np.empty(0, np.float32)


def down(values: Numbers, fewest: int) -> Numbers:
    """Return the median of each column; NaN where fewer than this told something."""
    turned = np.ascontiguousarray(values.T)
    told = (~np.isnan(turned)).sum(axis=1)
    return np.where(told >= fewest, _across(turned), np.float32(np.nan)).astype(np.float32)


def _across(values: Numbers) -> Numbers:
    """Sort each row, where NaN comes last, and take what lies in the middle of the others."""
    if not values.shape[1]:
        return np.full(len(values), np.nan, np.float32)
    ordered = np.sort(values, axis=1)
    told = (~np.isnan(ordered)).sum(axis=1)
    low = np.take_along_axis(ordered, np.maximum((told - 1) // 2, 0)[:, None], axis=1)
    high = np.take_along_axis(ordered, np.minimum(told // 2, values.shape[1] - 1)[:, None], axis=1)
    return np.where(told > 0, (low + high)[:, 0] / 2, np.nan).astype(np.float32)
