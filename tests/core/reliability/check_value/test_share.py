"""How well a share is known."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.check_value.share import Share, share


@given(st.floats(0, 1), st.integers(1, 100_000))
def test_a_share_lies_in_its_interval_and_that_within_nought_and_one(part: float, whole: int) -> None:
    told = share(part * whole, whole)
    assert 0 <= told.low <= told.value + 1e-9
    assert told.value - 1e-9 <= told.high <= 1


def test_of_nothing_nothing_is_known() -> None:
    assert share(0, 0) == Share(0.0, 0.0, 1.0)


def test_none_of_forty_may_be_nine_per_cent() -> None:
    """As in tables of Wilson's interval: 0 of 40 is at most 8.8 %, 2 of 40 is 1.4 to 16.5 %."""
    assert share(0, 40) == pytest.approx((0, 0, 0.0876), abs=1e-4)
    assert share(2, 40) == pytest.approx((0.05, 0.0138, 0.1650), abs=1e-4)
    assert share(40, 40) == pytest.approx((1, 0.9124, 1), abs=1e-4)


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(2_000):
        told = share(sum(chance.random() < 0.1 for _ in range(80)), 80)
        held += told.low <= 0.1 <= told.high
    assert 0.93 <= held / 2_000 <= 0.98
