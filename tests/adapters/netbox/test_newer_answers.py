"""What NetBox 4.7 answers otherwise than those before: selections with labels, and changes of several rows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.netbox.refusals import absent, said
from fleet_runner.adapters.netbox.selections import plain

GONE = {"detail": "Some rows are wrong.", "errors": [
    {"id": 7, "errors": {"id": ["Object with ID 7 does not exist"]}},
    {"id": 9, "errors": {"id": ["Object with id 9 does not exist"]}},
]}  # fmt: skip


@given(st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text())))
def test_a_field_of_any_other_kind_stays_as_it_is(fields: dict[str, Any]) -> None:
    """Older releases give values alone."""
    row = {"id": 1, "custom_fields": fields}
    assert plain(row) == row


def test_a_selection_is_its_value_with_or_without_its_label() -> None:
    """One of them, or several; an object that only looks alike keeps what else it has."""
    chosen = {"value": "production", "label": "In production"}
    fields = {"state": chosen, "several": [chosen, "b"], "object": chosen | {"id": 3}, "none": None}
    assert plain({"id": 1, "custom_fields": fields})["custom_fields"] == {
        "state": "production",
        "several": ["production", "b"],
        "object": chosen | {"id": 3},
        "none": None,
    }


def test_rows_that_are_gone_are_known_where_nothing_else_is_wrong() -> None:
    """Then the others may be changed without them."""
    assert absent(json.dumps(GONE)) == {7, 9}
    wrong = {"id": 9, "errors": {"id": ["Object with ID 9 does not exist"], "serial": ["Too long."]}}
    assert absent(json.dumps({**GONE, "errors": [GONE["errors"][0], wrong]})) == frozenset()


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", '{"errors": 3}', '{"errors": [{"id": 1, "errors": {}}]}', "[" * 9999]
)
def test_any_other_answer_names_no_row_as_gone(text: str) -> None:
    """And raises nothing."""
    assert absent(text) == frozenset()


def test_what_is_wrong_with_rows_is_one_line() -> None:
    """Each thing once, with its field."""
    rows = [{"id": 1, "errors": {"serial": ["Too long."]}}, {"id": 2, "errors": {"serial": ["Too long."]}}]
    assert said(json.dumps({"detail": "Some rows are wrong.", "errors": rows})) == "serial: Too long"
