"""Links that are there and run below the others of their kind."""

import re
from collections import Counter
from collections.abc import Mapping

from fleet_runner.core.cabling.links import Link

LANE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3, "FDR": 14.1, "EDR": 25.8, "HDR": 53.1, "NDR": 106.3,
    "XDR": 212.5,
}  # fmt: skip
"""What a lane of each InfiniBand speed signals (the InfiniBand Trade Association's roadmap)."""

_RATE = re.compile(r"(\d{1,2})x ([A-Z]+\d{0,2})", re.ASCII)


def gbps(rate: str) -> float:
    """Return what a rate ("4x NDR") carries; 0.0 where that is not known."""
    found = _RATE.fullmatch(rate)
    return int(found[1]) * LANE_GBPS.get(found[2], 0.0) if found else 0.0


def degraded(there: Mapping[Link, str], servers: frozenset[str]) -> tuple[tuple[Link, str, str], ...]:
    """Return the links that are narrower or slower than most of their kind: server to switch, or switch to switch.

    Each with its rate and with what most of its kind run at.

    A link that is faster than most is no fault, and one whose rate is not known is not judged.
    """
    rates = set(there.values())
    if len(rates) == 1:
        return ()
    known = {rate: gbps(rate) for rate in rates}
    kinds: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for joined, rate in there.items():
        if known[rate]:
            kinds[_at_server(joined, servers)][rate] += 1
    usual = {kind: counted.most_common(1)[0][0] for kind, counted in kinds.items() if counted}
    return tuple(
        sorted(
            (joined, rate, most)
            for joined, rate in there.items()
            if known[rate] and known[rate] < known[most := usual[_at_server(joined, servers)]]
        )
    )


def _at_server(joined: Link, servers: frozenset[str]) -> bool:
    return joined.a.device in servers or joined.b.device in servers
