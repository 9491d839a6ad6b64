"""Our own form of a signal: what can be meant is taken, a slip is named with its place."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.plain import MOST, read
from fleet_runner.core.faults.signals.signal import Signal, Source

HEARD = 1_790_000_000.0


def told(value: Any) -> tuple[Signal, ...]:
    """Read a value as JSON."""
    return read(json.dumps(value), HEARD)


def test_a_signal_is_taken_with_all_that_it_says() -> None:
    """The time may be a number, too."""
    row = {"node": "gpu-03", "code": "fan.noisy", "component": "fan 2", "message": "it\nrattles", "key": "k"}
    (found,) = told([row | {"at": HEARD - 60, "ended": True}])
    said = Signal("gpu-03", "fan.noisy", "fan 2", HEARD - 60, Source.OPERATOR, "it rattles", ended=True, key="k")
    assert found == said


def test_node_and_code_are_enough() -> None:
    """It is said now, and its code is all that is to be read."""
    assert told({"node": "gpu-03", "code": "xid.79"}) == (
        Signal("gpu-03", "xid.79", "", HEARD, Source.OPERATOR, "xid.79", Remedy.WATCH),
    )
    assert told([]) == ()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (5, "signal 1: found 5, expected an object"),
        ([{"node": "a", "code": "b"}, {"node": "a"}], "signal 2: code is missing"),
        ({"code": "b"}, "signal 1: node is missing"),
        ({"node": "a", "code": "b", "remedy": "RMA"}, "'remedy' is no field"),
        ({"node": ["a"], "code": "b"}, r"node is \['a'\], expected a text"),
        ({"node": "a", "code": "b" * 121}, "expected a text of at most 120"),
        ({"node": "a", "code": "b", "ended": "yes"}, "ended is 'yes', expected true or false"),
        ({"node": "a", "code": "b", "at": "soon"}, "at is 'soon', expected a time"),
        ([{}] * (MOST + 1), "expected at most 1000"),
    ],
)
def test_a_slip_is_named_with_its_place(value: Any, why: str) -> None:
    """Nothing of the push is taken then."""
    with pytest.raises(EvidenceError, match=why):
        told(value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"node": NaN}'])
def test_what_is_no_json_is_said_to_be_none(text: str) -> None:
    """Deep nesting, too."""
    with pytest.raises(EvidenceError, match="not JSON"):
        read(text, HEARD)


KEYS = st.sampled_from(["node", "code", "at", "ended", "key", "message", "x"])
LEAVES = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(LEAVES, lambda each: st.lists(each) | st.dictionaries(KEYS, each)))
def test_whatever_is_pushed_is_read_or_refused(value: Any) -> None:
    """No other error comes out of it."""
    with suppress(EvidenceError):
        assert all(each.node and each.code for each in told(value))
