"""Links that are there and run below what they are designed for, or below the others of their kind."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from fleet_runner.core.cabling.links import Link, rates_of

LANE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3, "FDR": 14.1, "EDR": 25.8, "HDR": 53.1, "NDR": 106.3,
    "XDR": 212.5,
}  # fmt: skip
"""What a lane of each InfiniBand speed signals (the InfiniBand Trade Association's roadmap)."""

LANES = 4
"""Lanes of a port, if its cable is no splitter."""

SEVERAL = 2
"""Servers of a kind, at least, that tell by their rates alone that they are behind splitters."""

_DIGITS = re.compile(r"[0-9]+")
_PART = r"\d{1,2}x [A-Z]+\d{0,2}"
_RATE = re.compile(rf"({_PART}(?: \+ {_PART})*)(?: in planes [0-9+]+)?", re.ASCII)


def gbps(rate: str) -> float:
    """Return what a rate ("4x NDR", "3x XDR in planes 1+2+4") carries; 0.0 where that is not known."""
    found = _RATE.fullmatch(rate)
    parts = [part.split("x ") for part in found[1].split(" + ")] if found else []
    return sum(int(width) * LANE_GBPS.get(speed, 0.0) for width, speed in parts)


def designed_rate(kind: str) -> str:
    """Return what an interface type ("infiniband-ndr") is built for ("4x NDR"); "" where it says no speed."""
    family, _, speed = kind.partition("-")
    return f"{LANES}x {speed.upper()}" if family == "infiniband" and speed.upper() in LANE_GBPS else ""


def lower(one: str, other: str) -> str:
    """Return the interface type that a link between two ports can have: the slower, or the one that is known."""
    if designed_rate(one) and designed_rate(other):
        return min(one, other, key=lambda kind: gbps(designed_rate(kind)))
    return one or other


def degraded(
    there: Mapping[Link, str], servers: frozenset[str], kinds: Mapping[Link, str]
) -> tuple[tuple[Link, str, str], ...]:
    """Return the links that are narrower or slower than designed, each with its rate and what it is held against.

    `kinds` gives links' designed interface types. A type that says no speed says what is alike: there a link is held
    against most of its type, server to switch or switch to switch, whose ports are called alike ("sw7p2" is whole,
    "sw7p2s1" a half). A link that is faster than that is no fault, one whose rate is not known is not judged, and
    servers of a kind all of whose links have half the lanes are behind splitters.
    """
    rates = {rate: gbps(rate) for rate in set(rates_of(there))}
    designed = {kind: designed_rate(kind) for kind in {"", *kinds.values()}}
    if len(rates) == 1 and max(map(gbps, designed.values())) <= max(rates.values()):
        return ()
    alike: dict[tuple[str, bool, int], list[tuple[Link, str]]] = defaultdict(list)
    for joined, rate in there.items():
        if rates[rate]:
            alike[kinds.get(joined, ""), _at_server(joined, servers), _parts(joined, servers)].append((joined, rate))
    found: list[tuple[Link, str, str]] = []
    for (kind, at_server, _), links in alike.items():
        counted = Counter(rate for _, rate in links)
        most = max(counted, key=lambda rate: (counted[rate], rates[rate]))
        full = _split(designed[kind], most)
        against = f"designed {full}" if full else f"most run at {most}"
        slow = [(joined, rate, against) for joined, rate in links if rates[rate] < gbps(full or most)]
        halved = _halved(links, _half(full or most), servers) if slow and at_server else frozenset()
        found += [each for each in slow if not halved or _server(each[0], servers) not in halved]
    return tuple(sorted(found))


def _parts(joined: Link, servers: frozenset[str]) -> int:
    """Return how many numbers the name of a switch's port has: one more where the port is split."""
    return max((_numbers(port.interface) for port in joined if port.device not in servers), default=0)


@lru_cache(maxsize=65_536)
def _numbers(interface: str) -> int:
    return len(_DIGITS.findall(interface))


def _split(designed: str, most: str) -> str:
    """A splitter cable gives each of its ends half the lanes: where most links of a sort run so, they have them."""
    half = _half(designed)
    return half if most == half else designed


def _half(rate: str) -> str:
    return rate.replace(f"{LANES}x", f"{LANES // 2}x")


def _halved(links: Iterable[tuple[Link, str]], half: str, servers: frozenset[str]) -> frozenset[str]:
    """Return the servers of kinds of which several have all their links at half the lanes: splitters are plugged."""
    rates: dict[str, set[str]] = defaultdict(set)
    kinds: dict[str, set[str]] = defaultdict(set)
    for joined, rate in links:
        server = _server(joined, servers)
        kind = _DIGITS.sub("0", server)
        rates[kind].add(rate)
        kinds[kind].add(server)
    return frozenset(
        server
        for kind, told in rates.items()
        if told == {half} and len(kinds[kind]) >= SEVERAL
        for server in kinds[kind]
    )


def _server(joined: Link, servers: frozenset[str]) -> str:
    return next(port.device for port in joined if port.device in servers)


def _at_server(joined: Link, servers: frozenset[str]) -> bool:
    return joined.a.device in servers or joined.b.device in servers
