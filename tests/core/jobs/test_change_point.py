"""Since when a rank takes longer than the others: one clear change, or nothing."""

import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fleet_runner.core.jobs.change_point import FEWEST, Change, find

Points = list[tuple[float, float]]
Times = Callable[[float], float]
EVERY = 10.0


def points(count: int, seed: int, times: Times = lambda _: 1.0, *, apart: float = EVERY) -> Points:
    """Return a value of 1 so often, with 2 % of noise, and one in a hundred with a hiccup."""
    chance = random.Random(seed)
    return [
        (
            at := number * apart + chance.uniform(0, 1),
            times(at) * chance.gauss(1, 0.02) * (chance.uniform(1.5, 4) if chance.random() < 0.01 else 1.0),
        )
        for number in range(count)
    ]


def others(count: int, times: Times = lambda _: 1.0) -> list[Points]:
    return [points(count, seed, times) for seed in range(1_000, 1_007)]


def after(moment: float, by: float) -> Times:
    return lambda at: by if at >= moment else 1.0


@given(st.integers(20, 256), st.data(), st.floats(1.2, 4), st.integers(0, 999))
def test_a_change_is_found_where_it_was(count: int, data: st.DataObject, by: float, seed: int) -> None:
    """However early or late, if enough values lie on both sides; a hiccup beside it moves it by some values."""
    number = data.draw(st.integers(FEWEST + 3, count - FEWEST - 3))
    found = find(points(count, seed, after(number * EVERY, by)), others(count), by)
    assert found is None or abs(found.after - number * EVERY) <= 3 * EVERY
    hiccups = [value for _, value in points(count, seed) if value > 1.2]
    assume(not hiccups)
    assert found is not None
    assert found.before < number * EVERY + 1
    assert found.after >= number * EVERY


@given(st.integers(0, 256), st.floats(1.2, 4), st.integers(0, 999), st.booleans())
def test_where_nothing_changed_nothing_is_told(count: int, by: float, seed: int, slow: bool) -> None:
    """A rank that was slow from the beginning, and one that is as fast as the others."""
    assert find(points(count, seed, lambda _: by if slow else 1.0), others(count), by) is None


@given(st.integers(0, 256), st.floats(1.2, 4), st.integers(0, 999))
def test_what_changes_for_all_is_no_change(count: int, by: float, seed: int) -> None:
    """A longer sequence, another phase of the training."""
    phase = after(count * EVERY / 2, 3.0)
    mine = points(count, seed, lambda at: by * phase(at))
    assert find(mine, others(count, phase), by) is None


@pytest.mark.parametrize(
    "times",
    [
        lambda at: 1 + at / 2_000,
        lambda at: 2.0 if int(at // 500) % 2 else 1.0,
        lambda at: 2.0 if 300 <= at < 500 or at >= 1_000 else 1.0,
        lambda at: 2.0 if at < 1_000 else 1.0,
        lambda at: 1.8 if at < 1_000 else 2.2,
        lambda at: 2.0 if at >= 1_970 else 1.0,
    ],
    ids=["little by little", "by turns", "once before", "until a moment", "a little more", "a moment ago"],
)
def test_what_is_no_one_clear_change_is_not_told(times: Times) -> None:
    assert find(points(200, 1, times), others(200), 2.0) is None


def test_where_less_is_worse_a_change_is_a_fall() -> None:
    """Tokens a second."""
    found = find(points(200, 1, after(1_000, 0.5)), others(200), 0.5)
    assert found is not None
    assert (int(found.before), int(found.after)) == (990, 1_000)


def test_too_few_others_tell_nothing() -> None:
    """Or none that were there at the same time."""
    mine = points(200, 1, after(1_000, 2.0))
    assert find(mine, others(200)[:2], 2.0) is None
    later = [[(at + 10_000, value) for at, value in each] for each in others(200)]
    assert find(mine, later, 2.0) is None
    assert find(mine, [each[:1] for each in later], 2.0) is None
    assert find(mine, [], 2.0) is None
    assert find([], others(200), 2.0) is None


def test_of_many_others_some_are_enough() -> None:
    assert find(points(200, 1, after(1_000, 2.0)), [points(200, seed) for seed in range(130)], 2.0) is not None


def test_values_far_from_each_other_tell_two_moments() -> None:
    """One in an hour."""
    assert Change(0.0, 90.0).words("UTC") == "since 1970-01-01 00:01 UTC"
    assert Change(0.0, 7_200.0).words("UTC") == "since a moment between 1970-01-01 00:00 and 1970-01-01 02:00 UTC"
