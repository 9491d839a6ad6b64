"""Breakouts: one port of the design at several cables' ends, which a fabric shows as that port's lanes.

Nobody says which lane leads to which far end, and each vendor calls lanes in its own way. So a far end that is seen
at any lane of its port is as designed; one that is seen elsewhere on that device may be at a lane that is called
otherwise, and is not compared, unless it took another's place, and that one its own.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link

_LANE = re.compile(r"[/:.s_-]([0-9]{1,2})", re.ASCII)
"""What follows a port's name in that of a lane: 1/1/2, swp1s0, Ethernet1:2."""

_LANE_NAME = re.compile(rf"(.+){_LANE.pattern}", re.ASCII)

_NAMED_LANE = re.compile(r"(.*[0-9])[/:s]([0-9]{1,2})", re.ASCII)
"""A lane in a design that names lanes one by one."""

_OF_A_CARD = re.compile(
    r"[a-z]{2,3}-[0-9]+/[0-9]+/[0-9]+|[a-z]*gig[a-z]*[0-9]+(?:/[0-9]+){1,3}|ethernet-[0-9]+/[0-9]+",
    re.ASCII | re.IGNORECASE,
)
"""Ports of cards, no lanes: "et-0/0/1" of Junos, "HundredGigE0/0/0/1" of IOS XR, "ethernet-1/1" of SR Linux."""

_DEEP = 2
"""Slashes in the lane of a port that stands in a card: on its switch a name with one of them is a port."""

LANES = frozenset({2, 4})
"""Lanes of a split port of InfiniBand."""

WRITTEN = frozenset(
    tuple(range(first, first + step * count, step))
    for first in (0, 1)
    for count in (2, 4, 8)
    for step in (1, 2, 4)
    if step * count <= 8  # noqa: PLR2004  electrical lanes of a port
)
"""The numbers of lanes that an Ethernet port may be broken out to."""


class Paired(NamedTuple):
    """Designed links between ports that take one cable each, and those that cannot be compared."""

    links: tuple[Link, ...]
    untold: tuple[Link, ...]


def is_lane(name: str, port: str) -> bool:
    """Whether an interface is a lane of a port, by its name: "1/2" of "1"."""
    return name == port or (name.startswith(port) and _LANE.fullmatch(name[len(port) :]) is not None)


def shared(links: Iterable[Link]) -> frozenset[Port]:
    """Return the ports that several different links end at."""
    first: dict[Port, Link] = {}
    return frozenset(port for each in links for port in each if first.setdefault(port, each) != each)


def cage_of(port: Port, cages: Collection[Port]) -> Port | None:
    """Return the port that is broken out to a lane; None for a port of its own."""
    if port in cages:
        return port
    found = _LANE_NAME.fullmatch(port.interface)
    cage = Port(port.device, found[1]) if found else port
    return cage if cage in cages else None


def far_ends(links: Iterable[Link], cages: Collection[Port]) -> dict[Port, int]:
    """Return how many far ends are designed at each port that is broken out."""
    ends = (port for each in links for port in each) if cages else ()
    return Counter(cage for port in ends if (cage := cage_of(port, cages)))


def written(links: Iterable[Link], servers: Collection[str]) -> frozenset[Port]:
    """Return the ports of switches whose lanes a design names one by one: "swp1" of swp1s0 and swp1s1.

    A card and its ports are told alike: so several on a device have to have the same lanes, two, four or eight. EOS
    calls those of eight electrical lanes 1, 3, 5 and 7, or 1 and 5. Cards with as many ports as that may still be
    taken for them: who tells of one has to name its lanes.
    """
    lanes: dict[Port, set[int]] = defaultdict(set)
    ports = {port for each in links for port in each if port.device not in servers}
    deep = {port.device for port in ports if port.interface.count("/") >= _DEEP}
    for port in ports:
        card = port.device in deep and port.interface.count("/") < _DEEP
        found = None if card or _OF_A_CARD.fullmatch(port.interface) else _NAMED_LANE.fullmatch(port.interface)
        if found:
            lanes[Port(port.device, found[1])].add(int(found[2]))
    alike: dict[tuple[str, frozenset[int]], set[Port]] = defaultdict(set)
    for cage, numbers in lanes.items():
        if tuple(sorted(numbers)) in WRITTEN:
            alike[cage.device, frozenset(numbers)].add(cage)
    return frozenset(cage for cages in alike.values() if len(cages) > 1 for cage in cages)


def numbered(told: Iterable[tuple[str, Link]]) -> dict[Link, Link]:
    """Return links of split cables with a name for each lane, as an InfiniBand fabric numbers them.

    `told` is which cable each link is of. Port "1" with two far ends is "1/1" and "1/2", in the order in which these
    are told; which has which nobody says. Nothing where the port that they share does not end in its number.
    """
    cables: dict[str, list[Link]] = defaultdict(list)
    for cable, each in told:
        cables[cable].append(each)
    return {each: lane for split in cables.values() for each, lane in zip(split, _numbered(split), strict=False)}


def _numbered(split: Sequence[Link]) -> list[Link]:
    port = next((port for port in split[0] if all(port in each for each in split)), None)
    if port is None or len(split) not in LANES or not port.interface[-1:].isdecimal():
        return []
    return [
        link(each.b if each.a == port else each.a, Port(port.device, f"{port.interface}/{at}"))
        for at, each in enumerate(split, start=1)
    ]


def paired(designed: Iterable[Link], ports: Collection[Port], seen: Collection[Link]) -> Paired:
    """Return the designed links, those at shared `ports` between the far end and the lane at which it is seen.

    A far end that is seen in another's place belongs at the other's lane, if that one is in its place. One that is
    not seen, or elsewhere alone, is expected at a lane named after it, where it is reported missing or moved.
    """
    every = tuple(designed)
    if not ports:
        return Paired(every, ())
    ends: dict[Port, Port] = {}
    for a, b in seen:
        ends[a], ends[b] = b, a
    found: list[Link] = []
    untold: list[Link] = []
    lanes: dict[Port, list[Port]] = defaultdict(list)
    for each in every:
        near = next((port for port in each if port in ports), None)
        if near is None:
            found.append(each)
        else:
            lanes[near].append(each.b if near == each.a else each.a)
    places = {far: near for near, far_ends in lanes.items() for far in far_ends if far not in ports}
    swapped = _swapped(places, lanes, found, ends)
    for near, far_ends in lanes.items():
        for far in far_ends:
            lane = swapped.get(far) or _lane(near, far, ends)
            if lane is None or far in ports:
                untold.append(link(near, far))
            else:
                found.append(link(far, lane))
    return Paired(tuple(found), tuple(untold))


def _swapped(
    places: Mapping[Port, Port], cages: Collection[Port], single: Iterable[Link], ends: Mapping[Port, Port]
) -> dict[Port, Port]:
    """Return the lane at which each far end belongs that is in the place of another, which is in its own.

    `places` are the shared ports at which far ends belong, `single` the designed links of ports that are not shared.
    """
    on: dict[str, list[Port]] = defaultdict(list)
    for cage in cages:
        on[cage.device].append(cage)
    astray: dict[tuple[Port, Port], list[Port]] = defaultdict(list)
    for far, near in places.items():
        there = ends.get(far)
        if there is not None and not _at(there, near):
            astray[near, _place(there, near, on[there.device])].append(far)
    taken = {place for _, place in astray}
    for near, far in (pair for each in single for pair in (each, each[::-1])):
        if near in taken and far in ends:
            astray[near, _place(ends[far], near, on[ends[far].device])].append(far)
    return {
        far: ends[other]
        for (near, place), mine in astray.items()
        for far, other in zip(mine, astray.get((place, near), ()), strict=False)
        if far in places
    }


def _place(there: Port, near: Port, cages: Iterable[Port]) -> Port:
    """Return the shared port that a port is a lane of, else the port itself; `cages` are those of its device.

    On the device of a far end's own cage a lane has to be called one: a number alone may count lanes otherwise.
    """
    mine = {cage for cage in cages if cage.device != near.device or there.interface != cage.interface}
    return cage_of(there, mine) or there


def _at(there: Port, cage: Port) -> bool:
    return there.device == cage.device and is_lane(there.interface, cage.interface)


def _lane(near: Port, far: Port, ends: Mapping[Port, Port]) -> Port | None:
    """Return the lane that a far end belongs at; None where nobody can tell."""
    there = ends.get(far)
    if there is not None and there.device == near.device:
        return there if _at(there, near) else None
    return Port(near.device, f"{near.interface} (the lane to {far})")
