"""The odd one of several values, and nobody where they only scatter."""

import random

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.outliers import FEWEST, Floor, Odd, odd

FLOOR = Floor(0.1, 0.0)


def drawn(seed: int, count: int) -> dict[str, float]:
    chance = random.Random(seed)
    return {f"gpu-{number:03}": chance.gauss(100, 2) for number in range(count)}


@given(st.integers(FEWEST, 200), st.integers(0, 10_000), st.floats(1.4, 9), st.booleans())
def test_the_one_that_is_far_off_is_found(count: int, seed: int, times: float, is_low: bool) -> None:
    values = drawn(seed, count)
    values["gpu-002"] *= 1 / times if is_low else times
    found = odd(values, Floor(0.1, 0.0, is_low=is_low))
    assert found is not None
    assert found.names == ("gpu-002",)
    assert abs(found.others - 100) < 10


@given(st.integers(FEWEST, 200), st.integers(0, 10_000))
def test_where_values_only_scatter_nobody_is_odd(count: int, seed: int) -> None:
    """By 2 % about their mean: the share of the floor is 10 %."""
    assert odd(drawn(seed, count), FLOOR) is None


@given(st.integers(FEWEST, 100), st.integers(0, 100))
def test_two_kinds_of_nodes_have_no_odd_one(count: int, seed: int) -> None:
    """A half is slow: a job's stages, or two types of machines."""
    values = {name: each * (1 + place % 2) for place, (name, each) in enumerate(drawn(seed, count).items())}
    assert odd(values, FLOOR) is None


def test_the_other_side_is_no_fault() -> None:
    values = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 9.0}
    assert odd(values, Floor(0.1, 0.0, is_low=True)) is None
    assert odd(values, FLOOR) == Odd(("d",), 1.0)


def test_a_difference_below_the_amount_and_too_few_values_name_nobody() -> None:
    values = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 9.0}
    assert odd(values, Floor(0.1, 8.5)) is None
    assert odd({name: each for name, each in values.items() if name != "a"}, FLOOR) is None


def test_of_eight_two_may_be_odd_and_the_worst_comes_first() -> None:
    values = {**dict.fromkeys("abcdef", 10.0), "g": 20.0, "h": 30.0}
    assert odd(values, FLOOR) == Odd(("h", "g"), 10.0)
    assert odd(values | {"f": 25.0}, FLOOR) is None
