"""The pass over all series at once: how it scores, and what it takes for noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends.drift import FEWEST_FOR_CHANCE, MOST_SUSPECTS, SUSPICIOUS, Scan, scan

ROWS, DAYS = 400, 90


def normal(seed: int, like: float = 0.0) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return noise of which each day has so much of the one before."""
    values = np.random.default_rng(seed).normal(size=(ROWS, DAYS))
    for day in range(1, DAYS):
        values[:, day] += like * values[:, day - 1]
    return (values - np.median(values, axis=1, keepdims=True)).astype(np.float32)


@given(st.integers(0, 10_000), st.floats(0.001, 1_000))
def test_scores_do_not_depend_on_the_unit(seed: int, scale: float) -> None:
    """Nor on which way is up."""
    values = normal(seed)[:20]
    first, other = scan(values, 0.0), scan(-values * np.float32(scale), 0.0)
    assert first.score == pytest.approx(other.score, rel=1e-2)
    assert first.noise * scale == pytest.approx(other.noise, rel=1e-2)


def test_noise_is_not_suspicious_and_jumps_are() -> None:
    """The larger ones first."""
    values = normal(2)
    values[7, 60:] += 5
    values[9, 60:] += 9
    scanned = scan(values, 0.1)
    rows, more = scanned.suspects()
    assert (rows.tolist(), more) == ([9, 7], 0)
    assert scanned.noise.mean() == pytest.approx(1, abs=0.05)
    assert scanned.noise[9] < 1.6  # a jump is one difference of many


def test_days_that_are_much_alike_are_not_taken_for_drifts() -> None:
    """All of the fleet says how much that is."""
    scanned = scan(normal(2, like=0.7), 0.1)
    assert scanned.pooled
    assert scanned.inflation > 3
    assert scanned.suspects()[0].tolist() == []


def test_few_series_do_not_say_what_chance_is() -> None:
    """They have nothing but themselves."""
    scanned = scan(normal(2, like=0.7)[: FEWEST_FOR_CHANCE - 1], 0.1)
    assert (scanned.pooled, scanned.inflation) == (False, 1.0)


def test_no_more_suspects_are_looked_at_than_it_takes() -> None:
    """The rest is counted."""
    score = np.full(MOST_SUSPECTS + 5, SUSPICIOUS, np.float32)
    rows, more = Scan(score, score, score, 1.0, pooled=True).suspects()
    assert (len(rows), more) == (MOST_SUSPECTS, 5)


@pytest.mark.parametrize("days", [1, 2, 10])
def test_what_is_too_short_to_be_cut_scores_nothing(days: int) -> None:
    """Without an error."""
    assert scan(np.zeros((3, days), np.float32), 1).score.tolist() == [0, 0, 0]
    assert scan(np.full((3, 90), np.nan, np.float32), 1).score.tolist() == [0, 0, 0]


def test_gaps_count_for_nothing() -> None:
    """A series with every second day missing jumps where it jumps."""
    values = normal(4)
    values[:, ::2] = np.nan
    values[3, 60:] += 9
    assert scan(values, 0.1).suspects()[0].tolist() == [3]


def test_no_series_are_no_suspects() -> None:
    """An empty fleet has none."""
    assert scan(np.empty((0, DAYS), np.float32), 1.0).suspects()[0].tolist() == []
