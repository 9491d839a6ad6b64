"""Ports of which the design does not say what belongs there: what is plugged there is neither right nor wrong.

So it is with a patch panel of which nobody says which front port leads to which rear port, and with a record of the
source of truth that could not be read.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, both_ends


class Apart(NamedTuple):
    """Designed links that can be compared, the ports at the others' ends, and the panels that these go through."""

    links: tuple[Link, ...]
    ports: frozenset[Port]
    panels: tuple[str, ...]


def compared(seen: Mapping[Link, str], ports: Collection[Port], designed: Collection[Port]) -> Mapping[Link, str]:
    """Return what is seen without the cables at such `ports`; one at a port that is another's by design stays."""
    if not ports:
        return seen

    def left(near: Port, far: Port) -> bool:
        return near in ports and far not in designed

    return {each: rate for each, rate in seen.items() if not (left(each.a, each.b) or left(each.b, each.a))}


def apart(links: Iterable[Link], panels: Collection[str]) -> Apart:
    """Set the designed links apart that end at a patch panel: they are one half of a way, or less."""
    every = tuple(links)
    if not panels:
        return Apart(every, frozenset(), ())
    through = dict.fromkeys(each for each in every if not panels_of(each).isdisjoint(panels))
    ports = frozenset(port for each in through for port in each if port.device not in panels)
    named = sorted({device for each in through for device in panels_of(each).intersection(panels)})
    return Apart(tuple(each for each in every if each not in through), ports, tuple(named))


def panels_of(joined: Link) -> frozenset[str]:
    """Return the devices that a link joins."""
    return frozenset((joined.a.device, joined.b.device))


def passive(links: Iterable[Link], seen: Collection[Link]) -> frozenset[str]:
    """Return the devices that must be patch panels: seen nowhere, while what is cabled to them is joined.

    A switch that is dark joins nothing: of what is cabled to it nothing is seen, or it is seen at another switch's
    ports. Two ports that are joined, and that the design leads to devices which nobody sees, are joined by these.
    """
    every = tuple(links)
    here = {port.device for pair in both_ends(seen) for port in pair}
    unseen = {port.device for each in every for port in each} - here
    if not unseen:
        return frozenset()
    far = {port: other.device for each in every for port, other in (each, each[::-1]) if other.device in unseen}
    found = {far[port] for each in seen if each.a in far and each.b in far for port in each}
    while more := {
        device
        for each in every
        if panels_of(each) <= unseen and not panels_of(each).isdisjoint(found)
        for device in panels_of(each) - found
    }:
        found |= more
    return frozenset(found)
