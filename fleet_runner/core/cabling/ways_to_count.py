"""The ways in which the ports of one Ethernet device may be counted: from zero or one, by lanes, by cage and half.

"Ethernet4" is the fifth port, or by its first lane the second; "Ethernet2/1" the second, the third, or the first one
of slot 2. Here are all that names of one kind leave open; `misread` tells whether that matters.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from fleet_runner.core.cabling.port_spellings import FEWEST_LANES, STRIDES, spelled

Place = tuple[int, ...]

_DIGITS = re.compile(r"[0-9]{1,9}")

_LANE = re.compile(r"Ethernet[0-9]{1,4}", re.ASCII)

_MOST_NUMBERS = 4
"""Numbers in a name, at most, of which two may differ."""

_STEPS = (4, 2, 1)
"""By how much the names of a cage's halves differ: Ethernet1/1 and Ethernet1/5."""

_EOS_HALVES = frozenset({1, 5})
"""EOS calls a half of a port of eight lanes by its first lane."""

_LANES = (2, 4, 8)
"""Halves of a cage, if there are more than one."""


class Way(NamedTuple):
    """One way to count: the number of each name, which number of the names counts (-1 for two), and if they tell it.

    Names tell that they count from zero by a zero, and that they count lanes where all are multiples of four.
    """

    numbers: Mapping[str, int]
    at: int
    told: bool


def kind(name: str) -> str:
    """Return what names that differ in their numbers alone have in common, whatever vendor's word they begin with."""
    return _DIGITS.sub("0", _told(name))


def place(name: str) -> Place:
    """Return the numbers of a name."""
    return tuple(map(int, _DIGITS.findall(_told(name))))


def _told(name: str) -> str:
    told = spelled(name)
    return told[1] if told else name


def ways(names: Collection[str]) -> list[Way]:
    """Return each way to count ports whose names are of one kind."""
    places = {name: place(name) for name in names}
    width = len(next(iter(places.values()), ()))
    if not 0 < width <= _MOST_NUMBERS:
        return []
    columns = [{row[at] for row in places.values()} for at in range(width)]
    differing = [at for at, column in enumerate(columns) if len(column) > 1]
    found = list[Way]()
    for at in range(width):
        if {*differing} <= {at} and all(column <= {0, 1} for column in columns[at + 1 :]):
            found += _counted({name: row[at] for name, row in places.items()}, at)
            found += _by_lanes(
                {name: row[at] for name, row in places.items()}, at, _first_lane(names, columns[at], at)
            )
    if width > 1 and {*differing} <= {width - 2, width - 1} and columns[-1] <= _EOS_HALVES:
        differing = [width - 2, width - 1]  # few cables may be at first halves alone
    if len(differing) == 2:  # noqa: PLR2004  a cage and its half
        a, b = differing
        found.append(_halves({name: (row[a], row[b]) for name, row in places.items()}))
    return found


def _counted(values: Mapping[str, int], at: int) -> Iterator[Way]:
    """Yield the ways to count ports that one number tells."""
    least = min(values.values())
    for start in (0, 1) if least else (0,):
        yield Way({name: value - start + 1 for name, value in values.items()}, at, told=not least)


def _first_lane(names: Iterable[str], column: AbstractSet[int], at: int) -> int | None:
    """Return the first lane of names that may count lanes, as SONiC's and those of EOS's halves do; else None."""
    return 0 if all(map(_LANE.fullmatch, names)) else 1 if at and column == _EOS_HALVES else None


def _by_lanes(values: Mapping[str, int], at: int, first: int | None) -> Iterator[Way]:
    """Yield the ways to count ports that are named by their first lanes."""
    for stride in STRIDES if first is not None else ():
        lanes = {name: value - (first or 0) for name, value in values.items()}
        if stride >= FEWEST_LANES and all(lane % stride == 0 for lane in lanes.values()):
            yield Way({name: lane // stride + 1 for name, lane in lanes.items()}, at, told=True)


def _halves(values: Mapping[str, tuple[int, int]]) -> Way:
    """Return the likeliest way to count ports that a cage and a half of it tell."""
    first, start = (min(1, *(row[at] for row in values.values())) for at in (0, 1))
    places = [half - start for _, half in values.values()]
    step = next(step for step in _STEPS if all(at % step == 0 for at in places))
    halves = next((lanes for lanes in _LANES if max(places) < lanes * step), max(places) + 1)
    numbers = {name: (cage - first) * halves + (half - start) // step + 1 for name, (cage, half) in values.items()}
    return Way(numbers, -1, told=True)
