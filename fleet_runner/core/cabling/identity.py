"""Who stands where, before anything is compared: a device most of whose cables fit another place stands in it.

Its neighbours tell: each seen link from X to a port that the design joins to port p of D, and in which X is plugged
with its own port p, is a vote that X stands in D's place. A device that was exchanged, replaced or moved as a whole
is one fault that way, and not one for each of its cables.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import Bound, names_no_other, spoken_of

LEAST_VOTES = 3
"""Cables that fit another place, at least, where no GUID speaks for it: two of them are more likely a swap."""

CLEAR = 2
"""By how many more cables a known device must fit the other place than not: the fewest touches decide."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Known devices, each in the next one's place; the last in the first's if `closed`, else it is seen nowhere."""

    devices: tuple[str, ...]
    closed: bool


@dataclass(frozen=True, slots=True)
class New:
    """What stands in a known place for the first time: the GUID known there ("" for none) and the one found."""

    port: Port
    known: str
    found: str


@dataclass(frozen=True, slots=True)
class Settled:
    """Seen links by the places in which their devices stand, and who stands where it does not belong."""

    links: Mapping[Link, str]
    rings: tuple[Ring, ...]
    switches: tuple[New, ...]
    adapters: tuple[New, ...]


def settle(expected: Mapping[Port, Port], seen: Bound, servers: frozenset[str]) -> Settled:
    """Name every seen end by the place in which it stands. `expected` is what `links.matching` returns."""
    links = seen.links
    wrong = _wrong(expected, links)
    places = _places(expected, wrong, seen, servers) if wrong else {}
    if places:
        links = _moved_in(expected, seen, places)
        wrong = _wrong(expected, links)
    ports = _new_adapters(expected, wrong, seen, servers) if wrong and seen.lost and seen.nameless else {}
    if ports:
        links = {_ends(joined, ports): rate for joined, rate in links.items()}
    known = {device: place for device, place in places.items() if device not in seen.strangers}
    switches = [_new_switch(seen, device, place) for device, place in places.items() if device in seen.strangers]
    adapters = [New(place, seen.lost[place], seen.strangers[port.device].guid) for port, place in ports.items()]
    for new in _renewed(expected, links, seen) if seen.renewed else ():
        if new.port.device in servers:
            adapters += [new] if link(new.port, expected.get(new.port, new.port)) in links else []
        elif new.port.device not in known:
            switches.append(new)
    return Settled(links, _rings(known), tuple(switches), tuple(adapters))


def _wrong(expected: Mapping[Port, Port], links: Iterable[Link]) -> list[Link]:
    return [joined for joined in links if expected.get(joined.a) != joined.b]


def _renewed(expected: Mapping[Port, Port], links: Mapping[Link, str], seen: Bound) -> Iterator[New]:
    """Yield what has another GUID than the known one, of devices that stand in their place."""
    devices = {port.device for port in seen.renewed}
    standing = {port.device for port in expected if port.device in devices and link(port, expected[port]) in links}
    for port, found in seen.renewed.items():
        if port.device in standing:
            yield New(port, seen.lost[port], found)


def _places(
    expected: Mapping[Port, Port], wrong: Iterable[Link], seen: Bound, servers: frozenset[str]
) -> dict[str, str]:
    """Return in whose place each device stands that does not stand in its own."""
    votes: Counter[tuple[str, str]] = Counter()
    for a, b in wrong:
        for port, near in ((a, b), (b, a)):
            fitting = expected.get(near)
            if fitting and fitting.device != port.device and _fits(port, fitting, seen):
                votes[port.device, fitting.device] += 1
    absent = {port.device for port in seen.lost} - seen.certain
    chosen = {pair for pair, count in votes.items() if count >= LEAST_VOTES or pair[1] in absent}
    if not chosen:
        return {}
    cables = Counter(port.device for joined in seen.links for port in joined)
    clear = [pair for pair in chosen if _clear(votes[pair], cables[pair[0]], pair, seen, servers)]
    clear.sort(key=lambda pair: (votes[pair], pair))
    best = {place: device for device, place in clear}  # the last of each place
    return _possible({device: place for place, device in best.items()}, cables.keys(), seen)


def _fits(port: Port, fitting: Port, seen: Bound) -> bool:
    """A switch that the design does not know tells its ports by number."""
    if port.device in seen.strangers:
        return spoken_of([fitting]).get(port.interface) == fitting
    return port.interface == fitting.interface


def _clear(count: int, cables: int, pair: tuple[str, str], seen: Bound, servers: frozenset[str]) -> bool:
    device, place = pair
    if device in seen.strangers:  # a node that calls itself by a name of its own is no new adapter, but unplanned
        return 2 * count > cables and seen.strangers[device].kind == "SW" and place not in servers
    enough = count >= LEAST_VOTES and 2 * count >= cables + CLEAR
    return enough and (device in servers) == (place in servers)


def _possible(places: dict[str, str], there: Iterable[str], seen: Bound) -> dict[str, str]:
    """A place is free if its own device is seen nowhere, or stands in another's itself."""
    everyone = set(there)
    while taken := [
        device
        for device, place in places.items()
        if place in everyone and (place not in places or device in seen.strangers)
    ]:
        for device in taken:
            del places[device]
    return places


def _moved_in(expected: Mapping[Port, Port], seen: Bound, places: Mapping[str, str]) -> dict[Link, str]:
    """Name the ports of each device by the place in which it stands."""
    wanted = {places[device] for device in places if device in seen.strangers}
    mine: dict[str, list[Port]] = {place: [] for place in wanted}
    for port in expected if wanted else ():
        if port.device in wanted:
            mine[port.device].append(port)
    spoken = {place: spoken_of(ports) for place, ports in mine.items()}
    ports: dict[Port, Port] = {}
    for joined in seen.links:
        for port in joined:
            place = places.get(port.device)
            if place is not None:
                there = spoken[place].get(port.interface) if port.device in seen.strangers else None
                ports[port] = there or Port(place, port.interface)
    return {_ends(joined, ports): rate for joined, rate in seen.links.items()}


def _ends(joined: Link, ports: Mapping[Port, Port]) -> Link:
    a, b = joined
    return link(ports.get(a, a), ports.get(b, b)) if a in ports or b in ports else joined


def _new_adapters(
    expected: Mapping[Port, Port], wrong: Iterable[Link], seen: Bound, servers: frozenset[str]
) -> dict[Port, Port]:
    """Return the port of each nameless adapter that stands where a server's known one did, whose GUID is nowhere."""
    lost = seen.lost.keys() - {port for joined in seen.links for port in joined}
    found: dict[Port, Port] = {}
    for a, b in wrong:
        for port, near in ((a, b), (b, a)):
            place = expected.get(near)
            if (
                place
                and port.device in seen.nameless
                and seen.strangers[port.device].kind != "SW"
                and place in lost
                and place.device in servers
                and names_no_other(seen.strangers[port.device], place.device)
            ):
                found[port] = place
    return found


def _new_switch(seen: Bound, device: str, place: str) -> New:
    known = {port: guid for port, guid in seen.lost.items() if port.device == place}
    port = min(known, default=Port(place, ""))
    return New(port, known.get(port, ""), seen.strangers[device].guid)


def _rings(places: Mapping[str, str]) -> tuple[Ring, ...]:
    """Return each chain of devices in the next one's place, from where nobody stands, or round a cycle."""
    rings: list[Ring] = []
    left = dict(places)
    for start in (*sorted(places.keys() - set(places.values())), *sorted(places)):
        devices = []
        device = start
        while device in left:
            devices.append(device)
            device = left.pop(device)
        if devices:
            closed = device == start
            rings.append(Ring((*devices, *(() if closed else (device,))), closed))
    return tuple(rings)
