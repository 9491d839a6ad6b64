"""A history and its form as JSON lines."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.faults.simulation.history import (
    Fault,
    FleetHistory,
    HistoryError,
    Known,
    Line,
    PastRemedy,
    Use,
    past,
    read,
    written,
)

names = st.sampled_from(["gpu-01", "gpu-02"])
times = st.floats(0, 2e9)
words = st.text(max_size=10)
lines: st.SearchStrategy[Line] = st.one_of(
    st.builds(Known, names, words, words, words, words),
    st.builds(Fault, names, words, words, words, words, st.sampled_from(["RESET", "TRIAGE"]), times, times, words),
    st.builds(Use, names, times, times),
    st.builds(
        PastRemedy, names, st.just("REBOOT"), st.lists(words, max_size=2).map(tuple), times, st.none() | st.booleans()
    ),
)


@given(st.lists(lines, max_size=12))
def test_what_is_written_is_read_again(told: list[Line]) -> None:
    """To the last word, in order."""
    found = past(told)
    assert read(written(found), "h") == found


@given(st.text(max_size=60) | st.dictionaries(words, st.none() | words | times, max_size=4).map(json.dumps))
def test_whatever_a_line_says_it_is_read_or_refused(text: str) -> None:
    """And never ends the program."""
    with suppress(HistoryError):
        assert len(read([text], "h.jsonl").nodes) <= 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "h:1: found no JSON object"),
        ("[" * 9000, "h:1: found no JSON object"),
        ("7", 'h:1: expected an object with "kind": one of node, fault, use, tried'),
        ('{"kind": "use", "node": "n", "begins": 1}', "h:1: expected these fields too: ends"),
        ('{"kind": "use", "node": "n", "begins": -1, "ends": 2}', "h:1: begins: found -1, expected seconds"),
        ('{"kind": "use", "node": "n", "begins": true, "ends": 2}', "h:1: begins: found True"),
        ('{"kind": "node", "node": 7}', "h:1: node: found 7, expected a text"),
        ('{"kind": "node", "name": "n"}', "h:1: found the field 'name', expected one of node"),
        ('{"kind": "tried", "node": "n", "remedy": "MAGIC"}', "h:1: remedy: found 'MAGIC', expected one of RECORD"),
        ('{"kind": "tried", "node": "n", "remedy": "RESET", "faults": "f", "at": 1}', "h:1: faults: found 'f'"),
        ('{"kind": "tried", "node": "n", "remedy": "RESET", "faults": [], "at": 1, "helped": 1}', "h:1: helped"),
        ("x" * 20_001, "h:1: found 20001 characters"),
    ],
)
def test_a_line_that_is_none_is_told(text: str, told: str) -> None:
    """Where, what was found, what was expected."""
    with pytest.raises(HistoryError) as refused:
        read([text], "h")
    assert str(refused.value).startswith(told)


def test_a_history_has_an_end_and_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a fault there is nothing to decide; too many lines are refused."""
    with pytest.raises(FleetError, match="has no fault"):
        FleetHistory().span()
    found = past([Fault("n", "c", "", "f", "m", "RESET", 5.0), PastRemedy("n", "RESET", ("f",), 9.0)])
    assert found.span() == (5.0, 9.0)
    assert found.nodes == {"n": Known("n", "")}
    monkeypatch.setattr("fleet_runner.core.faults.simulation.history.MOST", 1)
    with pytest.raises(HistoryError, match="h:2: expected at most 1 lines"):
        read(['{"kind": "node", "node": "n", "device_type": "t"}'] * 2, "h")
