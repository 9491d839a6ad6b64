"""What a check observed, of whatever shape, as rows that a table can have: a bounded number, each a bounded text."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MOST_ROWS = 300
LONGEST = 400
"""Characters of one value."""

DEEPEST = 6
"""Levels that are opened; what lies deeper is written as it is."""

NOTHING = "—"


class Row(NamedTuple):
    """One fact: the way to it ("gpus.3.core_celsius"), and its value in words."""

    name: str
    value: str


class Rows(NamedTuple):
    """The facts that are shown; `more` says that there are others."""

    rows: tuple[Row, ...]
    more: bool


def rows(observed: object) -> Rows:
    """Return what was observed as rows. What is no mapping is one row without a name."""
    found: list[Row] = []
    for name, value in _leaves(observed, (), DEEPEST):
        if len(found) == MOST_ROWS:
            return Rows(tuple(found), more=True)
        found.append(Row(".".join(name)[:LONGEST], _words(value)))
    return Rows(tuple(found), more=False)


def _leaves(value: object, name: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], object]]:
    each: Iterator[tuple[Any, Any]] | None = None
    if isinstance(value, Mapping) and depth:
        each = iter(value.items())
    elif isinstance(value, list | tuple) and depth and any(isinstance(one, Mapping | list | tuple) for one in value):
        each = iter(enumerate(value))
    if each is None or not value:
        if name or value:
            yield name, value
        return
    for key, one in each:
        yield from _leaves(one, (*name, str(key)), depth - 1)


def _words(value: object) -> str:
    if value is None or value in ("", [], (), {}):
        return NOTHING
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            said = f"{value:.6g}"
        case list() | tuple():
            said = ", ".join(map(_words, value[:LONGEST]))
        case _:
            said = str(value)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}… ({len(said)} characters)"
