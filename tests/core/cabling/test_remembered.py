"""What a look at the counters leaves for the next one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling import remembered
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.quality import DAY, LONG_SECONDS, Count, Downs, End, Known
from fleet_runner.core.cabling.remembered import Joined, Marks, Memory, carried, joined, marks, plain, recall

NOW = 1_000_000.0
ONE, OTHER = End("a" * 16, 1), End("b" * 16, 33)

ends = st.builds(End, st.text("0123456789abcdef", min_size=16, max_size=16), st.integers(0, 255))
counts = st.integers(0, 65_535)
ports = st.dictionaries(ends, st.builds(Known, counts, counts, st.integers(0, 255)), max_size=9)
times = st.floats(0, 2e9).map(float)
edges = st.builds(joined, ends, ends)
links = st.dictionaries(
    edges, st.lists(st.builds(Downs, times, times, st.integers(1, 99)), max_size=3).map(tuple), max_size=3
)
named = st.builds(Port, st.text(max_size=5), st.text(max_size=5))
bad = st.dictionaries(edges, st.builds(link, named, named), max_size=3)

MARKS = Marks(NOW - 9000.0, NOW - 600.0)


def kept(**observed: Any) -> dict[str, Any]:
    """Return a result of ten minutes ago."""
    empty: dict[str, Any] = {"marks": [*MARKS], "whole": True, "ports": {}, "quiet": "", "downs": {}, "bad": {}}
    return {"at": NOW - 600.0, "observed": empty | observed}


def memory(known: dict[End, Known] | None = None, *, whole: bool = True, age: float = LONG_SECONDS) -> Memory:
    """Return what a look left that is so old, of a fabric of two devices."""
    return Memory(NOW - age, Marks(NOW - age, NOW - age), whole, known or {}, frozenset({ONE.guid, OTHER.guid}))


@given(ports, st.frozensets(ends.map(lambda end: end.guid), max_size=3), links, bad)
def test_what_is_kept_is_recalled(
    known: dict[End, Known], quiet: frozenset[str], flaps: dict[Joined, tuple[Downs, ...]], lost: dict[Joined, Any]
) -> None:
    devices = quiet | {end.guid for end in known}
    for whole in (True, False):
        left = Memory(NOW - 600.0, MARKS, whole, known, devices, flaps, lost)
        found = recall({"at": left.at, "observed": json.loads(json.dumps(plain(left)))}, NOW)
        assert found is not None
        assert (found.marks, found.whole, found.devices) == (left.marks, whole, devices)
        assert (found.downs, found.bad) == (flaps, lost)
        assert {end: found.known(end) for end in known} == known


@pytest.mark.parametrize(
    "before",
    [
        None,
        {},
        7,
        {"at": NOW - 600.0, "observed": {}},
        {**kept(), "at": "yesterday"},
        kept(marks=[NOW]),
        kept(marks=[NOW - 600.0, NOW - 9000.0]),
        kept(marks=[NOW - 600.0, NOW]),
        kept(bad={"a/1 b/2": ["gpu-01", "ib0", "leaf-1"]}),
        kept(ports=[]),
        kept(ports={"a": "1,2"}),
        kept(downs={"a": []}),
        kept(downs={"a/1 b": []}),
        kept(downs={"a/1 b/2": [[1]]}),
        {**kept(), "at": NOW},
        {**kept(), "at": NOW + 1},
        {**kept(), "at": NOW - DAY - 1},
    ],
)
def test_what_was_kept_in_another_form_or_at_another_time_is_nothing(before: object) -> None:
    """A clock that was set back, or a fabric that nobody looked at for days."""
    assert recall(before, NOW) is None


def test_a_port_that_a_whole_look_does_not_name_had_counted_nothing_if_its_device_was_there() -> None:
    assert memory().known(ONE) == Known(0, 0, 0)
    assert memory(whole=False).known(ONE) is None
    assert memory().known(End("c" * 16, 1)) is None


def test_a_link_is_the_same_whichever_end_is_named_first() -> None:
    assert joined(ONE, OTHER) == joined(OTHER, ONE) == Joined(ONE, OTHER)


def test_more_ports_than_can_be_kept_make_the_look_a_partial_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next look would take those left out for ports that had counted nothing."""
    monkeypatch.setattr(remembered, "MOST_PORTS", 1)
    observed = plain(memory({ONE: Known(1, 2, 3), OTHER: Known(4, 5, 6)}))
    assert (observed["whole"], observed["ports"]) == (False, {ONE.guid: "1,1,2,3"})


def test_what_a_whole_look_saw_without_any_count_takes_no_space() -> None:
    assert plain(memory({ONE: Known()}))["ports"] == {}
    assert plain(memory({ONE: Known()}, whole=False))["ports"] == {ONE.guid: "1,0,0,0"}


def test_a_mark_is_set_where_the_newest_is_old_enough_to_be_held_against() -> None:
    """So that a look's errors are those of between one and two spans, however often one is made."""
    first = marks(None, NOW)
    assert first == Marks(NOW, NOW)
    early = Memory(NOW, first)
    assert (early.soon(NOW + 600), early.since(NOW + 600), marks(early, NOW + 600)) == (True, NOW, first)
    later = NOW + LONG_SECONDS
    assert (early.soon(later), early.since(later), marks(early, later)) == (False, NOW, Marks(NOW, later))
    confirming = Memory(later, Marks(NOW, later))
    assert (confirming.soon(later + 600), confirming.since(later + 600)) == (True, NOW)


@given(st.lists(st.floats(60.0, 20_000.0), min_size=2, max_size=30))
def test_errors_are_held_against_a_mark_of_neither_too_short_nor_too_long_ago(pauses: list[float]) -> None:
    now, left = NOW, Memory(NOW, Marks(NOW, NOW))
    for pause in pauses:
        now += pause
        span = now - left.since(now)
        assert span >= LONG_SECONDS or left.since(now) == NOW
        assert span <= max(pauses) + 2 * LONG_SECONDS
        left = Memory(now, marks(left, now))


def test_the_first_look_carries_what_it_read() -> None:
    assert carried({ONE: Count(65_535, 1)}, None, NOW, whole=True) == {ONE: Known(65_535, 65_535, 1)}


def test_a_look_soon_after_a_mark_carries_both_marks_and_a_later_one_sets_the_next() -> None:
    known = {ONE: Known(3, 5, 1)}
    assert carried({ONE: Count(9, 2)}, memory(known, age=600.0), NOW, whole=True) == {ONE: Known(3, 5, 2)}
    assert carried({ONE: Count(9, 2)}, memory(known), NOW, whole=True) == {ONE: Known(5, 9, 2)}


def test_a_counter_that_ran_full_carries_what_it_was_before_until_it_is_cleared() -> None:
    """Else a link so bad that its counter ran full would be forgotten by the look that should confirm it."""
    left = memory({ONE: Known(2, 9, 1)})
    assert carried({ONE: Count(65_535, 2)}, left, NOW, whole=True) == {ONE: Known(9, 9, 2)}
    assert carried({ONE: Count(3, 0)}, left, NOW, whole=True) == {ONE: Known(3, 3, 0)}


@pytest.mark.parametrize("age", [600.0, LONG_SECONDS])
def test_counts_of_a_port_that_is_new_or_was_upset_or_restarted_are_carried_as_they_are(age: float) -> None:
    """Its counter may have run full long ago, or while its node booted: those errors are nobody's news."""
    known, full = memory({ONE: Known(2, 9, 1)}, age=age), Known(65_535, 65_535, 2)
    new = End("c" * 16, 1)
    assert carried({new: Count(65_535, 2)}, known, NOW, whole=True) == {new: full}
    assert carried({ONE: Count(65_535, 2)}, known, NOW, whole=True, upset={ONE}) == {ONE: full}
    assert carried({ONE: Count(65_535, 0)}, known, NOW, whole=True) == {ONE: Known(65_535, 65_535, 0)}


def test_a_port_that_did_not_answer_carries_what_it_had() -> None:
    left = memory({ONE: Known(2, 9, 1)}, age=600.0)
    assert carried({OTHER: Count(1, 0)}, left, NOW, whole=False) == {ONE: Known(2, 9, 1), OTHER: Known(0, 0, 0)}
    assert carried({OTHER: Count(1, 0)}, left, NOW, whole=True) == {OTHER: Known(0, 0, 0)}
    partial = memory(whole=False)
    assert carried({OTHER: Count(1, 0)}, partial, NOW, whole=True) == {OTHER: Known(1, 1, 0)}
    assert carried({OTHER: Count(1, 0)}, None, NOW, whole=False) == {OTHER: Known(1, 1, 0)}
