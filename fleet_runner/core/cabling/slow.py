"""What is told of a link that runs below its peers: the cage it shares with another, and the planes that it lacks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fleet_runner.core.cabling.explain import Fault, Places, degraded_fault, says
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.planes import IN_PLANES, planes_of
from fleet_runner.core.cabling.rates import LANES, degraded

_HALF = re.compile(
    r"(?P<cage>[^0-9]*(?:sw[0-9]{1,3}(?=p)|P[0-9]{1,3}(?=\.)|[0-9]{1,3}/[0-9]{1,3}(?=/)))"
    r"[p./](?P<half>[0-9])(?P<split>(?:s|/)[0-9])?$",
    re.ASCII,
)
"""The names of ports that share a cage: "sw7p2", "P7.1", "IB1/7/2"; split once more "sw7p2s1", "1/7/2/1"."""


class Half(NamedTuple):
    """A cage of a switch, as its ports' names begin, and the part of it that a port is."""

    device: str
    cage: str
    part: str


def half(port: Port) -> Half | None:
    """Return the cage that a port's name tells; None for a name that tells none."""
    found = _HALF.match(port.interface)
    return Half(port.device, found["cage"], found["half"] + (found["split"] or "")) if found else None


def slow_faults(there: Mapping[Link, str], expected: Mapping[Port, Port], places: Places) -> Iterator[Fault]:
    """Yield a fault for each link that runs below what it is held against, with what it shares a cage with."""
    slow = degraded(there, places.servers, places.kinds)
    cages = _cages(expected) if slow else {}
    wrong = {joined for joined, _, _ in slow}
    for joined, rate, against in slow:
        told = degraded_fault(joined, rate, against, places)
        planes = planes_of(rate)
        if planes:
            told = replace(told, message=_planes(joined, rate, against))
        twins = [
            (mine, each)
            for port in joined
            if (mine := half(port))
            for each in cages.get(mine[:2], ())
            if each != port
        ]
        for mine, twin in twins:
            told = _beside(told, mine, twin, _rate(twin, there, expected), slow=link(twin, expected[twin]) in wrong)
        yield told


def _cages(expected: Mapping[Port, Port]) -> dict[tuple[str, str], list[Port]]:
    """Return the designed ports of each cage."""
    found: dict[tuple[str, str], list[Port]] = {}
    for port in sorted(expected):
        if mine := half(port):
            found.setdefault(mine[:2], []).append(port)
    return found


def _rate(port: Port, there: Mapping[Link, str], expected: Mapping[Port, Port]) -> str:
    """Return what the designed link at a port runs at; "" where it is not seen, or nobody tells."""
    return there.get(link(port, expected[port]), "")


def _beside(told: Fault, mine: Half, twin: Port, rate: str, *, slow: bool) -> Fault:
    """Add to a fault which part of a cage it is at, and how another part of it runs."""
    cage = f"cage {mine.cage} of {mine.device}"
    runs = f"runs at {rate.partition(IN_PLANES)[0]}" if rate else "is not seen"
    message = f"{told.message} It is half {mine.part} of {cage}, whose other half {twin.interface} {runs}."
    if slow:
        step = f"Both halves of {cage} are slow: look at the module that they share first."
    else:
        step = f"Reseat this half's own connector first: taking the module out of {cage} takes {twin} down, too."
    return replace(told, message=message, steps=(step, *told.steps))


def _planes(joined: Link, rate: str, against: str) -> str:
    """Say which planes of a link are up, and which of those that its peers have is not."""
    planes = planes_of(rate)
    all_planes = planes_of(against) or frozenset(range(1, LANES + 1))
    carried, held = rate.partition(IN_PLANES)[0], against.partition(IN_PLANES)[0]
    missing = sorted(all_planes - planes)
    lost = f"; {_numbers(missing)} not seen" if missing else ""
    return (
        f"The link {says(joined)} has {len(planes)} of {len(all_planes)} planes{lost}: it runs at {carried}, {held}."
        " All of its planes are in this one cable."
    )


def _numbers(planes: list[int]) -> str:
    words = ", ".join(map(str, planes))
    return f"plane {words} is" if len(planes) == 1 else f"planes {words} are"
