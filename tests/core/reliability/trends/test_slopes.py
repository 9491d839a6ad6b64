"""Slopes that wild numbers do not move: as scipy tells them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fleet_runner.core.reliability.trends.slopes import slope


@given(st.integers(0, 10_000), st.integers(14, 90), st.booleans())
def test_slopes_are_scipys(seed: int, count: int, whole: bool) -> None:
    """With their interval and Kendall's tau, also where numbers repeat and days are missing."""
    random = np.random.default_rng(seed)
    days = np.sort(random.choice(120, count, replace=False)).astype(np.float64)
    values = days * random.normal() / 20 + random.normal(size=count)
    values = np.round(values) if whole else values
    middle, _, low, high = np.asarray(stats.theilslopes(values, days, 0.95)).tolist()
    tau = np.nan_to_num(np.asarray(stats.kendalltau(days, values)).tolist()[0])
    assert slope(days, values, 0.95) == pytest.approx((middle, low, high, tau))


def test_numbers_that_never_change_have_no_slope() -> None:
    """And go nowhere steadily."""
    assert slope(np.arange(20.0), np.ones(20), 0.95) == (0, 0, 0, 0)
