"""Tests of pairs of nodes in one text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers.path_tests import LONGEST, PathsTold, PathTest, parse, written

NAME = st.text(min_size=1, max_size=5)
PORT = st.builds(Port, NAME, NAME)
TESTS = st.builds(
    PathTest,
    PORT,
    PORT,
    st.tuples(NAME, NAME),
    st.integers(1, 500),
    st.lists(st.builds(link, PORT, PORT), max_size=3).map(tuple),
    st.none() | st.floats(0, 900),
    st.none() | st.floats(0, 900),
    st.text(max_size=9),
    st.text(max_size=9),
)


@given(st.lists(TESTS, max_size=4).map(tuple), st.integers(0, 99), st.dictionaries(NAME, NAME, max_size=3))
def test_what_was_written_is_read(tests: tuple[PathTest, ...], links: int, uncovered: dict[str, str]) -> None:
    told = PathsTold(tests, links, uncovered)
    assert parse(json.dumps(written(told))) == told


def test_why_is_cut_to_a_sentence() -> None:
    one = PathTest(Port("a", "b"), Port("c", "d"), ("e", "f"), 1, (), None, None, untold="x" * 999)
    (row,) = written(PathsTold((one,), 1, {}))["path_tests"]
    assert len(row["untold"]) == LONGEST


ROW: dict[str, Any] = {"from": ["a", "b"], "to": ["c", "d"], "leaves": ["e", "f"], "ways": [], "gbitps": 1}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"from": ["a"]}, "expected 2 names"),
        ({"to": "ab"}, "expected 2 names"),
        ({"leaves": ["e", 3]}, "expected 2 names"),
        ({"ways": None}, "expected 4 names"),
        ({"ways": [["a", "b"]]}, "expected 4 names"),
        ({"gbitps": "fast"}, "'fast' Gb/s, expected a number"),
    ],
)
def test_a_test_that_cannot_be_read_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(EvidenceError, match=why):
        parse(json.dumps({"path_tests": [ROW | changed], "links": 1, "uncovered": {}}))


@pytest.mark.parametrize("changed", [{"links": None}, {"uncovered": []}])
def test_without_what_is_covered_nothing_is_read(changed: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError, match="expected how many links"):
        parse(json.dumps({"path_tests": [], "links": 1, "uncovered": {}} | changed))
