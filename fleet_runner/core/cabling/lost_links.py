"""Cables between two switches that an earlier sweep heard, and of which neither end hears anything now.

A port that hears nobody says nothing by itself: LLDP may be off there. That an earlier sweep heard the same cable
says that it was on; and both switches were read and hear others, so that it still runs on them. Then the cable is
out, or somebody switched LLDP off at these ports since: a look at the ports tells, and is what is asked for first.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling import outages, suspect
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.explain import Fault, Kind, Places, listed, some
from fleet_runner.core.cabling.links import Link, Port, far_ends
from fleet_runner.core.cabling.plan import Restore


class Seen(NamedTuple):
    """What one sweep heard: the links that are believed, and ports that are up, whatever they hear.

    `hearing` are the switches that were read and hear somebody.
    """

    links: Collection[Link]
    hearing: Collection[str]
    up: Collection[Port]


def between(links: Iterable[Link], servers: Collection[str]) -> frozenset[Link]:
    """Return the links that join two switches."""
    return frozenset(each for each in links if each.a.device not in servers and each.b.device not in servers)


def written(links: Iterable[Link]) -> dict[str, dict[str, list[str]]]:
    """Return links as a sweep keeps them: {device: {other device: [ports of the first]}}."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for a, b in sorted(links):
        found[a.device][b.device].append(a.interface)
    return {device: dict(others) for device, others in found.items()}


def remembered(told: object, links: Iterable[Link]) -> frozenset[Link]:
    """Return which designed links `written` named; what cannot be read was not heard."""
    devices = told if isinstance(told, Mapping) else {}
    return frozenset(each for each in links if each.a.interface in _ports(devices.get(each.a.device), each.b.device))


def _ports(others: object, device: str) -> list[object] | tuple[object, ...]:
    ports = others.get(device) if isinstance(others, Mapping) else None
    return ports if isinstance(ports, list | tuple) else ()


def lost(silent: Iterable[Link], before: Collection[Link], seen: Seen, design: EthernetDesign) -> tuple[Fault, ...]:
    """Return the faults of lost cables: one for each two switches, or for the trunk that carries them.

    `silent` are designed links of which no end is heard, `before` links that an earlier sweep heard. So many at once
    that no fault of cables explains them are none.
    """
    gone = [
        each
        for each in silent
        if each in before
        and {each.a.device, each.b.device} <= set(seen.hearing)
        and each.a not in seen.up
        and each.b not in seen.up
    ]
    if not gone:
        return ()
    places, everybody = design.places, {port.device for each in design.links for port in each}
    down = outages.gather(gone, far_ends(design.links), far_ends(seen.links), places, everybody)
    carried = {each for links in down.values() for each in links}
    pairs: dict[tuple[str, str], list[Link]] = defaultdict(list)
    for each in sorted(set(gone) - carried):
        pairs[each.a.device, each.b.device].append(each)
    count = Counter((each.a.device, each.b.device) for each in design.links)
    found = [outages.fault(outage, links, places) for outage, links in down.items()]
    found += [_fault(tuple(links), count[pair], places) for pair, links in pairs.items()]
    if len(found) > suspect.limit(len(design.links), design.share):
        return ()
    return tuple(found)


def _fault(links: tuple[Link, ...], designed: int, places: Places) -> Fault:
    one, other = links[0].a.device, links[0].b.device
    message = (
        f"{one} and {other} do not hear each other any more over {len(links)} of {designed} designed cables:"
        f" {listed(links)}. An earlier sweep heard them, and both switches hear others."
    )
    ports = tuple(sorted(port for each in links for port in each))
    steps = (
        f"Ask both switches whether these ports are up: {some(map(str, ports))}.",
        "If they are up, LLDP was switched off there: switch it on, and move no cable.",
        *(
            f"If they are down, reseat the cable at {places.port(a)} and {places.port(b)}; if it stays, replace it."
            for a, b in links
        ),
    )
    key = f"cabling/lost/{one}/{other}"
    return Fault(Kind.MISSING, key, message, steps, (Restore(f"{one} to {other}", links),), ports, links)
