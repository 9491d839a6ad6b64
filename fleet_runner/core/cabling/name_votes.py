"""What cables tell of names: which interface an adapter is, and which designed port a switch's number is.

A cable tells where only one designed link joins the two devices at its ends, or where one of its ends is known
already: then its other end is designed to be one port. Devices of a kind are counted together.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.ends import bind_end, switch_of
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.names import Names, device_of
from fleet_runner.core.cabling.numbering import unmapped_ports
from fleet_runner.core.cabling.port_numbers import BELIEVED, ENOUGH, ways
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort


@dataclass(frozen=True, slots=True)
class Votes:
    """How many cables tell that something spoken is a designed port, and which devices they are of."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    devices: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])

    def add(self, spoken: str, interface: str, device: str) -> None:
        """Count a cable of a device."""
        self.counts[spoken, interface] += 1
        self.devices.setdefault((spoken, interface), set()).add(device)


Kinds = Mapping[str, str]
"""The kind of each designed device."""


def adapter_votes(
    links: Iterable[FabricLink], known: Names, far: Mapping[Port, Port], kinds: Kinds
) -> dict[str, Votes]:
    """Return, by kind, what cables tell of adapters that the design does not name."""
    found: dict[str, Votes] = {}
    for near, other, goals in _told(links, known, far, ports=frozenset()):
        if near.kind == "SW":
            continue
        device, adapter = _adapter(near, known)
        if device and adapter and adapter not in known.spoken[device]:
            votes = found.setdefault(kinds[device], Votes())
            for goal in goals if len(goals) == 1 else _only(device, far.get(bind_end(other, known))):
                votes.add(adapter, goal.interface, device)
    return found


def port_votes(links: Iterable[FabricLink], known: Names, far: Mapping[Port, Port], kinds: Kinds) -> dict[str, Votes]:
    """Return, by kind, what cables tell of the numbers of switches whose names do not tell them."""
    told = tuple(links)
    unmapped = unmapped_ports(told, known)
    switches = {port.device for port in unmapped}
    found: dict[str, Votes] = {kinds[device]: Votes() for device in switches}
    for near, other, goals in _told(told, known, far, ports=switches):
        device = _device(near, known)
        if near.kind == "SW" and device in switches:
            for goal in goals if len(goals) == 1 else _only(device, far.get(bind_end(other, known))):
                found[kinds[device]].add(str(near.port), goal.interface, device)
    return found


def agreed_adapters(votes: Votes) -> dict[str, str]:
    """Return the interface of each adapter that cables tell; none where several fit alike.

    What one device alone tells is believed where it goes by the order of both names: else it may be miscabled.
    """
    found = _clear(votes)
    rails = [found[adapter] for adapter in sorted(found, key=natural)]
    if rails == sorted(rails, key=natural):
        return found
    return {adapter: name for adapter, name in found.items() if len(votes.devices[adapter, name]) >= ENOUGH}


def agreed_numbers(votes: Votes, interfaces: Collection[str]) -> dict[str, str]:
    """Return the port of each number that cables tell: by the one way to count that fits.

    Two switches tell it where the names tell no way to count at all: a number against every way is a miscabled one.
    """
    told = [(interface, int(number)) for (number, interface), count in votes.counts.items() for _ in range(count)]
    possible = ways(tuple(sorted(interfaces, key=natural)))
    fits = [sum(way.get(name) == number for name, number in told) for way in possible]
    most = max(fits, default=0)
    if most >= max(ENOUGH, BELIEVED * len(told)) and fits.count(most) == 1:
        return {str(number): name for name, number in possible[fits.index(most)].items()}
    if any(possible):
        return {}
    found = _clear(votes)
    return {number: name for number, name in found.items() if len(votes.devices[number, name]) >= ENOUGH}


def _clear(votes: Votes) -> dict[str, str]:
    """Return what most votes for each spoken name agree on, where no other name is told to be the same port."""
    totals = Counter[str]()
    for (spoken, _), count in votes.counts.items():
        totals[spoken] += count
    clear = {pair for pair, count in votes.counts.items() if count >= BELIEVED * totals[pair[0]]}
    ports = Counter(interface for _, interface in clear)
    return {spoken: interface for spoken, interface in sorted(clear) if ports[interface] == 1}


def _told(
    links: Iterable[FabricLink], known: Names, far: Mapping[Port, Port], ports: Collection[str]
) -> Iterator[tuple[FabricPort, FabricPort, list[Port]]]:
    """Yield each end of a cable between known devices, its far end, and the ports designed to be joined to that one.

    Of switches whose numbers are looked for (`ports`) the far end alone is no such port.
    """
    between: dict[tuple[str, str], list[Port]] = {}
    for port, end in far.items():
        between.setdefault((port.device, end.device), []).append(port)
    for a, b, _, _ in links:
        for near, other in ((a, b), (b, a)):
            one, two = _device(near, known), _device(other, known)
            if one and two and (not ports or one in ports):
                yield near, other, between.get((one, two), [])


def _only(device: str, goal: Port | None) -> tuple[Port, ...]:
    return (goal,) if goal is not None and goal.device == device else ()


def _device(end: FabricPort, known: Names) -> str:
    """Return the designed device that an end is of; "" where nothing says which."""
    if end.guid in known.guids:
        return known.guids[end.guid].device
    if end.kind == "SW":
        device, spoken = switch_of(end.name, known)
        return device if spoken or device in known.ways else ""
    return _adapter(end, known)[0]


def _adapter(end: FabricPort, known: Names) -> tuple[str, str]:
    """Return an adapter's designed device, and what the adapter calls itself; "" for either that is not told."""
    name, _, adapter = end.name.rpartition(" ")
    device, spoken = device_of(name, known)
    if spoken:
        return device, adapter if end.port == 1 else f"{adapter}/{end.port}"
    device, spoken = device_of(end.name, known)
    return (device, "") if spoken else ("", "")


def ends_of(links: Iterable[Link]) -> dict[Port, Port]:
    """Return the designed far end of each port."""
    return {port: end for a, b in links for port, end in ((a, b), (b, a))}
