"""What a design that is of a part of a fabric says nothing of: hosts' cables only, one pod, one rail.

Who names files of cables may name some of them. That a capture shows more is seen from links between two devices that
the design does not have, and from cables between switches where it has none. Then what is plugged into ports without
a designed cable may be as right as the rest: it is listed, and nobody is told to unplug it.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, devices_of, link
from fleet_runner.core.checks.parsers.discovery import FabricPort


class Unjudged(NamedTuple):
    """Seen links that the design does not know and that are no faults, by what it knows of their ends.

    `beside` are at a device that it has, each with that end first, `uplinks` between switches where it has no cable
    between any, and `outside` between devices that it does not have. `hosts`: servers are at switches of a design
    that has none. `above` are switches that it does not have, and that join several of its own: a tier that it leaves
    out.
    """

    beside: tuple[tuple[Port, Port], ...] = ()
    uplinks: tuple[Link, ...] = ()
    outside: tuple[Link, ...] = ()
    hosts: bool = False
    above: frozenset[str] = frozenset()

    @property
    def partial(self) -> bool:
        """Whether they show that the design is of a part of what is seen."""
        return bool(self.uplinks or self.outside or self.hosts)


def sort(
    unbound: Collection[Link],
    expected: Mapping[Port, Port],
    servers: Collection[str],
    strangers: Mapping[str, FabricPort],
) -> Unjudged:
    """Sort links that the design does not know. `strangers` gives an end of each device that it does not have."""
    if not unbound:
        return Unjudged()
    devices = devices_of(expected)
    switches = _switches(expected, servers, strangers)
    beside, uplinks, outside = list[tuple[Port, Port]](), list[Link](), list[Link]()
    for joined in sorted(unbound):
        ends = {port.device for port in joined}
        if ends.isdisjoint(devices):
            outside.append(joined)
        elif ends <= switches:
            uplinks.append(joined)
        else:
            beside.append((joined.a, joined.b) if joined.a.device in devices else (joined.b, joined.a))
    none = devices.isdisjoint(servers)  # a server at what seems to be one tells that this is a switch
    alone = {far.device for near, far in beside if none or near.device in servers}
    hosts = any(device in strangers and strangers[device].kind != "SW" for device in alone)
    return Unjudged(tuple(beside), tuple(uplinks), tuple(outside), hosts, _above(beside, servers, strangers))


def _above(
    beside: Iterable[tuple[Port, Port]], servers: Collection[str], strangers: Mapping[str, FabricPort]
) -> frozenset[str]:
    """Return the unknown switches that are plugged into several designed ones, and into no server."""
    below: dict[str, set[str]] = {}
    for near, far in beside:
        if far.device in strangers and strangers[far.device].kind == "SW":
            below.setdefault(far.device, set()).add(near.device)
    return frozenset(device for device, near in below.items() if len(near) > 1 and near.isdisjoint(servers))


def untold(
    others: Iterable[Link],
    expected: Mapping[Port, Port],
    servers: Collection[str],
    strangers: Mapping[str, FabricPort],
) -> frozenset[Link]:
    """Return the undesigned links that may be right, since the design is of a part of what is seen; else none.

    What is plugged into a designed port is not among them, nor is a cable between two designed devices, of which one
    is a server or that the design joins to others of their kind.
    """
    free = [each for each in others if each.a not in expected and each.b not in expected and each.a != each.b]
    found = sort(free, expected, servers, strangers)
    if not found.partial:
        return frozenset(each for each in free if not found.above.isdisjoint((each.a.device, each.b.device)))
    devices = devices_of(expected)
    known = {link(*pair) for pair in found.beside if pair[1].device in devices}
    return frozenset(free) - known


def unknown(
    found: Unjudged, expected: Mapping[Port, Port], observed: Mapping[Port, Port], servers: Collection[str]
) -> int:
    """Return how many links that the design does not know count against the capture.

    Where a designed link is there, and most of the designed switches, it is the design's fabric: then those at its
    devices do, and none if the design is of a part of it. Both mappings are what `links.matching` returns.
    """
    switches = devices_of(expected) - set(servers)
    seen = switches.intersection(port.device for port in observed)
    if 2 * len(seen) <= len(switches) or all(observed.get(a) != b for a, b in expected.items()):
        return len(found.beside) + len(found.uplinks) + len(found.outside)
    mine = sum(far.device not in found.above for _, far in found.beside)
    return 0 if found.partial or not _joined(expected, servers) else mine


def _joined(expected: Mapping[Port, Port], servers: Collection[str]) -> bool:
    """Whether the design has a cable between switches."""
    return any(a.device not in servers and b.device not in servers for a, b in expected.items())


def _switches(
    expected: Mapping[Port, Port], servers: Collection[str], strangers: Mapping[str, FabricPort]
) -> frozenset[str]:
    """Return the switches, seen and designed, of a design that has no cable between switches; else none."""
    if _joined(expected, servers):
        return frozenset()
    mine = devices_of(expected) - set(servers)
    return frozenset(mine | {device for device, end in strangers.items() if end.kind == "SW"})
