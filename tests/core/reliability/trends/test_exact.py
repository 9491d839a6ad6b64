"""The second look at one series: what it was, how much, and how likely noise does as much."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends.exact import Noise, look
from tests.examples import examples

DAYS = np.arange(90, dtype=np.float64)
FLEET = Noise(1.0, 1.0, pooled=True)


def normal(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return noise of 1."""
    return np.random.default_rng(seed).normal(size=len(DAYS))


@given(st.integers(0, 10_000), st.integers(15, 60), st.sampled_from([-8.0, 6.0, 20.0]))
@settings(max_examples=examples(40))
def test_a_jump_is_a_jump_of_its_size_on_its_day(seed: int, ago: int, size: float) -> None:
    """Whenever it was, whichever way it went."""
    values = normal(seed)
    values[-ago:] += size
    change = look(DAYS, values, FLEET)
    assert change.slope is None
    assert change.change == pytest.approx(size, abs=1.5)
    assert abs(change.since - (90 - ago)) <= 2
    assert change.clear
    assert change.chance < 1e-8


@given(st.integers(0, 10_000), st.integers(30, 90), st.sampled_from([-0.4, 0.4, 1.0]))
@settings(max_examples=examples(40))
def test_a_drift_is_a_drift_with_its_slope(seed: int, ago: int, slope: float) -> None:
    """From a level, or over all days."""
    values = normal(seed)
    values[-ago:] += slope * np.arange(1, ago + 1)
    change = look(DAYS, values, FLEET)
    assert change.slope == pytest.approx(slope, abs=0.1)
    assert change.slope_low < change.slope < change.slope_high
    assert change.clear
    assert change.chance < 1e-8


@given(st.integers(0, 10_000))
@settings(max_examples=examples(40))
def test_noise_is_likely_to_be_noise(seed: int) -> None:
    """It is one series of many."""
    assert look(DAYS, normal(seed), FLEET).chance > 1e-4


def test_wild_numbers_change_little() -> None:
    """Three of them, a thousand times out."""
    values = normal(1)
    values[60:] += 6
    values[[10, 40, 70]] = 1e3
    assert look(DAYS, values, FLEET).change == pytest.approx(6, abs=1)


def test_a_jump_that_did_not_stay_is_not_clear() -> None:
    """It was warm for three weeks, and is not any more."""
    values = normal(1)
    values[60:84] += 9
    assert not look(DAYS, values, FLEET).clear


def test_noise_of_its_own_is_believed() -> None:
    """Where a series' days are much more alike than the fleet's, certainty is less."""
    values = normal(3)
    for day in range(1, 90):
        values[day] += 0.9 * values[day - 1]
    values[60:] += 9
    sure = look(DAYS, values, Noise(5.0, 2.0, pooled=True))
    own = look(DAYS, values, FLEET)
    alone = look(DAYS, values, Noise(1.0, 1.0, pooled=False))
    assert own.noise < sure.noise == 10
    assert own.chance == alone.chance > 1e-8


def test_what_mostly_repeats_itself_needs_enough_days() -> None:
    """Nine of nine days with an error are no chance; a handful of seven with others before them is one."""
    values = np.zeros(90)
    values[-12:] = 5
    assert look(DAYS, values, Noise(0.25, 1.0, pooled=True)).chance < 1e-8
    values[:] = 0
    values[[5, 20, 33, 47, 60, 84, 85, 87, 88]] = 5
    assert look(DAYS, values, Noise(0.25, 1.0, pooled=True)).chance > 1e-4


def test_a_run_of_wild_days_is_no_change_of_scatter() -> None:
    """Without a bell's shape the same numbers are less sure."""
    values = normal(6) / 10
    values[-7:] += 2
    bell, free = (look(DAYS, values, Noise(0.1, 1.0, pooled=True, bell=bell)).chance for bell in (True, False))
    assert bell < 1e-8 < free


def test_numbers_without_any_noise_are_no_error() -> None:
    """They repeat but for a step, or go up as a line does."""
    step = look(DAYS, np.where(DAYS >= 60, 3.0, 0.0), FLEET)
    line = look(DAYS, DAYS * 2, FLEET)
    assert (step.change, step.slope) == (3, None)
    assert (line.slope, line.change) == (2, 178)
