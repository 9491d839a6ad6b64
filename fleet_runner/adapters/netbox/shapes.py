"""Whether rows hold what they say they hold: what NetBox gives may come from a template that somebody edited."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from fleet_runner.adapters.netbox.rows import Row


def check(found: Sequence[Row]) -> None:
    """Raise TypeError where a field of a row, or of what is in it, is of another type than its record says."""
    if found:
        _check(type(found[0]), found)


def _check(form: type, found: Sequence[Any]) -> None:
    for (name, types, inner), values in zip(_fields(form), zip(*found, strict=True), strict=True):
        if strange := set(map(type, values)) - types:
            raise TypeError(f"{form.__name__}.{name} is {min(each.__name__ for each in strange)}")
        if inner is not None:
            _check_inner(inner, list(chain.from_iterable(values)))


def _check_inner(inner: Any, found: Sequence[Any]) -> None:
    if found and get_origin(inner) is None:
        _check(inner, found)
    elif any(type(each) is not int for pair in found for each in pair):
        raise TypeError("a position is no number")


@cache
def _fields(form: type) -> tuple[tuple[str, frozenset[type], Any], ...]:
    """Return each field of a record with the types that it may have, and what its tuples hold."""
    hints = get_type_hints(form)
    return tuple((name, frozenset(_types(hints[name])), _inner(hints[name])) for name in hints)


def _types(hint: Any) -> Iterator[type]:
    for each in get_args(hint) if isinstance(hint, UnionType) else (hint,):
        yield get_origin(each) or each


def _inner(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is tuple else None
