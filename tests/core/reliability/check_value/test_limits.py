"""Limits learned from the worst that good nodes told, and what they would have flagged."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.baseline import Margin
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.reliability.check_value.limits import (
    LIMITS,
    Flagged,
    Limit,
    Look,
    learn,
    look,
    misses,
    nested,
    replay,
)
from tests.core.checks.catalogue.judging import HEALTHY, judged

BY_KEY = {limit.key: limit for limit in LIMITS}
MARGIN = BY_KEY["limits.gpu_tlimit_margin_celsius"]
DISK = BY_KEY["disk_health.celsius_max"]
ROWS = BY_KEY["gpu_retired.remapped_uncorrectable_max"]
CLOCK = BY_KEY["time_sync.offset_seconds_max"]
FREE = BY_KEY["file_systems.free_share_min"]


def looks(limit: Limit, *worst: float, of: int = 5) -> list[Look]:
    """Return looks at as many nodes, the last of each at its worst."""
    better = 10.0 if limit.higher else -10.0
    return [
        Look(f"gpu-{node:02}", float(at), value + (better if at else 0.0))
        for node, value in enumerate(worst)
        for at in range(of)
    ]


def test_one_example_to_read() -> None:
    """Good nodes come as close as 20 C to their limits, half of them within one: 5 C beyond that is the limit."""
    found = looks(MARGIN, 19.0, 20.0, 20.0, 21.0, 20.5, 18.9)
    learned = learn(MARGIN, found, {"limits": {"gpu_tlimit_margin_celsius": 5}}, Margin())
    assert (learned.check, learned.nodes, learned.numbers) == ("gpu_thermals", 6, 30)
    assert (learned.median, learned.deviation) == (20.0, pytest.approx(0.75))
    assert (learned.mark, learned.now, learned.outside) == (16.0, 5, ())


@given(
    st.sampled_from([MARGIN, DISK, CLOCK, ROWS]),
    st.lists(st.floats(0, 100), min_size=5, max_size=60),
    st.floats(0, 10),
)
def test_a_limit_lies_beyond_what_good_nodes_usually_are_at_their_worst(
    limit: Limit, worst: list[float], deviations: float
) -> None:
    """At most a fiftieth of them is outside, and of few nodes none; and it is above nought."""
    learned = learn(limit, looks(limit, *worst), {}, Margin(deviations))
    if learned.mark is None:
        assert limit.higher
        assert learned.why.startswith("good nodes come down to ")
        return
    assert learned.mark > 0
    assert not misses(limit, learned.median or 0.0, learned.mark)
    assert len(learned.outside) <= 0.02 * len(worst)


def test_one_bad_node_among_the_good_does_not_move_a_limit_but_many_do() -> None:
    """Of a hundred nodes two may be outside: one that is worse is named. Of ten alike three are not odd."""
    steady = [50.0 + at % 3 for at in range(99)]
    learned = learn(DISK, looks(DISK, *steady, 95.0), {}, Margin())
    assert (learned.mark, learned.outside) == (56.0, ("gpu-99",))
    many = learn(DISK, looks(DISK, *[50.0] * 7, 80.0, 81.0, 82.0), {}, Margin())
    assert (many.mark, many.outside) == (82.0, ())


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ([], "not enough data: 0 looks at 0 good nodes, expected at least 20 of 5"),
        (looks(DISK, 50.0, 50.0, 50.0, 50.0, of=30), "not enough data: 120 looks at 4 good nodes"),
        (looks(DISK, 50.0, 50.0, 50.0, 50.0, 50.0, of=1), "not enough data: 5 looks at 5 good nodes"),
    ],
)
def test_too_few_nodes_or_looks_teach_nothing(found: list[Look], why: str) -> None:
    learned = learn(DISK, found, {"disk_health": {"celsius_max": 70}}, Margin())
    assert (learned.mark, learned.now) == (None, 70)
    assert learned.why.startswith(why)


def test_nodes_that_come_down_to_nought_leave_no_room_for_a_limit() -> None:
    learned = learn(FREE, looks(FREE, *[0.01] * 6), {}, Margin())
    assert learned.mark is None
    assert learned.why == "good nodes come down to 0.01: no limit above nought is beyond them"


@pytest.mark.parametrize(
    ("limit", "worst", "mark"),
    [(ROWS, 0.0, 1.0), (ROWS, 2.0, 3.0), (CLOCK, 0.0012, 0.0022), (FREE, 0.4567, 0.43), (ROWS, 511.5, 520.0)],
)
def test_a_limit_is_told_in_two_digits_to_the_lenient_side(limit: Limit, worst: float, mark: float) -> None:
    """Of what has no halves a whole number."""
    assert learn(limit, looks(limit, *[worst] * 6), {}, Margin()).mark == pytest.approx(mark)


def test_of_a_look_the_worst_part_counts_of_all_that_are_held_against_the_limit() -> None:
    """A GPU's memory is held against the same margin as the GPU is; a clock may be ahead or behind."""
    observed = {"margin_celsius": {"a": 30.0, "b": 22, "c": None}, "memory_margin_celsius": {"a": 19.0}}
    assert look(MARGIN, "gpu-01", 1.0, observed) == Look("gpu-01", 1.0, 19.0)
    assert look(CLOCK, "gpu-01", 1.0, {"offset_seconds": -0.5}) == Look("gpu-01", 1.0, 0.5)
    grown = look(ROWS, "gpu-01", 1.0, {"gpus": {"a": {"uncorrected": 0}, "b": {"uncorrected": 3}}})
    assert grown is not None
    assert grown.worst == 3


@pytest.mark.parametrize(
    "observed",
    [{}, {"celsius": 40.0}, {"celsius": {"a": "warm", "b": True, "c": None, "d": [1]}}, {"celsius": {"a": 4000.0}},
     {"celsius": {"a": math.nan}}, {"celsius": {}}],
)  # fmt: skip
def test_a_look_that_tells_nothing_that_can_be_is_none(observed: dict[str, object]) -> None:
    assert look(DISK, "gpu-01", 1.0, observed) is None


def test_what_would_have_been_flagged_is_told_with_what_became_of_it() -> None:
    found = [
        Look("gpu-01", 10.0, 60.0), Look("gpu-01", 20.0, 75.0), Look("gpu-01", 30.0, 74.0),
        Look("gpu-02", 10.0, 50.0), Look("gpu-03", 10.0, 71.0), Look("gpu-04", 10.0, 40.0),
    ]  # fmt: skip
    told = replay(DISK, 70.0, found, {"gpu-01": [5.0, 25.0], "gpu-03": [5.0], "gpu-04": [50.0]})
    assert told.flagged == (Flagged("gpu-01", 2, 3, 20.0, 75.0, 25.0), Flagged("gpu-03", 1, 1, 10.0, 71.0, None))
    assert (told.looks, told.nodes, told.bad, told.others_bad) == (6, 4, 1, 1)
    assert [each.worst for each in replay(MARGIN, 70.0, found, {}).flagged] == [60.0, 50.0, 40.0]


def test_numbers_by_their_keys_become_a_part_of_a_profile() -> None:
    changes = {"limits.gpu_margin": 5.0, "disk_health.celsius_max": 60.0, "disk_health.used": 0.5}
    told = nested(changes)
    assert told == {"limits": {"gpu_margin": 5}, "disk_health": {"celsius_max": 60, "used": 0.5}}
    assert isinstance(told["limits"]["gpu_margin"], int)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.key)
def test_every_limit_is_one_that_its_check_asks_its_profile_for(limit: Limit) -> None:
    """A limit that no check reads would be learned in vain."""
    assert not CHECKS[limit.check].active
    assert limit.key.startswith((f"{CHECKS[limit.check].section or limit.check}.", "limits."))
    assert limit.higher == (not limit.key.endswith("_max"))
    assert limit.least > 0
    assert {metric.check for metric in limit.metrics} == {limit.check}


@pytest.mark.parametrize("limit", [each for each in LIMITS if each.check in HEALTHY], ids=lambda limit: limit.key)
def test_what_a_healthy_node_observes_can_be_held_against_a_limit(limit: Limit) -> None:
    """Or tells no such number at all, as a GPU that has rows to remap tells no pages."""
    told = look(limit, "gpu-01", 1.0, judged(limit.check, HEALTHY[limit.check]).observed)
    assert told is None or math.isfinite(told.worst)


def test_most_limits_are_told_of_by_a_healthy_node() -> None:
    told = [
        limit.key
        for limit in LIMITS
        if limit.check in HEALTHY and look(limit, "a", 1.0, judged(limit.check, HEALTHY[limit.check]).observed)
    ]
    assert len(told) >= 8


def test_what_is_counted_since_a_boot_is_held_by_its_growth() -> None:
    assert [limit.key for limit in LIMITS if limit.is_counted] == ["memory_errors.corrected_per_day_max"]
