"""When a drift reaches its mark, or why nobody knows."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends.crossing import Crossing, Drifting, cross

UP = Drifting(70, 0.2, 0.5, 0.45, 0.55, 60)


@given(st.floats(-100, 100), st.floats(0.1, 5), st.floats(0, 0.3), st.floats(0, 3))
def test_the_day_lies_within_its_interval(now: float, slope: float, error: float, way: float) -> None:
    """Where one is told; down is as up."""
    drift = Drifting(now, error, slope, slope * 0.9, slope * 1.1, 60)
    told = cross(drift, now + way * slope * 20, "high")
    down = cross(Drifting(-now, error, -slope, -slope * 1.1, -slope * 0.9, 60), -now - way * slope * 20, "low")
    if told.days is None:
        assert told.why
    else:
        assert told.soonest is not None
        assert told.latest is not None
        assert 0 <= told.soonest <= told.days <= told.latest
        assert down.days == pytest.approx(told.days)


def test_one_example_to_read() -> None:
    """Ten degrees at half a degree a day are twenty days."""
    told = cross(UP, 80, "high")
    assert told.to_json() == {
        "crosses_in_days": 20.0, "crosses_soonest_days": 17.5, "crosses_latest_days": 23.1, "crosses_why": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("drift", "mark", "worse", "why"),
    [
        (UP, None, "high", "it has no pass mark"),
        (UP, 69, "high", "it is beyond its pass mark already"),
        (Drifting(70, 0.2, 0.5, -0.1, 1.1, 60), 80, "high", "its slope is not certain enough"),
        (UP, 170, "high", "it is further ahead than the 60 days for which the drift has been seen"),
        (Drifting(70, 0.2, 0.5, 0.1, 0.9, 60), 80, "high", "anything between 11 and 104 days is as likely"),
    ],
)
def test_silence_has_a_reason(
    drift: Drifting, mark: float | None, worse: Literal["high", "low", "both"], why: str
) -> None:
    """And it is said."""
    assert cross(drift, mark, worse) == Crossing(why=why)


def test_what_is_bad_both_ways_is_as_far_from_zero() -> None:
    """A clock that goes slow crosses the same mark below."""
    fast = cross(Drifting(0.004, 0, 0.0001, 0.00009, 0.00011, 60), 0.005, "both")
    slow = cross(Drifting(-0.004, 0, -0.0001, -0.00011, -0.00009, 60), 0.005, "both")
    assert fast.days == pytest.approx(10)
    assert slow == fast
