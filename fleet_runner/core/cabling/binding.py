"""From the names a fabric or a neighbour uses to the design's ports; what cannot be bound is kept as it was said.

Identity comes first: a GUID that the source of truth knows says more than a node description, which is whatever
somebody wrote on the node, or what it came with. Two ends that claim one port are both doubted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

from fleet_runner.core.cabling.directors import cables
from fleet_runner.core.cabling.ends import (
    adapter_port,
    bare,
    bind_end,
    made_up,
    switch_port,
    switch_ports,
)
from fleet_runner.core.cabling.links import Link, LinkColumns, Port
from fleet_runner.core.cabling.names import Names, Spoken, device_of, short
from fleet_runner.core.cabling.numbering import numbered, unmapped_ports
from fleet_runner.core.cabling.planes import whole_cables
from fleet_runner.core.cabling.port_index import NONE, Answers, IndexedPorts, by_number
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, Face

_NOBODY: Spoken = ("", {})

MANY_RENEWED = 10
"""Adapters and switches that may be new at once, however few GUIDs are known."""


@dataclass(frozen=True, slots=True)
class Said:
    """What an adapter's description says against its GUID: another port, and the GUID known there ("" for none)."""

    port: Port
    known: str
    end: FabricPort


@dataclass(frozen=True, slots=True)
class Bound:
    """Seen links between ports as the design calls them, each with its rate ("4x NDR", "" if unknown).

    `nameless` are devices made up for ends that nothing identifies: each is its description and GUID. `strangers`
    gives one end of each device that the design does not know, also of these.

    What known GUIDs tell: `lost` are the ports whose own GUID is seen nowhere, `renewed` what is seen instead of it
    at those whose name is there, `certain` the ports whose own GUID is seen, and `said` what descriptions
    say of those instead. `unanswered` are ports that are up, and at whose far end nobody answers. `unmapped` are
    designed ports of seen switches of which nothing says which number they have. `adapters` gives, of nameless ends
    whose device is known by its name, that device and what the end calls itself.
    `shared` are descriptions of two devices that use one device's name in two spellings: they are nameless, too.
    """

    links: Mapping[Link, str]
    nameless: frozenset[str] = frozenset()
    strangers: Mapping[str, FabricPort] = field(default_factory=dict[str, FabricPort])
    lost: Mapping[Port, str] = field(default_factory=dict[Port, str])
    renewed: Mapping[Port, str] = field(default_factory=dict[Port, str])
    certain: frozenset[Port] = frozenset()
    unanswered: frozenset[Port] = frozenset()
    said: Mapping[Port, Said] = field(default_factory=dict[Port, Said])
    unmapped: frozenset[Port] = frozenset()
    adapters: Mapping[str, Port] = field(default_factory=dict[str, Port])
    shared: tuple[str, ...] = ()


def bind(seen: Iterable[FabricLink], known: Names, unanswered: Iterable[FabricPort] = ()) -> Bound:
    """Return the seen links, and single ports, between ports as the design calls them, as far as it knows them."""
    told, doubted = whole_cables(cables(seen), known.guids)
    found = _bound(told, replace(known, folded={}), unanswered)
    if any(name.casefold() in known.folded or short(name).casefold() in known.folded for name in found.strangers):
        found = _bound(told, known, unanswered, _shared(known, told))
    if not doubted:
        return found
    switches = {bind_end(end, known).device for end in doubted}
    ports = {port for device in switches for port in known.spoken.get(device, {}).values()}
    return replace(found, unmapped=found.unmapped | ports)


def _bound(
    told: FabricLinks,
    known: Names,
    unanswered: Iterable[FabricPort],
    shared: Collection[tuple[str, str]] = (),
) -> Bound:
    """Return what is seen; of an end whose description is in `shared` nothing but a GUID says which it is."""
    known = numbered(known, told)
    nameless: set[str] = set()
    guids = known.guids.keys() & set(map(itemgetter(2), told.faces if known.guids else ()))
    devices = {known.guids[guid].device for guid in guids}
    doubted = {at for at, face in enumerate(told.faces if shared else ()) if _is_doubted(face, known, shared)}
    switches = [
        switch_ports(face.name, face.guid, known) if face.kind == "SW" and at not in doubted else _NOBODY
        for at, face in enumerate(told.faces)
    ]
    ports = IndexedPorts(known.index)
    spoken = _by_number(told.faces, switches, doubted, known, ports)

    def bound(face: int, number: int) -> Port:
        name, kind, guid = told.faces[face]
        if kind == "SW":
            port = switch_port(name, number, switches[face])
        else:
            port = None if face in doubted else known.guids.get(guid) or adapter_port(name, number, known)
        port = port or _made_up(told.port(face, number), nameless)
        devices.add(port.device)
        return port

    near, far = (
        [
            mine[number] if number < len(mine) else NONE
            for mine, number in zip(map(spoken.__getitem__, faces), numbers, strict=True)
        ]
        for faces, numbers in ((told.near, told.near_ports), (told.far, told.far_ports))
    )
    for ends, faces, numbers in ((near, told.near, told.near_ports), (far, told.far, told.far_ports)):
        for at in [at for at, end in enumerate(ends) if end == NONE] if NONE in ends else ():
            ends[at] = ports.add(bound(faces[at], numbers[at]))
    rates = [_rate(*rate) for rate in told.rates]
    links = LinkColumns(ports, near, far, list(map(rates.__getitem__, told.rate_of)))
    doubled = len({*near, *far}) < 2 * len(near)
    if doubled:
        links = _undoubted(told, links, known, nameless)
    devices |= nameless
    unknown = devices.difference(known.spoken)
    strangers = {port.device: end for end, port in _each(told, links, unknown)}
    alone = frozenset(bind_end(end, known) for end in unanswered)
    said = _contradicted(told, links, known) if known.guids else {}
    unmapped = unmapped_ports(told, known)
    names = tuple(sorted({name for name, _ in shared}))
    adapters = _unnamed_adapters(_each(told, links, nameless), known)
    every = dict(links) if doubled else links
    return Bound(
        every, frozenset(nameless), strangers, *_by_guid(told, links, known), alone, said, unmapped, adapters, names
    )


def _by_number(
    faces: Sequence[Face], switches: Sequence[Spoken], doubted: Collection[int], known: Names, ports: IndexedPorts
) -> list[Sequence[int]]:
    """Return what each face's numbers are: of a switch all, of an adapter port 1 where it is told without a doubt.

    Each is a port's index by number, from 0 on; NONE where it is not told so.
    """
    none: Mapping[str, Port] = {}
    found: list[Sequence[int]] = []
    for at, (name, kind, guid) in enumerate(faces):
        if kind == "SW":
            spoken = switches[at][1]
            found.append(spoken.by_number() if isinstance(spoken, Answers) else _numbers(spoken, ports))
        elif at in doubted:
            found.append(())
        else:
            host, _, adapter = name.rpartition(" ")
            spoken, port = known.spoken.get(host, none), known.guids.get(guid)
            if port is None and isinstance(spoken, Answers):
                found.append((NONE, spoken.index(adapter)))
            else:
                port = port or spoken.get(adapter)
                found.append((NONE, ports.add(port)) if port else ())
    return found


def _numbers(spoken: Mapping[str, Port], ports: IndexedPorts) -> list[int]:
    return by_number({name: ports.add(port) for name, port in spoken.items()})


def _is_doubted(face: Face, known: Names, shared: Collection[tuple[str, str]]) -> bool:
    return (face.name, face.kind) in shared and face.guid not in known.guids


def _unnamed_adapters(nameless: Iterable[tuple[FabricPort, Port]], known: Names) -> dict[str, Port]:
    """Return what nameless ends call themselves that the design does not name, on devices that it does."""
    found: dict[str, Port] = {}
    for end, port in nameless:
        if end.kind != "SW":
            name, _, adapter = end.name.rpartition(" ")
            device, spoken = device_of(name, known)
            if spoken and adapter not in spoken:
                found[port.device] = Port(device, adapter)
    return found


def _shared(known: Names, seen: FabricLinks) -> frozenset[tuple[str, str]]:
    """Return the descriptions, each with its kind, of devices that two of the fabric seem to be, by two spellings.

    Two spellings are one device where none of its adapters, nor its GUID as a switch, is told by both otherwise.
    """
    spellings: dict[str, dict[str, set[tuple[str, str]]]] = {}
    told: dict[tuple[str, str], set[str]] = {}
    for name, kind, guid in seen.faces:
        told.setdefault((name, kind), set()).add(guid)
    for name, kind in told:
        host = "" if kind == "SW" else name.rpartition(" ")[0]
        spelling = host if device_of(host, known)[1] else bare(name)
        device, spoken = device_of(spelling, known)
        if spoken:
            spellings.setdefault(device, {}).setdefault(spelling, set()).add((name, kind))
    doubted: set[tuple[str, str]] = set()
    for several in spellings.values():
        tokens = Counter(token for each in several.values() for token in {_token(*one) for one in each})
        guids = {guid for each in several.values() for one in each for guid in told[one] if guid}
        if len(several) > 1 and max(tokens.values()) > 1 and len(guids) > 1:
            doubted |= {one for each in several.values() for one in each}
    return frozenset(doubted)


def _token(name: str, kind: str) -> str:
    """Return what a description says beside its device: an adapter; a switch is told whole."""
    return "" if kind == "SW" else name.rpartition(" ")[2].casefold()


def _each(told: FabricLinks, links: LinkColumns, devices: Collection[str]) -> Iterator[tuple[FabricPort, Port]]:
    """Yield every end that was found to be a port of some devices, with that port."""
    for at, pair in enumerate(links.ends() if devices else ()):
        for port, faces, numbers in zip(pair, (told.near, told.far), (told.near_ports, told.far_ports), strict=True):
            if port.device in devices:
                yield told.port(faces[at], numbers[at]), port


def _of_faces(told: FabricLinks, links: LinkColumns, faces: Collection[int]) -> Iterator[tuple[FabricPort, Port]]:
    """Yield every end of some faces with the port that it was found to be."""
    if not faces:
        return
    rows = zip(told.near, told.near_ports, told.far, told.far_ports, links.ends(), strict=True)
    for face, number, other, other_number, (a, b) in rows:
        if face in faces:
            yield told.port(face, number), a
        if other in faces:
            yield told.port(other, other_number), b


def _by_guid(
    told: FabricLinks, links: LinkColumns, known: Names
) -> tuple[Mapping[Port, str], Mapping[Port, str], frozenset[Port]]:
    """Return what known GUIDs tell: `lost`, `renewed` and `certain` of Bound.

    Where more ports show another GUID than the known one, the source of truth counts GUIDs of another sort (the
    node's, the board's): then they tell nothing.
    """
    if not known.guids:
        return {}, {}, frozenset()
    seen = {face.guid for face in told.faces}
    lost = {port: guid for guid, port in known.guids.items() if guid not in seen}
    certain = frozenset(port for guid, port in known.guids.items() if guid in seen)
    standing = {port.device for port in certain}
    switches = {port.device: port for port in lost if port.device not in standing}
    renewed: dict[Port, str] = {}
    others = {at for at, face in enumerate(told.faces) if face.guid not in known.guids} if lost else set[int]()
    for end, port in _of_faces(told, links, others):
        own = switches.get(port.device) if end.kind == "SW" else port
        if own and own in lost:
            renewed[own] = end.guid
    if len(renewed) > max(MANY_RENEWED, len(known.guids) - len(lost)):
        return {}, {}, certain
    return lost, renewed, certain


def _contradicted(told: FabricLinks, links: LinkColumns, known: Names) -> dict[Port, Said]:
    """Return what the descriptions of adapters say that are known by their GUIDs, where it is another port."""
    found: dict[Port, tuple[Port, FabricPort]] = {}
    faces = {at for at, face in enumerate(told.faces) if face.kind != "SW" and face.guid in known.guids}
    for end, port in _of_faces(told, links, faces):
        named = adapter_port(end.name, end.port, known)
        if named and named != port and named.device in known.spoken:
            found[port] = (named, end)
    built = {port: guid for guid, port in known.guids.items()} if found else {}
    return {port: Said(named, built.get(named, ""), end) for port, (named, end) in found.items()}


def _undoubted(told: FabricLinks, links: LinkColumns, known: Names, nameless: set[str]) -> LinkColumns:
    """Make ends up that claim a port which another end claims as well, unless a GUID speaks for them."""
    claims = {
        end: port
        for each, pair in zip(told, links.ends(), strict=True)
        for end, port in zip(each[:2], pair, strict=True)
    }
    counted = Counter(claims.values())
    for end, port in claims.items():
        if counted[port] > 1 and end.guid not in known.guids:
            claims[end] = _made_up(end, nameless)
    near, far = (
        [links.ports.add(claims[end]) for end in ends] for ends in zip(*(each[:2] for each in told), strict=True)
    )
    return LinkColumns(links.ports, near, far, links.rates)


def _made_up(seen: FabricPort, nameless: set[str]) -> Port:
    port = made_up(seen)
    nameless.add(port.device)
    return port


def _rate(width: int, speed: str) -> str:
    return f"{width}x {speed}" if width and speed else ""
