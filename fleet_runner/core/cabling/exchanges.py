"""Devices that stand where others belong, and new ones in an old place: one fault each, and no cable to move."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.adapters import New
from fleet_runner.core.cabling.diff import Component
from fleet_runner.core.cabling.explain import SHOWN, Fault, Kind, Places, digest, listed, some
from fleet_runner.core.cabling.identity import Cycle, Settled
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.plan import Action, Exchange, Record, Restore, renamed


@dataclass(frozen=True, slots=True)
class Found:
    """What is known beside who stands where.

    `there` are the designed links that are there once places are told apart, `empty` the missing links of places in
    which nothing stands, `certain` the devices of which a known GUID is seen.
    """

    there: Iterable[Link]
    empty: Mapping[str, tuple[Link, ...]]
    certain: frozenset[str]


def identity_faults(settled: Settled, found: Found, places: Places) -> Iterator[Fault]:
    """Yield one fault for each new switch, each server with new adapters, and each ring that is not doubted."""
    links = _by_device(settled, found.there)
    for ring in settled.rings:
        if ring.doubted:
            continue
        mine = {joined for device in ring.devices for joined in links[device]}
        tell = _misnamed if ring.named else _exchanged
        yield tell(ring, tuple(sorted(mine)), found, places)
    for new in settled.switches:
        yield _new_switch(new, tuple(sorted(links[new.port.device])), places)
    adapters: dict[str, list[New]] = defaultdict(list)
    for new in sorted(settled.adapters, key=lambda new: new.port):
        adapters[new.port.device].append(new)
    for device, news in adapters.items():
        ports = {new.port for new in news}
        yield _new_adapters(news, tuple(sorted(each for each in links[device] if ports & set(each))), places)


def _by_device(settled: Settled, there: Iterable[Link]) -> dict[str, list[Link]]:
    devices = {device for ring in settled.rings for device in ring.devices}
    devices.update(new.port.device for new in (*settled.switches, *settled.adapters))
    links: dict[str, list[Link]] = defaultdict(list)
    for joined in there if devices else ():
        for device in devices.intersection((joined.a.device, joined.b.device)):
            links[device].append(joined)
    return links


def _exchanged(ring: Cycle, links: tuple[Link, ...], found: Found, places: Places) -> Fault:
    """Serials come first: exchanged devices, their exchanged cables and their exchanged names look the same."""
    devices = ring.devices
    empty = () if ring.closed else found.empty.get(devices[0], ())
    back = dict(zip((*devices[1:], devices[0]), devices, strict=True))
    actions: tuple[Action, ...] = (Exchange(devices),)
    if empty:
        actions = (*actions, Restore(devices[-1], empty))
    expected = (*links, *empty)
    return Fault(
        Kind.EXCHANGED,
        _key(devices),
        _who(ring) + _proof(ring, found.certain),
        _read_the_serial_first(ring, places),
        actions,
        tuple(sorted(port for joined in expected for port in joined if port.device in back)),
        expected,
        tuple(sorted(renamed(links, back))),
    )


def _key(devices: tuple[str, ...]) -> str:
    names = sorted(devices)
    return f"cabling/exchanged/{'+'.join(names) if len(names) <= SHOWN else f'{names[0]}/{digest(names)}'}"


def _misnamed(ring: Cycle, links: tuple[Link, ...], found: Found, places: Places) -> Fault:
    """Devices that answer by each other's name: their cables are right, and no hand is needed at the fabric."""
    answers = some(
        (f"where {places.device(place)} belongs {device} answers" for device, place in ring.places.items()), "; "
    )
    known = some(sorted(found.certain.intersection(ring.devices)))
    message = (
        f"{some(ring.devices)} answer by each other's names: known GUIDs of {known} are seen in their own places."
    )
    steps = (
        f"Read the host name and the serial of each: {answers}.",
        "Correct the names of the hosts, and move neither a device nor a cable.",
        "If a host's name is right, all its cables but those of known GUIDs are exchanged: put those right.",
    )
    ports = tuple(sorted(port for joined in links for port in joined if port.device in ring.devices))
    return Fault(Kind.EXCHANGED, _key(ring.devices), message, steps, (), ports, links, links)


def doubted_fault(
    ring: Cycle, components: Iterable[Component], there: Iterable[Link], expected: Mapping[Port, Port], places: Places
) -> Fault:
    """Return the fault of devices of which nothing tells whether they or their cables were exchanged.

    `components` are what differs at them by their own names, `there` the links that are as designed by these. There
    is no plan: by one of the two readings it would move right cables.
    """
    every = tuple(components)
    designed = tuple(sorted(joined for each in every for joined in each.designed))
    observed = tuple(sorted(joined for each in every for joined in each.observed))
    right = [each for each in there if not {each.a.device, each.b.device}.isdisjoint(ring.devices)]
    crossed = [
        each
        for each in observed
        if (told := next(renamed([each], ring.places))) != each and expected.get(told.a) == told.b
    ]
    message = (
        f"Of the cables of {some(ring.devices)}, {len(crossed)} fit the place of another of these, {len(right)} are"
        f" as designed. Either the devices, or their names, are exchanged, and those {len(right)} cables are wrong;"
        f" or the devices are where they belong, and those {len(crossed)} cables are plugged into the wrong one."
    )
    where = some(map(places.device, ring.devices), "; ")
    steps = (
        f"Read the name and the serial of each, before any cable is touched: {where}.",
        "If devices or names are exchanged, put these right, and compare the fabric again before any cable is moved.",
        f"If each has its own place and name, these cables are wrong: {listed(crossed)}.",
    )
    ends = sorted({port for joined in (*designed, *observed, *right) for port in joined})
    ports = tuple(port for port in ends if port.device in ring.devices)
    return Fault(Kind.EXCHANGED, _key(ring.devices), message, steps, (), ports, designed, observed)


def _who(ring: Cycle) -> str:
    *others, last = ring.devices
    if not ring.closed:
        steps = zip(others, ring.devices[1:], strict=True)
        chain = some(f"{device} stands in {place}'s place" for device, place in steps)
        return f"{chain}; {last} is seen nowhere, and where {others[0]} belongs it is not."
    if len(others) == 1:
        return f"{others[0]} and {last} stand in each other's place: their cables are right for the other one."
    return f"{some(others)} and {last} stand each in the next one's place, {last} in that of {others[0]}."


def _proof(ring: Cycle, certain: frozenset[str]) -> str:
    known = sorted(certain.intersection(ring.devices))
    if not known:
        return " No GUID of theirs is known: their names alone may be exchanged, too."
    return f" Known GUIDs are seen of {some(known)}: names alone are not exchanged."


def _read_the_serial_first(ring: Cycle, places: Places) -> tuple[str, ...]:
    standing = zip(ring.devices, (*ring.devices[1:], ring.devices[0]), strict=True)
    seen = [(device, place) for device, place in standing if ring.closed or device != ring.devices[-1]]
    where = some((f"where {places.device(place)} belongs {device} answers" for device, place in seen), "; ")
    return (
        f"Read the serial first, before any cable is touched: {where}.",
        "If a serial is the answering device's, put each device into its own place; the cables of the place stay.",
        "If it is the designed one's, all its cables are exchanged, port by port, or its name is: put those right.",
    )


def _new_switch(new: New, links: tuple[Link, ...], places: Places) -> Fault:
    device = new.port.device
    known = f"instead of 0x{new.known}" if new.known else "and none is recorded"
    message = f"A new switch stands in {device}'s place: its GUID is 0x{new.found}, {known}; {len(links)} links fit."
    ports = tuple(sorted(port for joined in links for port in joined if port.device == device))
    return Fault(
        Kind.REPLACED_SWITCH, f"cabling/replaced/{device}", message, _record(device, places), (_told(new),), ports,
        links, links,
    )  # fmt: skip


def _new_adapters(news: list[New], links: tuple[Link, ...], places: Places) -> Fault:
    device = news[0].port.device
    told = ", ".join(map(_says, news))
    message = f"{device} has a new adapter in an old one's place, its link as designed: {told}."
    ports = tuple(new.port for new in news)
    return Fault(
        Kind.REPLACED_HCA, f"cabling/replaced/{device}", message, _record(device, places), tuple(map(_told, news)),
        ports, links, links,
    )  # fmt: skip


def _says(new: New) -> str:
    home = f", known at {new.home}," if new.home else ""
    known = f"instead of 0x{new.known}" if new.known else "where none is recorded"
    return f"at {new.port} 0x{new.found}{home} {known}"


def _told(new: New) -> Record:
    return Record(new.port.device, new.port.interface, new.known, new.found)


def _record(device: str, places: Places) -> tuple[str, ...]:
    return (
        f"Record the new GUID of {places.device(device)} in the source of truth, and its serial; move no cable.",
        f"If nothing was replaced there, read its serial: another device stands in {device}'s place.",
    )
