"""What the ports that others tell of one Ethernet device are in the design, where both call them by other rules.

"Ethernet4" is the fifth port, or by its first lane the second; "Ethernet2/1" the second, the third, or the first one
of slot 2. One name leaves that open; what all names of the device and its cables tell decides, or nothing does.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.port_numbers import BELIEVED, ENOUGH, SEEMING, Numbering, ways
from fleet_runner.core.cabling.port_spellings import STRIDES

_DIGITS = re.compile(r"[0-9]{1,9}")
_LETTER = re.compile(r"(?<=[0-9])[A-Da-d]$", re.ASCII)
_FRONT = re.compile(r"([A-Za-z]+)([0-9]{1,4})\([A-Za-z]+ ?\2\)", re.ASCII)
"""How some of SONiC's switches call a port: "Eth1(Port1)"."""

_LANE = re.compile(r"Ethernet([0-9]{1,4})", re.ASCII)
"""How SONiC calls a port: by its first lane."""

_HALVES = re.compile(r"(.*[0-9])/([15])", re.ASCII | re.DOTALL)
"""EOS calls a half of a port of eight lanes by its first lane: Ethernet1/1 and Ethernet1/5."""

Reading = Mapping[str, str]
"""The designed port of each told one."""


class Told(NamedTuple):
    """One told port: its name, the ports that are designed to lead to what is told there, and what it means alone."""

    name: str
    goals: frozenset[str]
    meant: str | None


def readings(told: Iterable[Told], designed: Collection[str]) -> dict[str, str | None]:
    """Return the designed port of each told name that means something else than alone; None if nobody can tell which.

    Names of one kind are read together. What they mean alone counts, unless some cable contradicts it, and as many
    agree with another reading: this one counts if at least two cables tell it alone, and hardly any another, else
    none does. None does where no cable is as designed and the names tell other places than the design.
    """
    found: dict[str, str | None] = {}
    kinds: dict[str, list[Told]] = defaultdict(list)
    for each in told:
        kinds[_DIGITS.sub("0", _LETTER.sub("a", each.name))].append(each)
    for rows in kinds.values():
        known = {(each.name, each.goals) for each in rows if each.goals}
        alone = {each.name: each.meant for each in rows if each.meant is not None}
        fits = _fits(alone, known)
        if len(fits) < len(known):
            names = {each.name for each in rows}
            other = names.isdisjoint(designed)
            chosen = _chosen(_ways_to_read(names, designed), known, fits, other=other)
            if chosen is None and not fits and other and not _of_one_place(names, designed):
                chosen = {}
            if chosen is not None:
                found.update((name, chosen.get(name)) for name in names)
    return found


def _of_one_place(names: Iterable[str], designed: Iterable[str]) -> bool:
    """Whether told names differ from all designed ones in their last numbers alone, whatever their words."""
    places = {tuple(_DIGITS.findall(each))[:-1] for each in (*names, *designed)}
    return len(places) == 1


_Cables = AbstractSet[tuple[str, frozenset[str]]]
"""Told names, each with the ports that are designed to lead to what is told there."""


def _fits(reading: Reading, known: _Cables) -> _Cables:
    """Return the cables that are as designed by a reading."""
    return {(name, goals) for name, goals in known if reading.get(name) in goals}


def _chosen(possible: Sequence[Reading], known: _Cables, alone: _Cables, *, other: bool) -> Reading | None:
    """Return the one reading that cables tell; an empty one where they leave it open.

    None where names mean themselves: no reading has as many cables as what they mean `alone`. One that has the same
    ones says more where these names are `other` ones than the design's: also what those mean that contradict it.
    """
    fits = [_fits(each, known) for each in possible]
    best = max(fits, key=len, default=alone)
    if len(best) < len(alone) or not possible:
        return None
    first = possible[fits.index(best)]
    others = [fit for fit, reading in zip(fits, possible, strict=True) if reading != first]
    decided = len(best) >= max(ENOUGH, BELIEVED * len(known)) and all(_clearer(best, fit) for fit in others)
    if best == alone:
        return first if decided and other else None
    return first if decided and _clearer(best, alone) else {}


def _clearer(one: _Cables, other: _Cables) -> bool:
    return len(one - other) >= max(ENOUGH, SEEMING * len(other - one))


def _ways_to_read(names: AbstractSet[str], designed: Collection[str]) -> list[Reading]:
    """Return each way to give told names a designed port: by the number that both have by some way to count.

    Names that are all designed are not counted from another number on: a bundle would be told to be shifted.
    """
    found: list[Reading] = []
    same = names <= {*designed}
    for (rule, mine), (other, theirs) in product(_ways_to_count(designed), _ways_to_count(names)):
        if not same or rule != other:
            ports = {number: name for name, number in mine.items()}
            reading = {name: ports[number] for name, number in theirs.items() if number in ports}
            found += [reading] if reading and reading not in found else []
    return found


def _ways_to_count(names: Collection[str]) -> Iterator[tuple[str, Numbering]]:
    """Yield each way to number the ports of one device, with its rule; names of several kinds are read together."""
    plain = {_FRONT.sub(r"\1\2", each): each for each in sorted(names, key=natural)}
    if len(plain) < len(names):
        return
    for way in ways(tuple(plain)):
        yield "", {plain[name]: number for name, number in way.items()}
    halves = {each: found for each in plain if (found := _HALVES.fullmatch(each))}
    if {found[2] for found in halves.values()} == {"1", "5"}:
        renamed = {f"{found[1]}p{1 + (found[2] == '5')}": each for each, found in halves.items()}
        for way in ways(tuple(renamed)):
            yield "halves", {plain[renamed[name]]: number for name, number in way.items()}
    lanes = {name: int(found[1]) for name in plain if (found := _LANE.fullmatch(name))}
    for stride in STRIDES[1:]:
        if len({*lanes.values()}) == len(lanes) and all(lane % stride == 0 for lane in lanes.values()):
            yield f"{stride} lanes", {plain[name]: lane // stride + 1 for name, lane in lanes.items()}
