"""Chance, counted."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.parts.chance import at_least, told


@given(st.integers(0, 60), st.floats(1e-6, 40.0))
def test_the_tail_is_poissons(number: int, mean: float) -> None:
    """It is what the head leaves, wherever the head can be summed exactly enough."""
    head = math.fsum(math.exp(at * math.log(mean) - mean - math.lgamma(at + 1)) for at in range(number))
    assert at_least(number, mean) == pytest.approx(1 - head, abs=1e-9)


def test_the_far_tail_is_exact() -> None:
    """There the head is 1 to the last digit."""
    assert at_least(3, 1e-6) == pytest.approx(1e-18 / 6, rel=1e-5)
    assert (at_least(0, 0.0), at_least(1, 0.0)) == (1.0, 0.0)


def test_of_many_suspicions_the_sure_ones_stand() -> None:
    """One in twenty is no news among twenty, but is among ones as small."""
    assert told([]) == ()
    assert told([0.04, *[0.9] * 19]) == (False,) * 20
    assert told([0.001, 0.9, 0.009, 0.5]) == (True, False, True, False)
