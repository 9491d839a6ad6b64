"""Ethernet devices whose ports may be called by another rule than the design's, in the design's own words.

A design of "Ethernet1", "Ethernet2" … and a switch that calls them "Ethernet0", "Ethernet4" … share names that mean
different ports. Which is meant nobody says, and a whole leaf that is plugged one port too far looks like another
rule. So nothing is read by such a rule: where one explains more of a device's cables than its names do as they are,
none of its ports is compared.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from fleet_runner.core.cabling.port_numbers import BELIEVED, SEEMING
from fleet_runner.core.cabling.ways_to_count import kind, place, ways

FEWEST = 2
"""Cables of a device, at least, that are off by one port."""

OFF_ALIKE = 0.8
"""The share of a device's cables, at least, that are off by one port: of a rotation fewer are."""

HALF = 0.5
"""The share of a device's cables of which another rule must explain more."""

IN_ORDER = 3
"""Cables of a device, at least, that stand in their order and none in its place."""


class HeardCable(NamedTuple):
    """One cable of a device: the name of its port, the port that this was read as, and the device at the far end.

    A name that tells no port alone was `read` as "".
    `goal` is the port that the far one is designed to lead to, "" if that is none of the device's.
    """

    name: str
    read: str
    far: str
    goal: str


Reading = Mapping[str, str]
"""The designed port of each told one."""


def misread(cables: Collection[HeardCable], leads: Mapping[str, AbstractSet[str]]) -> bool:
    """Whether the names of a device's ports may mean other ones than they were read as.

    `leads` gives the device's designed ports that lead to each other device.
    """
    if all(_is_right(each, leads) for each in cables if each.far in leads):
        return False
    designed: dict[str, set[str]] = defaultdict(set)
    for port in frozenset[str]().union(*leads.values()):
        designed[kind(port)].add(port)
    told: dict[tuple[str, float], set[HeardCable]] = defaultdict(set)
    for each in cables:
        if each.read and each.name.isdecimal():  # a number alone was read as the port that ends in it
            told[kind(each.read), BELIEVED].add(each._replace(name=each.read))
        elif each.read or not each.name.isdecimal():  # which is an index, or nothing that anybody was read as
            told[kind(each.name), OFF_ALIKE].add(each)
    return any(
        _misread(mine, designed[sort], leads, share) for (sort, share), mine in told.items() if sort in designed
    )


def unproven(cables: Iterable[HeardCable], leads: Mapping[str, AbstractSet[str]]) -> bool:
    """Whether by a device's names of some kind more cables are wrong than are right for sure.

    Nobody can tell then whether names or cables differ: one cable in the next port is as designed by names that begin
    with another number. Cables that just took each other's ports are wrong by any names.
    """
    by_kind: dict[str, list[HeardCable]] = defaultdict(list)
    for each in cables:
        if each.far in leads and (each.read or not each.name.isdecimal()):  # a number alone may be an index
            by_kind[kind(each.name)].append(each)
    return any(_unproven(mine, leads) for mine in by_kind.values())


def _unproven(cables: Collection[HeardCable], leads: Mapping[str, AbstractSet[str]]) -> bool:
    wrong = sum(not _is_right(each, leads) for each in cables)
    goals = [_goal(each, leads) for each in cables]
    sure = sum(each.read == goal for each, goal in zip(cables, goals, strict=True))
    return wrong > sure and {each.read for each in cables} != {*goals}


def _goal(cable: HeardCable, leads: Mapping[str, AbstractSet[str]]) -> str | None:
    """Return the port into which a cable is designed to be plugged; None where it may be one of several."""
    ports = {cable.goal} if cable.goal else leads[cable.far]
    return next(iter(ports)) if len(ports) == 1 else None


def _is_right(cable: HeardCable, leads: Mapping[str, AbstractSet[str]]) -> bool:
    return cable.read in leads[cable.far] and cable.goal in {"", cable.read}


def _misread(
    cables: AbstractSet[HeardCable], designed: Collection[str], leads: Mapping[str, AbstractSet[str]], share: float
) -> bool:
    """Whether another rule explains more of some cables, whose ports' names are of one kind.

    It takes a `share` of them where names do not suggest the rule.
    """
    alone = {each.name: each.read for each in cables}
    known = [each for each in cables if each.far in leads]
    for reading, fewest, suggested in readings(alone, designed) if known else ():
        if sum(reading.get(each.name) in leads[each.far] for each in known) <= HALF * len(known):
            continue  # it explains a few cables by chance
        for fits, mine, every in (_bundles(known, leads, reading, alone), _ports(known, reading, alone)):
            if fits > mine and len(known) >= fewest and (suggested or _stands_out(fits, mine, every, share)):
                return True
    if {each.name for each in known} == {each.goal for each in known}:
        return False  # no rule gives a device's names to each other in their order
    return any(
        found >= IN_ORDER and _stands_out(found, mine, every, share)
        for found, mine, every in (_in_order(known, designed, leads), _goals_in_order(known, designed))
    )


def _stands_out(fits: int, mine: int, every: int, share: float) -> bool:
    return fits >= share * every and fits >= SEEMING * mine


def _bundles(
    cables: Collection[HeardCable], leads: Mapping[str, AbstractSet[str]], reading: Reading, alone: Reading
) -> tuple[int, int, int]:
    """Return how many far devices speak for a reading, and how many for the names `alone`, and how many there are.

    Cables to one device fit any of its ports, so they speak once: for that by which more of them are at its ports.
    """
    more: Counter[str] = Counter()
    for each in cables:
        ports = leads[each.far]
        more[each.far] += (reading.get(each.name) in ports) - (alone[each.name] in ports)
    return sum(count > 0 for count in more.values()), sum(count < 0 for count in more.values()), len(more)


def _ports(cables: Collection[HeardCable], reading: Reading, alone: Reading) -> tuple[int, int, int]:
    """Return the same of ports at the far end, if their names mean what they were read as."""
    known = {(each.name, each.goal) for each in cables if each.goal}
    fits, mine = (sum(each.get(name) == goal for name, goal in known) for each in (reading, alone))
    return fits, mine, len(known)


def readings(alone: Reading, designed: Collection[str]) -> Iterator[tuple[Reading, int, bool]]:
    """Yield each other reading of names, with the fewest cables that it takes, and whether names suggest it.

    Names do not suggest one number more or less: that may be a plug in the next port.
    """
    for wanted, told in product(ways(designed), ways({*alone})):
        ports = {number: name for name, number in wanted.numbers.items()}
        reading = {name: ports[number] for name, number in told.numbers.items() if number in ports}
        if reading and any(reading.get(name) != port for name, port in alone.items()):
            same = all(place(name) == place(port) for name, port in reading.items())
            suggested = wanted.told or told.told or wanted.at != told.at or same
            yield reading, 1 if told.told or wanted.at != told.at else FEWEST, suggested


def _in_order(
    cables: Iterable[HeardCable], designed: Collection[str], leads: Mapping[str, AbstractSet[str]]
) -> tuple[int, int, int]:
    """Return of the cables how many stand in the order of the designed ports that lead there, are there, and are."""
    at = {name: number for number, name in enumerate(sorted(designed, key=place))}
    rows = {(each.name, each.far): each for each in cables}
    goals = [
        [at[port] for port in leads[each.far] if port in at]
        for each in sorted(rows.values(), key=lambda one: place(one.name))
    ]
    there = sum(each.read in leads[each.far] for each in rows.values())
    return _longest(goals), there, len(rows)


def _goals_in_order(cables: Iterable[HeardCable], designed: Collection[str]) -> tuple[int, int, int]:
    """Return the same by the ports at the far end."""
    at = {name: number for number, name in enumerate(sorted(designed, key=place))}
    rows = sorted({each for each in cables if each.goal in at}, key=lambda one: place(one.name))
    return _longest([[at[each.goal]] for each in rows]), sum(each.read == each.goal for each in rows), len(rows)


def _longest(goals: Iterable[Collection[int]]) -> int:
    """Return the length of the longest row of numbers, one of each of some goals at most, that only grows."""
    ends: list[int] = []
    for several in goals:
        for goal in sorted(several, reverse=True):
            at = bisect_left(ends, goal)
            ends[at : at + 1] = [goal]
    return len(ends)
