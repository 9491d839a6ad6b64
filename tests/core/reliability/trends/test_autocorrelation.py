"""How much days are like the one before: what a fleet knows of it, and what is left without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends import autocorrelated
from fleet_runner.core.reliability.trends.autocorrelated import Autocorrelation
from fleet_runner.core.reliability.trends.autocorrelation import NEW, likeness, without
from fleet_runner.core.reliability.trends.exact import Noise, look
from tests.examples import examples

ROWS, DAYS = 600, 90
Numbers = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def noise(like: float, seed: int = 1, rows: int = ROWS) -> Numbers:
    """Return noise of 1 of which each day has so much of the one before; some days are missing."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, DAYS + 50)) * np.sqrt(1 - like**2)
    for day in range(1, values.shape[1]):
        values[:, day] += like * values[:, day - 1]
    values[random.random(values.shape) < 0.05] = np.nan
    return values[:, 50:].astype(np.float32)


@pytest.mark.parametrize("like", [0.4, 0.7, 0.9])
def test_a_fleet_knows_how_much_alike_its_days_are(like: float) -> None:
    """And that its series do not differ in it, though some of them jump."""
    values = noise(like)
    values[:30, 50:] += 5
    known = likeness(values)
    assert known.middle == pytest.approx(like, abs=0.05)
    assert known.varies == 0
    assert known.of(values).tolist() == [pytest.approx(known.middle)] * ROWS


def test_series_that_differ_are_told_from_each_other() -> None:
    """Half of them are alike to a tenth, and half to eight."""
    known = likeness(np.concatenate([noise(0.1), noise(0.8, seed=2)]))
    mine = known.of(np.concatenate([noise(0.1, seed=3), noise(0.8, seed=4), np.full((1, DAYS), np.nan, np.float32)]))
    assert known.varies > 0.1
    assert mine[:ROWS].mean() + 0.3 < mine[ROWS:-1].mean()
    assert mine[-1] == pytest.approx(known.middle)


def test_days_that_are_new_or_few_series_are_taken_as_new() -> None:
    """Nor is anything known of numbers that never change, of two days, and of none."""
    assert likeness(noise(0.0)) == NEW
    assert likeness(noise(0.7)[:40]) == NEW
    assert likeness(np.zeros((ROWS, DAYS), np.float32)) == NEW
    assert likeness(noise(0.7)[:, :2]) == NEW
    assert likeness(np.empty((0, DAYS), np.float32)) == NEW


def test_what_is_left_without_the_day_before_is_new() -> None:
    """Whatever days are missing, it is as one series at a time has it."""
    values = noise(0.7)
    values[0, :10] = np.nan
    left = without(values, np.full(ROWS, 0.7, np.float32))
    assert np.nanstd(left) == pytest.approx(np.sqrt(1 - 0.7**2), abs=0.02)
    assert np.nanmean(left[:, 1:] * left[:, :-1]) == pytest.approx(0, abs=0.02)
    for row in range(3):
        there = ~np.isnan(values[row])
        alone = autocorrelated.news(np.nonzero(there)[0].astype(float), values[row][there].astype(float), 0.7)
        assert left[row][there] == pytest.approx(alone, abs=1e-5)
    assert without(values, np.zeros(ROWS, np.float32)) is values


ALL = np.arange(90, dtype=np.float64)
LASTING = Noise(0.714, 1.0, pooled=True, lasting=Autocorrelation(0.714, 1.0, 0.7, 0.7))


def one(like: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a series of 90 days with a noise of 1."""
    values = np.random.default_rng(seed).normal(size=140) * np.sqrt(1 - like**2)
    for day in range(1, 140):
        values[day] += like * values[day - 1]
    return values[50:]


@given(st.integers(0, 10_000), st.integers(15, 60), st.sampled_from([-12.0, 10.0]))
@settings(max_examples=examples(30))
def test_a_jump_within_noise_that_lasts_is_seen_on_its_day(seed: int, ago: int, size: float) -> None:
    """Or nearly; its first day says most of it."""
    values = one(0.7, seed) / 2
    values[-ago:] += size / 2
    change = look(ALL, values, Noise(0.357, 1.0, pooled=True, lasting=Autocorrelation(0.357, 1.0, 0.7, 0.7)))
    assert change.change * size > 0
    assert change.chance < 1e-4


@given(st.integers(0, 10_000), st.integers(40, 60))
@settings(max_examples=examples(30))
def test_a_drift_within_noise_that_lasts_is_seen(seed: int, ago: int) -> None:
    """With its slope."""
    values = one(0.7, seed)
    values[-ago:] += 0.4 * np.arange(1, ago + 1)
    change = look(ALL, values, LASTING)
    assert change.slope == pytest.approx(0.4, abs=0.2)
    assert change.chance < 1e-6


@given(st.integers(0, 10_000))
@settings(max_examples=examples(40))
def test_noise_that_lasts_is_likely_to_be_noise(seed: int) -> None:
    """It is one series of many."""
    assert look(ALL, one(0.7, seed), LASTING).chance > 1e-4


@given(st.integers(0, 10_000), st.integers(7, 16), st.floats(10, 80))
@settings(max_examples=examples(30))
def test_one_wild_day_and_what_lasts_of_it_is_no_jump(seed: int, ago: int, size: float) -> None:
    """However wild it was: it is news of one day, and goes as noise does."""
    values = one(0.7, seed)
    values[-ago:] += size * 0.7 ** np.arange(ago)
    assert look(ALL, values, LASTING).chance > 1e-8


@given(st.integers(0, 10_000))
@settings(max_examples=examples(30))
def test_what_goes_down_and_then_up_as_far_is_no_drift(seed: int) -> None:
    """A line goes on from the level before it: one that begins below it has not come as far as it goes."""
    values = one(0.7, seed) / 2
    values[-17:] += np.linspace(-4, 4, 17)
    assert look(ALL, values, LASTING).chance > 1e-8


def test_a_series_whose_days_are_oddly_alike_is_believed() -> None:
    """What would be a change in the metric's noise is none in its own; where series differ, half of that is known."""
    values = one(0.93, 5)
    rest = values - np.median(values)
    shape = (ALL >= 60).astype(np.float64)
    as_fleet, own, differs = (
        autocorrelated.weighed(ALL, rest, shape, Autocorrelation(0.3, 1.0, 0.2, middle, varies)).level
        for middle, varies in ((0.9, 0.0), (0.2, 0.0), (0.2, 0.2))
    )
    assert own > 1.2
    assert differs > 1.2
    assert as_fleet > 1.2
    assert autocorrelated.weighed(ALL, rest * 0, shape, Autocorrelation(0.3, 1.0, 0.2, 0.2)).level == pytest.approx(
        0.3 / 0.8
    )
