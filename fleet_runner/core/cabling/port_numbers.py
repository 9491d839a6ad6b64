"""Which number of a fabric's switch each designed port has, from the spelling of all names of the switch.

A fabric tells a switch's ports by number, 1 and up. A design names them as the vendor does ("swp7"), or a cage and
its half ("sw4p1", "IB1/4/1", from zero "P3.0"). What one name leaves open, the others tell, and what they leave open,
the cables do: of several ways to number the ports, the one counts by which they are plugged as designed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import product
from math import prod

Numbering = Mapping[str, int]
"""The number of each port that has one, by the port's name in the design."""

_Plug = tuple[str, int]
"""The port into which a cable is designed to be plugged, and the number at which it is seen."""

MOST_WAYS = 16
"""Ways to number the ports of a switch that are tried; names of more kinds than these are nobody's."""

BELIEVED = 0.6
"""The share of a switch's cables that must be plugged as designed for a way of several to count."""

SEEMING = 10
"""Cables that are as designed by one way to count alone, at least, for each one that is by another alone."""

ENOUGH = 2
"""Cables that decide between ways to number the ports, of a switch that has more than one."""

_NEVER = re.compile(r"(?:mgmt|management|ma|oob|bmc|ipmi|console|lo|fxp|me)[ _-]?[0-9/.]*$", re.IGNORECASE)
"""What no cable of a fabric is plugged into."""

MOST_LANES = 4
"""Ports that a cage has at most."""

_DIGITS = re.compile(r"[0-9]{1,9}")
_HALF = re.compile(r"[0-9]+(?:[p.][0-9]+|/[0-9]+/[0-9]+)$")
"""How a name ends that tells a cage and its half, though it is the only one: "sw4p1", "P3.0", "IB1/4/1"."""

_LETTER = re.compile(r"(?<=[0-9])[-_. /]?([A-Da-d])$", re.ASCII)
"""The half of a cage as a letter: "1/4a", "P4-B"."""

_UNSPLIT = re.compile(r"(p[0-9]+)s1$", re.ASCII)
"""The half of a cage that is not split further, as NVOS writes it: "sw4p1s1"."""


@lru_cache(maxsize=256)
def ways(interfaces: tuple[str, ...]) -> tuple[Numbering, ...]:
    """Return each way to number a switch's ports; of those with a number in each, none where no name tells one."""
    whole = all(map(_UNSPLIT.search, interfaces))
    halves = {_UNSPLIT.sub(r"\1", each) if whole else _LETTER.sub(_half, each): each for each in interfaces}
    if len(halves) == len(interfaces) and any(name != each for name, each in halves.items()):
        return tuple({halves[name]: number for name, number in way.items()} for way in ways(tuple(halves)))
    sorts: dict[str, list[str]] = defaultdict(list)
    for each in interfaces:
        sorts[_DIGITS.sub("0", each)].append(each)
    each_way = [tuple(_of_a_sort(names)) for names in sorts.values()]
    if prod(map(len, each_way)) > MOST_WAYS:
        return ()
    found: list[Numbering] = []
    for chosen in product(*each_way):
        numbers = {name: number for each in chosen for name, number in each.items()}
        shared = Counter(numbers.values())  # nobody knows which of two ports has a number
        alone = {name: number for name, number in numbers.items() if shared[number] == 1}
        if alone not in found:
            found.append(alone)
    return tuple(found)


def _half(found: re.Match[str]) -> str:
    return f"p{ord(found[1].lower()) - ord('a') + 1}"


def fitting(ways: Sequence[Numbering], plugged: Iterable[_Plug]) -> Numbering:
    """Return the way by which most cables are plugged as designed; where none stands out, what all have in common.

    The only way counts unless most cables are plugged where no port is designed. One cable decides nothing where more
    ports are designed, and a way stands out only if hardly any cable is as designed by another alone.

    `plugged` gives, for cables whose far end is known, the port of the switch that the far end is designed to be
    plugged into, and the number at which it is seen.
    """
    seen = tuple(plugged)
    if len(ways) == 1:
        (way,) = ways
        inside = [number in way.values() for name, number in seen if name in way]
        return {} if len(inside) > 1 and sum(inside) < BELIEVED * len(inside) else way
    fits = [{(name, number) for name, number in seen if way.get(name) == number} for way in ways]
    best = max(fits, key=len, default=set[_Plug]())
    decided = len(best) >= max(BELIEVED * len(seen), min(ENOUGH, max(map(len, ways), default=0)))
    told = ways[fits.index(best)] if decided else {}
    left = [
        way.items()
        for way, fit in zip(ways, fits, strict=True)
        if way is told or not (told and _clearer(told, way, best, fit))
    ]
    return dict(set(left[0]).intersection(*left[1:])) if left else {}


def _clearer(one: Numbering, other: Numbering, of_one: AbstractSet[_Plug], of_other: AbstractSet[_Plug]) -> bool:
    """Whether so many cables are as designed by one way alone that those by another way alone are plugged wrongly.

    A bundle that was plugged in one port too far is as designed by a way that counts otherwise, and the cables beside
    it, which are right, are not. One cable decides nothing where ways differ in more ports.
    """
    alone = len(of_one - of_other)
    if not alone or alone < SEEMING * len(of_other - of_one):
        return False
    return alone >= ENOUGH or sum(one.get(name) != other.get(name) for name in {*one, *other}) <= alone


def _of_a_sort(names: list[str]) -> Iterator[Numbering]:
    """Yield each way to number ports whose names differ in their numbers alone."""
    rows = {name: tuple(map(int, _DIGITS.findall(name))) for name in names}
    width = len(next(iter(rows.values())))
    if not width or any(map(_NEVER.match, names)):
        yield {}
        return
    before = {row[:-1] for row in rows.values()}
    half = all(_HALF.search(name) for name in names) and max(row[-1] for row in rows.values()) <= MOST_LANES
    if len(before) == 1 and not half:
        starts = (1, 0) if min(row[-1] for row in rows.values()) == 0 else (0,)
        yield from ({name: row[-1] + start for name, row in rows.items()} for start in starts)
    elif width > 1 and len({row[:-2] for row in rows.values()}) == 1:
        yield from _cages({name: row[-2:] for name, row in rows.items()})
        if not half:  # a slot and its ports are told like a cage and its halves
            yield {}
    else:
        yield {}


def _cages(rows: Mapping[str, tuple[int, ...]]) -> Iterator[Numbering]:
    """Yield each way to number ports that are told by cage and place in it."""
    cages, places = ({row[at] for row in rows.values()} for at in (0, 1))
    first = min(places) if min(places) == 0 else 1
    lanes = max(places) - first + 1
    if lanes > MOST_LANES:
        yield {}
        return
    starts = (0,) if min(cages) == 0 else (1, 0) if first == 0 else (1,)
    for several in (1, 2) if lanes == 1 else (2,) if lanes == 2 else (MOST_LANES,):  # noqa: PLR2004  one of two halves
        for start in starts:
            yield {name: (cage - start) * several + place - first + 1 for name, (cage, place) in rows.items()}
