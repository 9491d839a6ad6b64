"""Pickles of plain values are read; any other is refused, and nothing is ever called."""

import pickle
import struct
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.jobs import plain_pickle
from fleet_runner.core.jobs.plain_pickle import CutShortError, load

NUMBERS = st.integers(-(2**63), 2**64)
LEAVES = (
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False) | st.text(max_size=300) | st.binary(max_size=300)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner)
        | st.tuples(inner, inner, inner, inner)
        | st.dictionaries(st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(VALUES, st.integers(3, 5))
def test_what_python_wrote_is_read(value: object, protocol: int) -> None:
    """In every protocol that has bytes."""
    assert load(pickle.dumps(value, protocol)) == value


@given(VALUES, st.integers(3, 5), st.data())
def test_a_pickle_cut_anywhere_is_an_error(value: object, protocol: int, data: st.DataObject) -> None:
    """And says that it was cut, wherever its bytes end."""
    raw = pickle.dumps(value, protocol)
    with pytest.raises(CutShortError, match="unfinished"):
        load(raw[: data.draw(st.integers(0, len(raw) - 1))])


@given(
    st.binary(max_size=200) | st.lists(st.sampled_from(sorted(plain_pickle._INSTRUCTIONS)), max_size=30).map(bytes)
)
def test_no_bytes_raise_anything_else(raw: bytes) -> None:
    """Noise, and noise of known instructions."""
    with suppress(EvidenceError):
        load(b"\x80\x02" + raw)


class Bait:
    """Its pickle calls a function."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return sys.exit, ("called",)


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_called_by_name(protocol: int) -> None:
    """Python's own reader would end this test."""
    with pytest.raises(EvidenceError, match=r"builds more than plain values|expected"):
        load(pickle.dumps([1, Bait()], protocol))


def test_a_value_may_be_used_twice() -> None:
    """By both kinds of references; and a list may hold itself."""
    one = ["a"]
    many = [str(number) for number in range(300)]
    for protocol in (2, 4):
        assert load(pickle.dumps([one, one, many, many], protocol)) == [one, one, many, many]
    itself: list[object] = []
    itself.append(itself)
    found = load(pickle.dumps(itself, 2))
    assert isinstance(found, list)
    assert found[0] is found


def test_a_time_with_a_fraction_is_read() -> None:
    """As PyTorch writes how long an operation took."""
    assert load(pickle.dumps({"duration_ms": 1.5}, 2)) == {"duration_ms": 1.5}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\x80\x06N.", "protocol 6, expected at most 5"),
        (b"N.N.", "2 bytes behind the end"),
        (b"(.", "an end with unfinished values"),
        (b".", "an end with unfinished values"),
        (b"a", "without its value"),
        (b"Na", "a list that is none"),
        (b"e", "without its mark"),
        (b"(e", "a list that is none"),
        (b"(u", "a dictionary that is none"),
        (b"}(Nu", "a key without a value"),
        (b"}NNs.", "a key that is not text"),
        (b"q\x00", "without its value"),
        (b"h\x05", "value 5, which there is not"),
        (b"\x8a\xff", "a number of 255 bytes"),
        (b"(" * 40, "more than 32 containers"),
        (b"cos\nsystem\n.", "0x63, which builds more"),
        (b"I1\n.", "0x49, which builds more"),
    ],
)
def test_a_broken_pickle_says_where(raw: bytes, said: str) -> None:
    """The byte, and what was found there."""
    with pytest.raises(EvidenceError, match=said):
        load(raw)


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes, and instructions."""
    monkeypatch.setattr(plain_pickle, "MOST_STEPS", 3)
    with pytest.raises(EvidenceError, match="more than 3 instructions"):
        load(b"NNNN.")
    monkeypatch.setattr(plain_pickle, "MOST_BYTES", 3)
    with pytest.raises(EvidenceError, match="found 5 bytes, expected at most 3"):
        load(b"NNNN.")


def test_a_reference_of_any_number_takes_no_memory() -> None:
    """Python's own reader makes room for all numbers below it."""
    assert load(b"Nr" + struct.pack("<I", 2**31) + b".") is None
