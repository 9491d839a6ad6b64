"""What a look at the counters leaves for the next one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling import remembered
from fleet_runner.core.cabling.quality import DAY, Count, Downs, End
from fleet_runner.core.cabling.remembered import Joined, Memory, carried, joined, plain, recall

NOW = 1_000_000.0
ONE, OTHER = End("a" * 16, 1), End("b" * 16, 33)

ends = st.builds(End, st.text("0123456789abcdef", min_size=16, max_size=16), st.integers(0, 255))
counts = st.dictionaries(ends, st.builds(Count, st.integers(0, 65_535), st.integers(0, 255)), max_size=9)
times = st.floats(0, 2e9).map(float)
links = st.dictionaries(
    st.builds(joined, ends, ends), st.lists(st.builds(Downs, times, times, st.integers(1, 99)), max_size=3).map(tuple)
)


def kept(**observed: Any) -> dict[str, Any]:
    """Return a result of ten minutes ago."""
    return {"at": NOW - 600.0, "observed": {"whole": True, "ports": {}, "downs": {}} | observed}


@given(counts, links, st.booleans())
def test_what_is_kept_is_recalled(
    known: dict[End, Count], flaps: dict[Joined, tuple[Downs, ...]], whole: bool
) -> None:
    observed = json.loads(json.dumps(plain(known, flaps, whole=whole)))
    assert recall({"at": NOW - 600.0, "observed": observed}, NOW) == Memory(NOW - 600.0, whole, known, flaps)


@pytest.mark.parametrize(
    "before",
    [
        None,
        {},
        7,
        {"at": NOW - 600.0, "observed": {}},
        {"at": "yesterday", "observed": {"whole": True, "ports": {}, "downs": {}}},
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


def test_a_port_that_a_whole_look_does_not_name_had_counted_nothing() -> None:
    assert Memory(NOW, whole=True, counts={}, downs={}).before(ONE) == Count(0, 0)
    assert Memory(NOW, whole=False, counts={}, downs={}).before(ONE) is None


def test_a_link_is_the_same_whichever_end_is_named_first() -> None:
    assert joined(ONE, OTHER) == joined(OTHER, ONE) == Joined(ONE, OTHER)


def test_more_ports_than_can_be_kept_make_the_look_a_partial_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next look would take those left out for ports that had counted nothing."""
    monkeypatch.setattr(remembered, "MOST_PORTS", 1)
    observed = plain({ONE: Count(1, 1), OTHER: Count(2, 2)}, {}, whole=True)
    assert (observed["whole"], observed["ports"]) == (False, {ONE.guid: "1,1,1"})


def test_the_first_look_carries_what_it_read() -> None:
    assert carried({ONE: Count(65_535, 1)}, None, whole=True) == {ONE: Count(65_535, 1)}


def test_a_counter_that_ran_full_carries_what_it_was_before_until_it_is_cleared() -> None:
    """Else a link so bad that its counter ran full would be forgotten by the look that should confirm it."""
    memory = Memory(NOW, whole=True, counts={ONE: Count(9, 1)}, downs={})
    assert carried({ONE: Count(65_535, 2)}, memory, whole=True) == {ONE: Count(9, 2)}
    assert carried({ONE: Count(65_535, 0)}, memory, whole=True) == {ONE: Count(65_535, 0)}, "its device restarted"
    assert carried({ONE: Count(3, 0)}, memory, whole=True) == {ONE: Count(3, 0)}


def test_a_port_that_did_not_answer_carries_what_it_had() -> None:
    memory = Memory(NOW, whole=True, counts={ONE: Count(9, 1)}, downs={})
    assert carried({OTHER: Count(1, 0)}, memory, whole=False) == {ONE: Count(9, 1), OTHER: Count(1, 0)}
    assert carried({OTHER: Count(1, 0)}, memory, whole=True) == {OTHER: Count(1, 0)}
    partial = Memory(NOW, whole=False, counts={}, downs={})
    assert carried({OTHER: Count(1, 0)}, partial, whole=True) == {OTHER: Count(1, 0)}
