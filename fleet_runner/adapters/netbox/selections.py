"""Custom fields of a selection: from 4.7 on NetBox gives a label with each value, before it gave the value alone."""

from collections.abc import Mapping
from typing import Any

FIELDS = "custom_fields"
LABELLED = {"value", "label"}


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a list with the values of its selections alone, as every NetBox before 4.7 gives them."""
    found = dict(row)
    if isinstance(fields := found.get(FIELDS), dict):
        found[FIELDS] = {name: _value(value) for name, value in fields.items()}
    return found


def _value(given: Any) -> Any:
    if isinstance(given, list):
        return [_value(each) for each in given]
    return given["value"] if isinstance(given, dict) and given.keys() == LABELLED else given
