"""Counters that are remembered from look to look."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.shared.counter_growth import DAY, growth

COUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 1000))


def look(counts: dict[str, int], looks: Any, now: float) -> Any:
    """Look once, with what an earlier look remembered."""
    before = {"mine": {"at": 0.0, "observed": {"looks": looks}}}
    return growth("mine", counts, Reading("x", ReadEnd.OK, at=now), Expected("n", run={"before": before, "now": now}))


@given(looks=st.lists(st.tuples(st.floats(60, 2 * DAY), COUNTS), min_size=1, max_size=12))
def test_no_counter_grows_by_more_than_it_counts_and_two_looks_are_kept(
    looks: list[tuple[float, dict[str, int]]],
) -> None:
    """Whatever was cleared, replaced or new in between; and what is kept is plain JSON."""
    kept: Any = []
    now = 1e9
    for after, counts in looks:
        now += after
        found = look(counts, json.loads(json.dumps(kept)), now)
        assert all(0 < grown <= counts[key] for key, grown in found.grown.items())
        assert len(found.looks) <= 2
        assert found.seconds >= 0
        kept = found.looks


@given(step=st.floats(60, DAY / 2), rate=st.integers(1, 50))
def test_steady_growth_is_told_over_at_most_a_day_and_two_steps(step: float, rate: int) -> None:
    """The window slides: it is never longer than a day and the time between three looks."""
    kept: Any = []
    for nth in range(60):
        found = look({"a": nth * rate}, kept, 1e9 + nth * step)
        kept = found.looks
        assert found.seconds <= DAY + 2 * step
        assert found.grown.get("a", 0) == round(found.seconds / step) * rate


def test_the_first_look_tells_nothing() -> None:
    """A counter that is full of old errors says nothing about today."""
    found = look({"a": 500}, [], 1e9)
    assert (found.grown, found.seconds, found.hours) == ({}, 0.0, "0.0 h")


def test_a_counter_that_fell_was_cleared_and_a_new_one_is_a_new_part() -> None:
    """After a reboot counting begins anew; a disk that was put in brings its own past."""
    kept = [{"at": 1e9, "counts": {"a": 500, "b": 2}}]
    assert look({"a": 3, "b": 2, "c": 9}, kept, 1e9 + 60).grown == {"a": 3}


@pytest.mark.parametrize(
    "looks",
    [None, "x", {}, [1], [{"at": "x", "counts": {}}], [{"at": 1e9, "counts": 3}], [{"at": 2e9, "counts": {"a": 1}}]],
)
def test_what_was_remembered_wrongly_was_never_remembered(looks: Any) -> None:
    """An older release may have kept something else; nothing can have been seen later than now."""
    assert look({"a": 5}, looks, 1e9 + 60).seconds == 0


@pytest.mark.parametrize("before", [None, 1, {"mine": 1}, {"mine": {"observed": 1}}, {}])
def test_a_run_without_a_memory_has_none(before: Any) -> None:
    """The reading's own time stands in for the run's."""
    reading = Reading("x", ReadEnd.OK, at=7.0)
    found = growth("mine", {"a": 1}, reading, Expected("n", run={"before": before}))
    assert found.looks == [{"at": 7.0, "counts": {"a": 1}}]


def test_counts_that_are_no_counts_are_forgotten() -> None:
    """Of a row that can be read otherwise."""
    kept = [{"at": 1e9, "counts": {"a": -1, "b": True, "c": 1.5, "d": 1}}]
    assert look(dict.fromkeys("abcd", 4), kept, 1e9 + 60).grown == {"d": 3}
