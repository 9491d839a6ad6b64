"""Devices that did the same work: which of them did not get what the others got."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def odd(answers: Mapping[str, Hashable]) -> tuple[tuple[str, ...], bool]:
    """Return who differs, and whether it is known that they are the ones: more than half of all agree otherwise.

    Where no answer has more than half, all are returned, and it is not known which of them are right.
    """
    counts = Counter(answers.values())
    if len(counts) < 2:  # noqa: PLR2004  all agree
        return (), True
    usual, votes = counts.most_common(1)[0]
    if 2 * votes > len(answers):
        return tuple(name for name, answer in answers.items() if answer != usual), True
    return tuple(answers), False


def named(names: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
