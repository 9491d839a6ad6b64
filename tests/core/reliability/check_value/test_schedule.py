"""A proposed schedule keeps what finds faults, makes rare what does not, and says what it misses."""

import random
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.check_value.schedule import (
    EVERY,
    FEWEST,
    MOST_LATER,
    WEEK,
    Caught,
    Timed,
    outcome,
    plan,
    propose,
)

SHORT, LONG = Timed("gemm", 2.0, 1.0), Timed("training", 8.0, 1.0)


def some(check: str, count: int, lasts: float = inf) -> list[Caught]:
    """Return faults that one test found."""
    return [Caught(f"gpu-{at:03}", {check: 0.0}, lasts) for at in range(count)]


def test_one_example_to_read() -> None:
    """One test catches what passes in an hour, the other finds nothing: it comes once a week, the first as it did."""
    proposed = propose([SHORT, LONG], some("gemm", 50, 0.0))
    assert proposed is not None
    assert proposed.plan == {"gemm": 1, "training": 168}
    assert (proposed.miss.value, proposed.later_hours) == (0.0, 0.0)
    assert proposed.miss.high == pytest.approx(0.071, abs=1e-3)
    assert LONG.minutes_a_week(168) == 8.0


def test_a_fault_that_stays_is_found_later_but_not_missed() -> None:
    """At one of 24 rounds it is found 11.5 hours later on average, within the twelve that are allowed."""
    proposed = propose([SHORT], some("gemm", 50))
    assert proposed is not None
    assert (proposed.plan, proposed.miss.value, proposed.later_hours) == ({"gemm": 24}, 0.0, 11.5)


def test_what_others_see_too_needs_no_test() -> None:
    mine = [Caught(f"gpu-{at:03}", {"gemm": 0.0, "": 0.2}, 0.0) for at in range(50)]
    proposed = propose([SHORT], mine)
    assert proposed is not None
    assert (proposed.plan, proposed.miss.value) == ({"gemm": 168}, 0.0)
    assert proposed.later_hours == pytest.approx(0.2)


def test_too_few_faults_or_no_test_propose_nothing() -> None:
    assert propose([SHORT], some("gemm", FEWEST - 1)) is None
    assert propose([], some("gemm", FEWEST)) is None
    assert propose([SHORT], some("gemm", FEWEST)) is not None


def test_no_test_comes_less_than_once_a_week() -> None:
    assert plan([Timed("dcgm", 15.0, 24.0), Timed("gpu_burn", 60.0, 100.0)], []) == {"dcgm": 4, "gpu_burn": 1}


def test_two_tests_that_both_see_a_moment_miss_it_only_together() -> None:
    fault = Caught("gpu-01", {"gemm": 0.0, "training": 1.0}, 0.0)
    missed, late = outcome(fault, {"gemm": 4, "training": 2}, {"gemm": 1.0, "training": 1.0})
    assert (missed, late) == (0.375, 1.5)
    lasting = Caught("gpu-01", {"gemm": 0.0}, inf)
    assert outcome(lasting, {"gemm": 4}, {"gemm": 2.0}) == (0.0, 3.0)


@pytest.mark.parametrize(
    ("lasts", "every", "missed"), [(0.0, 1, 0.0), (3.0, 4, 0.0), (3.0, 12, 2 / 3), (0.0, 24, 23 / 24)]
)
def test_what_passes_is_missed_by_how_long_it_was_there(lasts: float, every: int, missed: float) -> None:
    fault = Caught("gpu-01", {"gemm": 0.0}, lasts)
    assert outcome(fault, {"gemm": every}, {"gemm": 1.0})[0] == pytest.approx(missed)


FAULTS = st.lists(
    st.builds(
        Caught,
        st.sampled_from([f"gpu-{at}" for at in range(30)]),
        st.dictionaries(st.sampled_from(["gemm", "training", ""]), st.floats(0, 40), min_size=1),
        st.one_of(st.just(inf), st.floats(0, 100)),
    ),
    max_size=40,
)


@given(FAULTS)
def test_a_plan_keeps_within_its_bounds_on_what_it_was_made_from(faults: list[Caught]) -> None:
    made = plan([SHORT, LONG], faults)
    hours = {"gemm": 1.0, "training": 1.0}
    today = dict.fromkeys(made, 1)
    missed = sum(outcome(fault, made, hours)[0] for fault in faults)
    later = 0.0
    for fault in faults:
        (miss, late), (_, before) = outcome(fault, made, hours), outcome(fault, today, hours)
        later += late * (1 - miss) - before
    assert set(made) == {"gemm", "training"}
    assert all(every in EVERY and every <= WEEK for every in made.values())
    assert missed <= 0.02 * len(faults) + 1e-3
    assert later <= MOST_LATER * len(faults) + 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_what_it_is_expected_to_miss_holds_on_faults_that_it_never_saw(seed: int) -> None:
    """Of many that pass in an hour, drawn from the same kinds, it misses what its interval says."""
    chance = random.Random(seed)
    kinds = [({"gemm"}, 0.5), ({"training"}, 0.02), ({"gemm", "training"}, 0.48)]

    def drawn(count: int) -> list[Caught]:
        picked = chance.choices([tests for tests, _ in kinds], [weight for _, weight in kinds], k=count)
        return [Caught(f"gpu-{chance.randrange(200)}", dict.fromkeys(sorted(each), 0.0), 0.0) for each in picked]

    proposed = propose([SHORT, LONG], drawn(200))
    assert proposed is not None
    fresh = drawn(5_000)
    truth = sum(outcome(fault, proposed.plan, {"gemm": 1.0, "training": 1.0})[0] for fault in fresh) / len(fresh)
    assert proposed.miss.low <= truth <= proposed.miss.high
