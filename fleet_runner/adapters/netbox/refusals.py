"""What NetBox says is wrong with a change, in one line for a person."""

import json
import re
from collections.abc import Iterator
from typing import Any

LONGEST = 300  # characters that are told

RULES = (
    (
        re.compile(r"Duplicate termination found for \S{1,80} \d{1,20}: cable (\d{1,20})"),
        r"one of its ends already has cable #\1 in NetBox; remove that cable in NetBox",
    ),
    (
        re.compile(r"U([0-9.]{1,6}) is already occupied or does not have sufficient space to accommodate.{0,200}"),
        r"no room in the rack from U\1 upwards; move what is there",
    ),
)
"""What NetBox says in its programmers' words, and how people say it with the next step."""

NOT_FOUND = re.compile(r"Object with ID [0-9]{1,20} does not exist", re.IGNORECASE)
"""What NetBox 4.7 says of a row of a change that it does not find, or that the token may not change."""

GENERAL = frozenset({"__all__", "non_field_errors", "detail", "error"})
"""Names under which NetBox says what is wrong with the whole, not with a field."""


def said(text: str) -> str:
    """Return what an answer says, without its JSON."""
    try:
        found = "; ".join(dict.fromkeys(_sentences(json.loads(text), "")))
    except (ValueError, RecursionError):
        found = text
    for rule, words in RULES:
        found = rule.sub(words, found)
    line = "".join(each if each.isprintable() else " " for each in found)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def absent(text: str) -> frozenset[int]:
    """Return the ids of the rows that NetBox 4.7 did not find, where that is all that it says is wrong."""
    try:
        errors = json.loads(text)["errors"]
        told = {each["id"]: each["errors"] for each in errors}
        if all(NOT_FOUND.fullmatch(wrong["id"][0]) and len(wrong) == 1 for wrong in told.values()):
            return frozenset(int(number) for number in told)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError):
        pass
    return frozenset()


def permission(path: str, action: str) -> str:
    """Return the name of NetBox's permission to "add", "change" or "view" the objects of a list."""
    app, _, name = path.partition("/")
    name = name.replace("-", "")
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if name.endswith(plural):
            return f"{app}.{action}_{name.removesuffix(plural)}{singular}"
    return f"{app}.{action}_{name}"


def _sentences(found: Any, field: str) -> Iterator[str]:
    match found:
        case {"detail": str(), "errors": [*rows]}:  # a change of several rows, from 4.7 on
            yield from _sentences([row.get("errors") if isinstance(row, dict) else row for row in rows], field)
        case dict():
            for key, value in found.items():
                yield from _sentences(value, field if key in GENERAL else str(key))
        case list():
            for each in found:
                yield from _sentences(each, field)
        case _:
            text = str(found).rstrip(".")
            yield f"{field}: {text}" if field else text
