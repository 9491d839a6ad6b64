"""From the names a fabric or a neighbour uses to the design's ports; what cannot be bound is kept as it was said.

Identity comes first: a GUID that the source of truth knows says more than a node description, which is whatever
somebody wrote on the node, or what it came with. Two ends that claim one port are both doubted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import Names, Spoken, device_of, short
from fleet_runner.core.cabling.port_numbers import fitting
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort

_MANAGED = re.compile(r"MF0;([^:;]+)[:;]")
"""How managed switches describe themselves: MF0;leaf-1:MQM9700/U1."""

_FACTORY = re.compile(
    r"\s*$|MT\d{4,}\b|.*Mellanox Technologies|localhost\b|\(none\)|unnamed\b|switch-[0-9a-f]{6}\b", re.ASCII
)
"""Node descriptions that nobody wrote: until a driver's daemon sets one, an adapter says what it is, not where, and a
managed switch out of its box is called after its MAC address ("switch-a1b2c3")."""

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
    designed ports of seen switches of which nothing says which number they have.
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


def bind(seen: Iterable[FabricLink], known: Names, unanswered: Iterable[FabricPort] = ()) -> Bound:
    """Return the seen links, and single ports, between ports as the design calls them, as far as it knows them."""
    told = tuple(seen)
    found = _bound(told, replace(known, folded={}), unanswered)
    if any(name.casefold() in known.folded or short(name).casefold() in known.folded for name in found.strangers):
        return _bound(told, _spelled(known, told), unanswered)
    return found


def _bound(told: tuple[FabricLink, ...], known: Names, unanswered: Iterable[FabricPort]) -> Bound:
    known = numbered(known, told)
    nameless: set[str] = set()
    switches: dict[str, Spoken] = {}
    ends = [
        (_port(a, known, switches) or _made_up(a, nameless), _port(b, known, switches) or _made_up(b, nameless))
        for a, b, _, _ in told
    ]
    ports = {port for pair in ends for port in pair}
    if len(ports) < 2 * len(ends):
        ends = _undoubted(told, ends, known, nameless)
        ports = {port for pair in ends for port in pair}
    rates = {rate: _rate(*rate) for rate in {(width, speed) for _, _, width, speed in told}}
    links = {link(*pair): rates[each[2:]] for pair, each in zip(ends, told, strict=True)}
    unknown = {port.device for port in ports}.difference(known.spoken)
    strangers = {port.device: end for end, port in _each(told, ends) if port.device in unknown} if unknown else {}
    alone = frozenset(bind_end(end, known) for end in unanswered)
    said = _contradicted(told, ends, known) if known.guids else {}
    unmapped = _unmapped(told, known)
    return Bound(links, frozenset(nameless), strangers, *_by_guid(told, ends, known), alone, said, unmapped)


def numbered(known: Names, seen: Iterable[FabricLink]) -> Names:
    """Return the names with numbers for all switches that are seen, as far as names and cables tell them.

    Of several switches those are numbered first that have the most cables to known ports: they tell of the others.
    """
    told = tuple(seen) if known.ways else ()
    cables = [
        (device, end.port, far)
        for one, other, _, _ in (told if _open_switches(told, known) else ())
        for end, far in ((one, other), (other, one))
        if (device := _seen_switch(end, known)) in known.ways and device not in known.numbers
    ]
    while cables:
        plugged = _plugged(cables, known)
        surest = max(map(_known_share, plugged.values()))
        chosen = {device for device, told in plugged.items() if _known_share(told) == surest}
        numbers = dict(known.numbers)
        for device in chosen:
            way = fitting(known.ways[device], [(goal, at) for goal, at in plugged[device] if goal is not None])
            if way:
                numbers[device] = {str(number): Port(device, name) for name, number in way.items()}
        known = replace(known, numbers=numbers)
        cables = [each for each in cables if each[0] not in chosen]
    return known


Plugged = list[tuple[str | None, int]]
"""For each cable of a switch, the port that its far end is designed to be in, and the number of the one it is in.

A port is None where nothing tells which the far end is, or where it is designed to be elsewhere.
"""


def _plugged(cables: Iterable[tuple[str, int, FabricPort]], known: Names) -> dict[str, Plugged]:
    """Return what is known of the cables of each switch: its name, a port's number, and the far end."""
    found: dict[str, Plugged] = {}
    for device, number, far in cables:
        goal = known.far.get(bind_end(far, known))
        told = goal.interface if goal and goal.device == device else None
        found.setdefault(device, []).append((told, number))
    return found


def _known_share(told: Plugged) -> float:
    return sum(goal is not None for goal, _ in told) / len(told)


def _seen_switch(end: FabricPort, known: Names) -> str:
    """Return which switch an end is of; "" for another device."""
    if end.kind != "SW":
        return ""
    identified = known.guids.get(end.guid)
    return identified.device if identified else _switch(end.name, known)[0]


def _open_switches(seen: Iterable[FabricLink], known: Names) -> set[str]:
    """Return the switches that are seen and whose names leave several ways to number their ports."""
    if not known.ways:
        return set()
    links = tuple(seen)
    told = {a[3]: a for a, _, _, _ in links if a[2] == "SW"} | {b[3]: b for _, b, _, _ in links if b[2] == "SW"}
    return {_seen_switch(end, known) for end in told.values()} & known.ways.keys()


def _unmapped(seen: Iterable[FabricLink], known: Names) -> frozenset[Port]:
    """Return the designed ports of switches that are seen, and to which no number leads."""
    here = _open_switches(seen, known)
    if not here:
        return frozenset()
    ports = {port for port in known.far if port.device in here}
    return frozenset(ports.difference(*(known.numbers.get(device, {}).values() for device in here)))


def _spelled(known: Names, seen: Iterable[FabricLink]) -> Names:
    """Return the names without those in other letters that two seen devices, or one that is there, could mean."""
    told = {(end.name, end.kind == "SW") for each in seen for end in each[:2]}
    devices = {_bare(name) for name, _ in told} | {name.rpartition(" ")[0] for name, switch in told if not switch}
    folded = Counter(found for name in devices if (found := known.folded.get(name.casefold())))
    twice = {device for device, count in folded.items() if count > 1}
    return replace(known, folded={n: d for n, d in known.folded.items() if d not in twice}) if twice else known


def names_no_other(seen: FabricPort, device: str) -> bool:
    """Whether an end that nothing identifies may be of a device: its description is nobody's, or that device's."""
    hosts = {seen.name, seen.name.rpartition(" ")[0]}
    named = any(device in {host, short(host)} or host == short(device) for host in hosts)
    return named or _FACTORY.match(_bare(seen.name)) is not None


def bind_end(seen: FabricPort, known: Names) -> Port:
    """Return the port that one end of a fabric's link is; a made-up one where nothing says which."""
    return _port(seen, known, {}) or made_up(seen)


def _each(told: Iterable[FabricLink], ends: Iterable[tuple[Port, Port]]) -> Iterator[tuple[FabricPort, Port]]:
    """Yield every end with the port that it was found to be."""
    for each, (a, b) in zip(told, ends, strict=True):
        yield each.a, a
        yield each.b, b


def _by_guid(
    told: Iterable[FabricLink], ends: Iterable[tuple[Port, Port]], known: Names
) -> tuple[Mapping[Port, str], Mapping[Port, str], frozenset[Port]]:
    """Return what known GUIDs tell: `lost`, `renewed` and `certain` of Bound.

    Where more ports show another GUID than the known one, the source of truth counts GUIDs of another sort (the
    node's, the board's): then they tell nothing.
    """
    if not known.guids:
        return {}, {}, frozenset()
    seen = {guid for each in told for guid in (each.a.guid, each.b.guid)}
    lost = {port: guid for guid, port in known.guids.items() if guid not in seen}
    certain = frozenset(port for guid, port in known.guids.items() if guid in seen)
    standing = {port.device for port in certain}
    switches = {port.device: port for port in lost if port.device not in standing}
    renewed: dict[Port, str] = {}
    for end, port in _each(told, ends) if lost else ():
        own = switches.get(port.device) if end.kind == "SW" else port
        if own and own in lost and end.guid not in known.guids:
            renewed[own] = end.guid
    if len(renewed) > max(MANY_RENEWED, len(known.guids) - len(lost)):
        return {}, {}, certain
    return lost, renewed, certain


def _contradicted(told: Iterable[FabricLink], ends: Iterable[tuple[Port, Port]], known: Names) -> dict[Port, Said]:
    """Return what the descriptions of adapters say that are known by their GUIDs, where it is another port."""
    found: dict[Port, tuple[Port, FabricPort]] = {}
    for end, port in _each(told, ends):
        if end.kind != "SW" and end.guid in known.guids:
            named = _adapter_port(end, known)
            if named and named != port and named.device in known.spoken:
                found[port] = (named, end)
    built = {port: guid for guid, port in known.guids.items()} if found else {}
    return {port: Said(named, built.get(named, ""), end) for port, (named, end) in found.items()}


def _undoubted(
    told: Iterable[FabricLink], ends: Iterable[tuple[Port, Port]], known: Names, nameless: set[str]
) -> list[tuple[Port, Port]]:
    """Make ends up that claim a port which another end claims as well, unless a GUID speaks for them."""
    claims = dict(_each(told, ends))
    counted = Counter(claims.values())
    for end, port in claims.items():
        if counted[port] > 1 and end.guid not in known.guids:
            claims[end] = _made_up(end, nameless)
    return [(claims[each.a], claims[each.b]) for each in told]


def _port(seen: FabricPort, known: Names, switches: dict[str, Spoken]) -> Port | None:
    """Return the port that an end is; None if nothing says which. `switches` keeps what names were found to be."""
    name, number, kind, guid = seen
    identified = known.guids.get(guid)
    if kind != "SW":
        return identified or _adapter_port(seen, known)
    interface = str(number)
    if identified:  # all ports of a switch have the switch's GUID
        return _numbers(identified.device, known).get(interface) or Port(identified.device, interface)
    device, spoken = switches.get(name) or switches.setdefault(name, _switch(name, known))
    return spoken.get(interface) or (Port(device, interface) if device else None)


def _numbers(device: str, known: Names) -> Mapping[str, Port]:
    """Return a switch's ports by number; none where it has several ways to count and none was chosen."""
    name, spoken = device_of(device, known)
    return known.numbers.get(name, {}) if name in known.ways else spoken


def _bare(name: str) -> str:
    managed = _MANAGED.match(name)
    return managed[1] if managed else name


def _switch(name: str, known: Names) -> Spoken:
    """Return a switch; one that the design calls as others are called out of their box is known by that name."""
    bare = _bare(name)
    found = device_of(bare, known)
    if found[0] in known.ways:
        return found[0], _numbers(found[0], known)
    return found if found[1] or not _FACTORY.match(bare) else ("", {})


def _adapter_port(seen: FabricPort, known: Names) -> Port | None:
    """An adapter's description is its node's name and its own; on a known node, only known adapters say which.

    One that is only its node's name says which adapter it is where the design has just one there.
    """
    device, _, adapter = seen.name.rpartition(" ")
    spoken = device_of(device, known)[1]
    if not spoken:
        node, alone = device_of(seen.name, known)
        if alone:
            return known.only.get(node)
        return None if _FACTORY.match(seen.name) else _stranger(seen)
    first = spoken.get(adapter) if seen.port == 1 else None
    return first or spoken.get(f"{adapter}/{seen.port}")


def _stranger(seen: FabricPort) -> Port:
    """All adapters of a node that the design does not know are one device."""
    device, _, adapter = seen.name.rpartition(" ")
    if not device:
        return Port(seen.name, str(seen.port))
    return Port(device, adapter if seen.port == 1 else f"{adapter}/{seen.port}")


def made_up(seen: FabricPort) -> Port:
    """Return a port under an end's description and GUID, so that two of them are never one."""
    return Port(f"{seen.name.strip() or 'unnamed'} 0x{seen.guid}", str(seen.port))


def _made_up(seen: FabricPort, nameless: set[str]) -> Port:
    port = made_up(seen)
    nameless.add(port.device)
    return port


def _rate(width: int, speed: str) -> str:
    return f"{width}x {speed}" if width and speed else ""
