"""Breakouts: one port of the design at several cables' ends, which a fabric shows as that port's lanes.

Nobody says which lane leads to which far end, and each vendor calls lanes in its own way. So a far end that is seen
at any lane of its port is as designed; one that is seen elsewhere on that device may be at a lane that is called
otherwise, and is not compared.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link

_LANE = re.compile(r"[/:.s_-]([0-9]{1,2})", re.ASCII)
"""What follows a port's name in that of a lane: 1/1/2, swp1s0, Ethernet1:2."""

LANES = frozenset({2, 4})
"""Lanes of a split port of InfiniBand."""


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

    A far end that is not seen is expected at a lane named after it, where it is reported missing.
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
    for near, far_ends in lanes.items():
        for far in far_ends:
            lane = _lane(near, far, ends)
            if lane is None or far in ports:
                untold.append(link(near, far))
            else:
                found.append(link(far, lane))
    return Paired(tuple(found), tuple(untold))


def _lane(near: Port, far: Port, ends: Mapping[Port, Port]) -> Port | None:
    """Return the lane that a far end belongs at; None where nobody can tell."""
    there = ends.get(far)
    if there is not None and there.device == near.device:
        return there if is_lane(there.interface, near.interface) else None
    return Port(near.device, f"{near.interface} (the lane to {far})")
