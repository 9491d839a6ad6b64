"""What a check observed as rows, whatever it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.observed import LONGEST, MOST_ROWS, Row, rows

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("observed", "said"),
    [
        ({"offset_seconds": 0.001}, [("offset_seconds", "0.001")]),
        ({"in_use": False, "working": True, "by": None}, [("in_use", "no"), ("working", "yes"), ("by", "—")]),
        ({"gpus": [{"c": 40}, {"c": 91}]}, [("gpus.0.c", "40"), ("gpus.1.c", "91")]),
        ({"silent": ["eth0", "eth1"], "none": []}, [("silent", "eth0, eth1"), ("none", "—")]),
        ({"empty": {}, "blank": ""}, [("empty", "—"), ("blank", "—")]),
        ({}, []),
        (None, []),
        ([1, 2], [("", "1, 2")]),
        ({"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}}, [("a.b.c.d.e.f", "{'g': 1}")]),
    ],
)  # fmt: skip
def test_facts_are_rows(observed: Any, said: list[tuple[str, str]]) -> None:
    assert rows(observed).rows == tuple(Row(*each) for each in said)


def test_a_huge_value_is_cut_and_says_how_long_it_was() -> None:
    ((_, value),) = rows({"log": "x" * 100_000}).rows
    assert value == "x" * LONGEST + "… (100000 characters)"


def test_many_facts_are_cut_and_it_is_said() -> None:
    assert rows({str(at): at for at in range(MOST_ROWS)}).more is False
    found = rows({str(at): at for at in range(MOST_ROWS + 1)})
    assert (len(found.rows), found.more) == (MOST_ROWS, True)


@given(JSON)
def test_whatever_was_observed_is_bounded(observed: Any) -> None:
    found = rows(observed).rows
    assert len(found) <= MOST_ROWS
    assert all(len(row.value) <= LONGEST + 40 and len(row.name) <= LONGEST for row in found)
