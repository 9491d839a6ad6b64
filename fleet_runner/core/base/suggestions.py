"""Names that somebody may have meant, out of very many, without holding the name against each of them."""

import re
from bisect import bisect
from collections.abc import Iterable
from difflib import get_close_matches

AROUND = 40
"""Names on each side that are looked at, in each of the two orders."""

CLOSE = 0.6
"""How alike two names are, as difflib counts it, for one to be meant by the other."""

_ZEROS = re.compile(r"0+(?=[0-9])")


def alike(name: str, names: Iterable[str], most: int = 5) -> list[str]:
    """Return the names most like one: those that differ in case and leading zeros alone, then the likest.

    Of the others only the neighbours are compared: in alphabetical order those that begin alike, and in that of the
    names read backwards those that end alike. Whoever slips once leaves a beginning or an end as it was.
    """
    every = {each.casefold(): each for each in names}
    wanted = name.casefold()
    plain = _ZEROS.sub("", wanted)
    near = {*_around(wanted, every), *(each[::-1] for each in _around(wanted[::-1], (each[::-1] for each in every)))}
    found = [each for each in every if each == wanted or _ZEROS.sub("", each) == plain]
    found += get_close_matches(wanted, sorted(near), n=most, cutoff=CLOSE)
    return [every[each] for each in dict.fromkeys(found)][:most]


def _around(name: str, names: Iterable[str]) -> list[str]:
    ordered = sorted(names)
    at = bisect(ordered, name)
    return ordered[max(0, at - AROUND) : at + AROUND]
