"""Who stands where, before anything is compared: a device most of whose cables fit another place stands in it.

Its neighbours tell: each seen link from X to a port that the design joins to port p of D, and in which X is plugged
with its own port p, is a vote that X stands in D's place. A device that was exchanged, replaced or moved as a whole
is one fault that way, and not one for each of its cables.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass, replace

from fleet_runner.core.cabling.adapters import New, free, moved, new_adapters, unclear
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.links import Link, Port, link, undesigned
from fleet_runner.core.cabling.names import answered_by

Pair = tuple[str, str]
"""A device, and another one's place."""

LEAST_VOTES = 3
"""Cables that fit another place, at least, where no GUID speaks for it: two of them are more likely a swap."""

CLEAR = 2
"""By how many more cables a known device must fit the other place than not: the fewest touches decide."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """Known devices, each in the next one's place; the last in the first's if `closed`, else it is seen nowhere.

    `named`: they stand in their own places, as known GUIDs tell, and only their names are the next one's.
    `doubted`: nothing tells, as cables are as designed by their own names, too: they are told by these.
    """

    devices: tuple[str, ...]
    closed: bool
    named: bool = False
    doubted: bool = False

    @property
    def moved(self) -> bool:
        """Return whether their links are told by the places in which they stand."""
        return not self.named and not self.doubted

    @property
    def places(self) -> dict[str, str]:
        """Return the place of each device, by device."""
        after = (*self.devices[1:], self.devices[0]) if self.closed else self.devices[1:]
        return dict(zip(self.devices, after, strict=False))


@dataclass(frozen=True, slots=True)
class Settled:
    """Seen links by the places in which their devices stand, and who stands where it does not belong.

    `wrong` are those of `links` that are not designed, `nameless` the made-up devices of `links`.
    """

    links: Mapping[Link, str]
    wrong: tuple[Link, ...]
    rings: tuple[Cycle, ...]
    switches: tuple[New, ...]
    adapters: tuple[New, ...]
    nameless: frozenset[str] = frozenset()


def settle(expected: Mapping[Port, Port], seen: Bound, wrong: Iterable[Link], servers: frozenset[str]) -> Settled:
    """Name every seen end by the place in which it stands.

    `expected` is what `links.matching` returns, `wrong` are the seen links that are not designed.
    """
    wrong = tuple(wrong)
    gone = moved(expected, wrong, seen)
    if gone:
        seen = replace(seen, links=_named(seen.links, gone), certain=seen.certain.difference(gone))
        wrong = tuple(undesigned(seen.links, expected))
    told = _told(expected, seen)
    places = _places(expected, wrong, seen, servers, told)
    strangers = {device: places.pop(device) for device in sorted(seen.strangers.keys() & places.keys())}
    rings = _rings(places, _anchored(expected, seen, places, servers), told.keys())
    rings = _doubted(rings, expected, seen, strangers)
    ports = _standing(expected, seen, strangers, rings) | _renamed(wrong, seen, rings)
    settled = replace(seen, links=_named(seen.links, ports)) if ports else seen
    wrong = tuple(undesigned(settled.links, expected)) if ports else wrong
    new = new_adapters(expected, wrong, settled, servers)
    doubted = unclear(wrong, seen, ports)
    links = _named(settled.links, new | doubted) if new or doubted else settled.links
    wrong = tuple(undesigned(links, expected)) if new or doubted else wrong
    switches = [_new_switch(seen, device, place) for device, place in strangers.items()]
    adapters = [New(place, seen.lost[place], seen.strangers[port.device].guid) for port, place in new.items()]
    adapters += [New(place, seen.said[port].known, seen.said[port].end.guid, port) for port, place in gone.items()]
    for each in _renewed(expected, links, seen) if seen.renewed else ():
        if each.port.device in servers:
            adapters.append(each)
        elif each.port.device not in places:
            switches.append(each)
    there = tuple(each for each in adapters if link(each.port, expected.get(each.port, each.port)) in links)
    nameless = seen.nameless | {port.device for port in doubted.values()}
    return Settled(links, wrong, rings, tuple(switches), there, nameless)


def _renewed(expected: Mapping[Port, Port], links: Mapping[Link, str], seen: Bound) -> Iterator[New]:
    """Yield what has another GUID than the known one, of devices that stand in their place."""
    devices = {port.device for port in seen.renewed}
    standing = {port.device for port in expected if port.device in devices and link(port, expected[port]) in links}
    for port, found in seen.renewed.items():
        if port.device in standing:
            yield New(port, seen.lost[port], found)


def _told(expected: Mapping[Port, Port], seen: Bound) -> Counter[Pair]:
    """Count adapters in their own places, as known GUIDs tell, by the device that they say to be, and the place."""
    return Counter(
        (said.port.device, port.device)
        for port, said in seen.said.items()
        if said.port.device != port.device and link(port, expected.get(port, port)) in seen.links
    )


def _places(
    expected: Mapping[Port, Port], wrong: Iterable[Link], seen: Bound, servers: frozenset[str], told: Counter[Pair]
) -> dict[str, str]:
    """Return in whose place each device stands, or whose it tells, that does not stand in its own."""
    votes = _votes(expected, wrong, seen)
    said = Counter({pair: count for pair, count in told.items() if pair in votes})
    votes.update(said)
    absent = {port.device for port in seen.lost} - {port.device for port in seen.certain}
    chosen = {pair for pair, count in votes.items() if count >= LEAST_VOTES or pair[1] in absent or pair in said}
    if not chosen:
        return {}
    cables = Counter(port.device for joined in seen.links for port in joined)
    everyone = frozenset(cables)
    for (device, place), count in said.items():  # what its GUID binds to the place tells the device's name
        cables[device] += count
        cables[place] -= count
    clear = [
        (device, place)
        for device, place in chosen
        if (_clear_stranger if device in seen.strangers else _clear)(
            votes[device, place], cables[device], said[device, place]
        )
        and _alike(device, place, seen, servers)
    ]
    clear.sort(key=lambda pair: (votes[pair], pair))
    best = {place: device for device, place in clear}  # the last of each place
    return _possible({device: place for place, device in best.items()}, everyone, seen, said)


def _votes(expected: Mapping[Port, Port], wrong: Iterable[Link], seen: Bound) -> Counter[Pair]:
    """Count the cables of each device that fit another one's place. Strangers tell their ports by number."""
    votes: Counter[Pair] = Counter()
    numbered: list[tuple[Port, Port]] = []
    for a, b in wrong:
        for port, near in ((a, b), (b, a)):
            fitting = expected.get(near)
            if fitting and fitting.device != port.device:
                if port.device in seen.strangers:
                    numbered.append((port, fitting))
                elif port.interface == fitting.interface:
                    votes[port.device, fitting.device] += 1
    spoken = _spoken(expected, {fitting.device for _, fitting in numbered})
    for port, fitting in numbered:
        votes[port.device, fitting.device] += spoken[fitting.device].get(port.interface) == fitting
    return votes


def _spoken(ports: Iterable[Port], devices: Collection[str]) -> dict[str, Mapping[str, Port]]:
    """Return what the ports of some devices answer to."""
    mine: dict[str, list[Port]] = {device: [] for device in devices}
    for port in ports if devices else ():
        if port.device in mine:
            mine[port.device].append(port)
    return {device: answered_by(found) for device, found in mine.items()}


def _clear(votes: int, cables: int, said: int) -> bool:
    return (votes >= LEAST_VOTES or said > 0) and 2 * votes >= cables + CLEAR


def _clear_stranger(votes: int, cables: int, _: int) -> bool:
    return 2 * votes > cables


def _alike(device: str, place: str, seen: Bound, servers: frozenset[str]) -> bool:
    """A node that calls itself by a name of its own is no new adapter, but unplanned."""
    if device in seen.strangers:
        return seen.strangers[device].kind == "SW" and place not in servers
    return (device in servers) == (place in servers)


def _possible(
    places: dict[str, str], everyone: Collection[str], seen: Bound, said: Collection[Pair]
) -> dict[str, str]:
    """A place is free if its own device is seen nowhere, or stands in another's itself, or only has another name."""
    while taken := [
        (device, place)
        for device, place in places.items()
        if place in everyone and (place not in places or device in seen.strangers) and (device, place) not in said
    ]:
        for device, _ in taken:
            del places[device]
    return places


def _anchored(
    expected: Mapping[Port, Port], seen: Bound, places: Mapping[str, str], servers: frozenset[str]
) -> frozenset[str]:
    """Return the servers of which known GUIDs are rather seen in their own place than in the other one."""
    moving = servers.intersection(places) if seen.certain else frozenset[str]()
    home: Counter[str] = Counter()
    away: Counter[str] = Counter()
    for a, b in seen.links if moving else ():
        for port, near in ((a, b), (b, a)):
            if port.device in moving and port in seen.certain:
                fitting = expected.get(near)
                home[port.device] += fitting == port
                away[port.device] += fitting == Port(places[port.device], port.interface)
    return frozenset(device for device in home if home[device] and home[device] >= away[device])


def _standing(
    expected: Mapping[Port, Port], seen: Bound, strangers: Mapping[str, str], rings: Iterable[Cycle]
) -> dict[Port, Port]:
    """Return the ports of devices by the place in which each stands; strangers tell theirs by number."""
    standing = (ring for ring in rings if ring.moved)
    places = {device: place for ring in standing for device, place in ring.places.items()}
    spoken = _spoken(expected, set(strangers.values()))
    ports: dict[Port, Port] = {}
    for joined in seen.links if places or strangers else ():
        for port in joined:
            if port.device in places:
                ports[port] = Port(places[port.device], port.interface)
            elif port.device in strangers:
                place = strangers[port.device]
                ports[port] = spoken[place].get(port.interface) or Port(place, port.interface)
    return ports


def _renamed(wrong: Iterable[Link], seen: Bound, rings: Iterable[Cycle]) -> dict[Port, Port]:
    """Return the ports that are told by another device's name, by their own one's: what GUIDs tell stays."""
    places = {device: place for ring in rings if ring.named for device, place in ring.places.items()}
    named = {port for joined in wrong for port in joined if port.device in places} - seen.certain
    return free({port: Port(places[port.device], port.interface) for port in named}, seen.links)


def _named(links: Mapping[Link, str], ports: Mapping[Port, Port]) -> dict[Link, str]:
    return {_ends(joined, ports): rate for joined, rate in links.items()}


def _ends(joined: Link, ports: Mapping[Port, Port]) -> Link:
    a, b = joined
    return link(ports.get(a, a), ports.get(b, b)) if a in ports or b in ports else joined


def _new_switch(seen: Bound, device: str, place: str) -> New:
    known = {port: guid for port, guid in seen.lost.items() if port.device == place}
    port = min(known, default=Port(place, ""))
    return New(port, known.get(port, ""), seen.strangers[device].guid)


def _rings(places: Mapping[str, str], anchored: frozenset[str], told: KeysView[Pair]) -> tuple[Cycle, ...]:
    """Return each chain of devices in the next one's place, from where nobody stands, or round a cycle.

    Devices that are `anchored`, or `told` by their GUIDs to have another's name, have exchanged their names only.
    """
    rings: list[Cycle] = []
    left = dict(places)
    for start in (*sorted(places.keys() - set(places.values())), *sorted(places)):
        devices: list[str] = []
        device = start
        while device in left:
            devices.append(device)
            device = left.pop(device)
        if not devices:
            continue
        ring = Cycle(tuple(devices), closed=True) if device == start else Cycle((*devices, device), closed=False)
        sure = not told.isdisjoint(ring.places.items())
        anchor = not anchored.isdisjoint(devices)
        if ring.closed or sure or not anchor:
            rings.append(replace(ring, named=sure or anchor))
    return tuple(rings)


def _doubted(
    rings: tuple[Cycle, ...], expected: Mapping[Port, Port], seen: Bound, strangers: Mapping[str, str]
) -> tuple[Cycle, ...]:
    """Return the rings, each doubted that would make a cable wrong which is as designed by its devices' own names."""
    while rings:
        ports = _standing(expected, seen, strangers, rings)
        right = (joined for joined in seen.links if expected.get(joined.a) == joined.b)
        moved_ends = ((joined, _ends(joined, ports)) for joined in right)
        lost = {port.device for each, (a, b) in moved_ends if expected.get(a) != b for port in each if port in ports}
        found = tuple(ring if lost.isdisjoint(ring.devices) else replace(ring, doubted=True) for ring in rings)
        if found == rings:
            break
        rings = found
    return rings
