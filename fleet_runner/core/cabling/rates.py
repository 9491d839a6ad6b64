"""Links that are there and run below what they are designed for, or below the others of their kind."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from fleet_runner.core.cabling.links import Link

LANE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3, "FDR": 14.1, "EDR": 25.8, "HDR": 53.1, "NDR": 106.3,
    "XDR": 212.5,
}  # fmt: skip
"""What a lane of each InfiniBand speed signals (the InfiniBand Trade Association's roadmap)."""

LANES = 4
"""Lanes of a port, if its cable is no splitter."""

_RATE = re.compile(r"(\d{1,2})x ([A-Z]+\d{0,2})", re.ASCII)


def gbps(rate: str) -> float:
    """Return what a rate ("4x NDR") carries; 0.0 where that is not known."""
    found = _RATE.fullmatch(rate)
    return int(found[1]) * LANE_GBPS.get(found[2], 0.0) if found else 0.0


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
    against most of its type, server to switch or switch to switch. A link that is faster than that is no fault, and
    one whose rate is not known is not judged.
    """
    rates = {rate: gbps(rate) for rate in set(there.values())}
    designed = {kind: designed_rate(kind) for kind in {"", *kinds.values()}}
    if len(rates) == 1 and max(map(gbps, designed.values())) <= max(rates.values()):
        return ()
    alike: dict[tuple[str, bool], list[tuple[Link, str]]] = defaultdict(list)
    for joined, rate in there.items():
        if rates[rate]:
            alike[kinds.get(joined, ""), _at_server(joined, servers)].append((joined, rate))
    found: list[tuple[Link, str, str]] = []
    for (kind, _), links in alike.items():
        counted = Counter(rate for _, rate in links)
        most = max(counted, key=lambda rate: (counted[rate], rates[rate]))
        full = _split(designed[kind], most)
        against = f"designed {full}" if full else f"most run at {most}"
        found += [(joined, rate, against) for joined, rate in links if rates[rate] < gbps(full or most)]
    return tuple(sorted(found))


def _split(designed: str, most: str) -> str:
    """A splitter cable gives each of its ends half the lanes: where most links of a sort run so, they have them."""
    half = designed.replace(f"{LANES}x", f"{LANES // 2}x")
    return half if most == half else designed


def _at_server(joined: Link, servers: frozenset[str]) -> bool:
    return joined.a.device in servers or joined.b.device in servers
