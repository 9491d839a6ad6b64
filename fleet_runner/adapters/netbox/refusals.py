"""What NetBox says is wrong with a change, in one line for a person."""

import json
import re
from collections.abc import Iterator
from typing import Any

LONGEST = 300  # characters that are told

RULES = (
    (
        re.compile(r"Duplicate termination found for \S{1,80} \d{1,20}: cable (\d{1,20})"),
        r"one of its ends has cable #\1 in NetBox already; take that one out there",
    ),
    (
        re.compile(r"U([0-9.]{1,6}) is already occupied or does not have sufficient space to accommodate.{0,200}"),
        r"no room for it in the rack from U\1 upwards; move what stands there",
    ),
)
"""What NetBox says in its programmers' words, and how people say it with the next step."""

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


def _sentences(found: Any, field: str) -> Iterator[str]:
    match found:
        case dict():
            for key, value in found.items():
                yield from _sentences(value, field if key in GENERAL else str(key))
        case list():
            for each in found:
                yield from _sentences(each, field)
        case _:
            text = str(found).rstrip(".")
            yield f"{field}: {text}" if field else text
