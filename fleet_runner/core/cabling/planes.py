"""XDR cables of switches with several ASICs: each ASIC carries a plane of every cable, and tells of it by itself.

Such a switch describes itself once for each ASIC (`MF0;leaf-1:Q3400-RA/U2`), and an adapter has a port for each
plane. A cable is then seen as several links, from the same port of each ASIC: one designed cable is one link, which
may lack a plane. Where the planes of a cable do not agree on its port, or where all of them are ports of one ASIC,
nobody can tell which port of the design it is: then no cable of that switch is told.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, columns

_ASIC = re.compile(r"(MF0;[^:;]+:[^/:;]*)/U0*([1-9][0-9]?)$", re.ASCII)
_PLANE = 1, "XDR"
"""Width and speed of a plane by itself: slower links have none."""

IN_PLANES = " in planes "
"""What stands in a rate between what the link carries and its planes: "3x XDR in planes 1+2+4"."""


_End = tuple[str, int]
"""One end of a whole cable: what describes the device, and the port; an adapter has one cable."""


class Whole(NamedTuple):
    """Links, each of a whole cable, and a port of each switch of which nobody can tell where its cables are."""

    links: FabricLinks
    doubted: tuple[FabricPort, ...]


def planes_of(rate: str) -> frozenset[int]:
    """Return the planes that a rate tells; none where it tells of none."""
    planes = rate.partition(IN_PLANES)[2]
    return frozenset(int(each) for each in planes.split("+") if each)


def whole_cables(seen: Iterable[FabricLink], known: Collection[str] = ()) -> Whole:
    """Return the links with one for all planes of a cable. A GUID that is `known` stays, whichever ASIC's it is."""
    links = columns(seen)
    planar = _planar({face[0] for face in links.faces if "/U" in face[0]})  # next to none has an ASIC's number
    single = _single(links)
    if not planar and not single:
        return Whole(links, ())
    cables: dict[frozenset[_End], list[FabricLink]] = defaultdict(list)
    others: list[FabricLink] = []
    for each in links:
        if planar.isdisjoint((each.a.name, each.b.name)) and single.isdisjoint((each.a.guid, each.b.guid)):
            others.append(each)
        elif each.a.name not in planar or _base(each.a.name) != _base(each.b.name):  # else inside one switch
            cables[frozenset(_whole(end, planar)[:2] for end in each[:2])].append(each)
    return _joined(cables, others, planar, known)


def _planar(names: Iterable[str]) -> frozenset[str]:
    """Return the descriptions of switches of which several ASICs are described."""
    told = [name for name in names if _base(name) != name]
    asics = Counter(map(_base, told))
    return frozenset(name for name in told if asics[_base(name)] > 1)


def _single(links: FabricLinks) -> frozenset[str]:
    """Return the GUIDs of switches that carry several planes of a cable in one ASIC."""
    if _PLANE not in links.rates:
        return frozenset()
    ports = Counter(
        (near.name, far.guid)
        for each in links
        if each[2:] == _PLANE
        for near, far in ((each.a, each.b), (each.b, each.a))
        if near.kind == "CA" and far.kind == "SW"
    )
    return frozenset(guid for (_, guid), count in ports.items() if count > 1)


@lru_cache(maxsize=65_536)
def _base(name: str) -> str:
    found = _ASIC.match(name)
    return found[1] if found else name


def _joined(
    cables: dict[frozenset[_End], list[FabricLink]],
    others: list[FabricLink],
    planar: frozenset[str],
    known: Collection[str],
) -> Whole:
    """Join the planes of each cable; where they do not agree on its ports, no cable of these switches is told."""
    counted = Counter(end for ends in cables for end in ends)
    found: list[FabricLink] = []
    doubted: dict[str, FabricPort] = {}
    for ends, links in cables.items():
        agreed = max(counted[end] for end in ends) == 1
        if agreed and (len(links) > 1 or not planar.isdisjoint((links[0].a.name, links[0].b.name))):
            found.append(_one(links, planar, known))
        else:
            switches = (_whole(end, planar) for each in links for end in each[:2] if end.kind != "CA")
            doubted |= {end.name: end for end in switches}
    told = tuple(each for each in (*others, *found) if doubted.keys().isdisjoint((each.a.name, each.b.name)))
    return Whole(columns(told), tuple(doubted.values()))


def _one(links: list[FabricLink], planar: frozenset[str], known: Collection[str]) -> FabricLink:
    """Return the link that planes are of one cable, with all that they carry together."""
    first = _whole(links[0].a, planar)[:2]
    a, b = zip(*(each[:2] if _whole(each.a, planar)[:2] == first else each[1::-1] for each in links), strict=True)
    numbers = [_plane(each, planar) for each in links]
    if len(set(numbers)) < len(links):
        numbers = list(range(1, len(links) + 1))
    lanes = Counter[str]()
    for each in links:
        lanes[each.speed] += each.width
    return FabricLink(_whole(_known(a, known), planar), _whole(_known(b, known), planar), *_rate(lanes, numbers))


def _rate(lanes: Counter[str], planes: Iterable[int]) -> tuple[int, str]:
    """Return what all planes carry, as the width and speed of a link ("3x XDR in planes 1+2+4")."""
    if not all(speed and width for speed, width in lanes.items()):
        return 0, ""
    (speed, width), *others = lanes.most_common()
    told = "".join(f" + {lanes}x {speed}" for speed, lanes in others)
    return width, f"{speed}{told}{IN_PLANES}{'+'.join(map(str, sorted(planes)))}"


def _plane(joined: FabricLink, planar: frozenset[str]) -> int:
    """Return which plane of its cable a link is: its ASIC's number, at a switch with one ASIC the adapter's port."""
    asics = (found for end in joined[:2] if end.name in planar and (found := _ASIC.match(end.name)))
    told = next((int(found[2]) for found in asics), 0)
    return told or next((end.port for end in joined[:2] if end.kind == "CA"), 0)


def _known(ends: Iterable[FabricPort], known: Collection[str]) -> FabricPort:
    every = tuple(ends)
    return next((end for end in every if end.guid in known), every[0])


def _whole(end: FabricPort, planar: frozenset[str]) -> FabricPort:
    """Return an end of a plane as one of its whole cable."""
    if end.kind == "CA":
        return end._replace(port=1)
    return end._replace(name=_base(end.name)) if end.name in planar else end
