"""Spans of time as people say them."""

import pytest

from fleet_runner.core.base.durations import age


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-3.0, "0 s"), (0.0, "0 s"), (119.0, "119 s"), (120.0, "2 min"), (7_200.0, "2 h"), (172_800.0, "2 d")],
)
def test_a_span_is_said_in_its_largest_unit_of_which_there_are_two(seconds: float, said: str) -> None:
    assert age(seconds) == said
