"""Designed links that cannot be compared because names differ: those of adapters, switch ports or whole devices.

A link counts only where something unnamed is plugged in place of one of its ends: a cable that is absent is no name.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.links import Link, Port, link

MANY_SWITCHES = 3
"""Switches in whose places others stand, at least, that are called otherwise, and not replaced."""

MANY_SERVERS = 3
"""Servers of unknown names likewise, and not unplanned."""

MANY_PORTS = 8
"""Ports seen of a switch, at least, of which the design has none, so that they are called otherwise, not free."""


class Sort(StrEnum):
    """What is called otherwise than in the design."""

    ADAPTERS = "adapters"
    PORTS = "switch ports"
    DEVICES = "devices"


class Mismatch(NamedTuple):
    """A designed link, what is called otherwise there, and how: in the design, and in the capture ("" if unknown)."""

    designed: Link
    sort: Sort
    written: str
    seen: str


@dataclass(frozen=True, slots=True)
class _Look:
    """What is plugged, as far as names are understood.

    `foreign` are devices outside the design that may be some of it, `otherwise` switches of whose
    numbers none is the design's.
    """

    expected: Mapping[Port, Port]
    seen: Bound
    here: frozenset[str]
    taken: Collection[Port]
    foreign: Collection[str]
    otherwise: Collection[str]
    servers: Collection[str]

    def idle(self, port: Port | None) -> bool:
        """Whether a port is designed and nothing is seen in it."""
        return port is not None and port in self.expected and port not in self.taken

    def spoken(self, port: Port) -> Port:
        """Return an end with the device that its description tells, as the capture calls it."""
        return self.seen.adapters.get(port.device, port)

    def place(self, device: str) -> str:
        """Return what designed and seen devices are compared by: the name where both have it, else what it is."""
        if device in self.here:
            return device
        if device in self.foreign:
            return f"* {self.seen.strangers[device].kind == 'SW'}"
        return f"* {device not in self.servers}"

    def fits(self, odd: Port, goal: Port) -> bool:
        """Whether an unnamed end may be the port that is designed there; of adapters nobody knows which they are."""
        same = self.place(self.spoken(odd).device) == self.place(goal.device)
        return same or odd.device in self.seen.adapters

    def unnamed(self, port: Port) -> bool:
        """Whether an end is one that only names keep from being compared."""
        odd = port.device in self.otherwise and port not in self.expected
        return odd or port.device in self.foreign or port.device in self.seen.adapters


def misnamed(expected: Mapping[Port, Port], seen: Bound, servers: Collection[str]) -> tuple[Mismatch, ...]:
    """Return the designed links that cannot be compared for names, each once. `expected` is a matching."""
    told = {port for joined in seen.links for port in joined}
    devices = {port.device for port in expected}
    here = frozenset(devices & ({port.device for port in told} | {port.device for port in seen.adapters.values()}))
    look = _Look(
        expected,
        seen,
        here,
        told,
        seen.strangers.keys() - seen.nameless,
        _otherwise(expected, told, here - {*servers}),
        servers,
    )
    found: dict[Link, Mismatch] = {}
    pool: dict[tuple[str, str], list[Link]] = {}
    for joined in seen.links:
        unnamed = [look.unnamed(port) for port in joined]
        if all(unnamed):
            pool.setdefault(_pair(joined, look), []).append(joined)
        elif any(unnamed):
            odd, near = joined if unnamed[0] else joined[::-1]
            goal = expected.get(near)
            if goal is not None and look.idle(goal) and look.fits(odd, goal):
                found[link(near, goal)] = _mismatch(link(near, goal), goal, odd, look)
    for a, b in sorted(expected.items()):
        if a < b and look.idle(a) and look.idle(b) and (others := pool.get(_pair((a, b), look))):
            odd, far = others.pop()
            same = look.place(look.spoken(odd).device) == look.place(a.device)
            found[link(a, b)] = _mismatch(link(a, b), a, odd if same else far, look)
    return (*_several(found.values(), look), *_numberless(look, found))


def _several(found: Iterable[Mismatch], look: _Look) -> Iterator[Mismatch]:
    """Yield what differs; of devices only where more of them are called otherwise than some mishap explains.

    Another device is one by another name where it has half of that one's cables, or its neighbour is unknown as well.
    """
    mismatches = tuple(found)
    cables = Counter(port.device for port in look.expected)
    pairs = Counter((each.written, each.seen) for each in mismatches if each.sort is Sort.DEVICES)
    here = {
        port.device for joined in look.seen.links for port in joined if not look.here.isdisjoint(_devices(joined))
    }
    places: dict[bool, set[str]] = {True: set(), False: set()}
    others: dict[bool, set[str]] = {True: set(), False: set()}
    for (written, other), count in pairs.items():
        if 2 * count >= cables[written] or other not in here:
            switch = look.seen.strangers[other].kind == "SW"
            places[switch].add(written)
            others[switch].add(other)
    least = {True: MANY_SWITCHES, False: MANY_SERVERS}
    many = {switch for switch in places if min(len(places[switch]), len(others[switch])) >= least[switch]}
    for each in mismatches:
        if each.sort is not Sort.DEVICES or (look.seen.strangers[each.seen].kind == "SW") in many:
            yield each


def _otherwise(expected: Collection[Port], told: Collection[Port], switches: Collection[str]) -> set[str]:
    """Return the switches of whose numbers the design has none."""
    ports = Counter(port.device for port in told)
    odd = Counter(port.device for port in told if port.device in switches and port not in expected)
    return {device for device, count in odd.items() if count >= MANY_PORTS and count == ports[device]}


def _devices(joined: Link) -> tuple[str, str]:
    return joined.a.device, joined.b.device


def _pair(joined: Iterable[Port], look: _Look) -> tuple[str, str]:
    a, b = sorted(look.place(look.spoken(port).device) for port in joined)
    return a, b


def _mismatch(designed: Link, goal: Port, odd: Port, look: _Look) -> Mismatch:
    if odd.device in look.foreign:
        return Mismatch(designed, Sort.DEVICES, goal.device, odd.device)
    sort = Sort.ADAPTERS if odd.device in look.seen.adapters else Sort.PORTS
    return Mismatch(designed, sort, str(goal), str(look.spoken(odd)))


def _numberless(look: _Look, found: Collection[Link]) -> tuple[Mismatch, ...]:
    """Return the links at ports that no number leads to."""
    odd = {port.device: port for port in sorted(look.taken, reverse=True) if port not in look.expected}
    rows = {link(port, look.expected[port]): port for port in sorted(look.seen.unmapped) if port in look.expected}
    return tuple(
        Mismatch(joined, Sort.PORTS, str(port), str(odd.get(port.device, "")))
        for joined, port in rows.items()
        if joined not in found
    )
