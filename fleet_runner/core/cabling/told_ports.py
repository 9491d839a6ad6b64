"""What the ports that devices tell over LLDP are in the design: by address, by name, by number on SONiC's fronts."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from fleet_runner.core.cabling.lanes import is_lane
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.names import Names, bind_port, device_of
from fleet_runner.core.cabling.port_numbers import fitting
from fleet_runner.core.cabling.port_spellings import (
    first_lane,
    other_way,
    panel_number,
    panel_ways,
    respelled,
    same_place,
)
from fleet_runner.core.checks.parsers.lldp import Neighbour

_PLAIN_PORT = re.compile(r"[A-Za-z]+([0-9]{1,9})$")
"""An interface that is a word and a number: "swp7" may be what the design calls "7"; "Ethernet1/7/2" may not."""

_ADDRESS = re.compile(r"([0-9a-fA-F]{2}[:.-]){5}[0-9a-fA-F]{2}$")


_INSIDE = re.compile(r"Ethernet-(?:BP|IB|Rec)[0-9]{1,4}", re.ASCII | re.IGNORECASE)
"""A port of SONiC inside its chassis: no cable is plugged there."""


def is_inside(heard: Neighbour) -> bool:
    """Whether what is heard is inside one chassis."""
    return any(map(_INSIDE.fullmatch, (heard.interface, heard.port, heard.description)))


def own(macs: Mapping[str, Port], heard: Mapping[str, Iterable[Neighbour]]) -> Mapping[str, Port]:
    """Return the addresses that are one port's own: one heard at several ports is its system's, or a pair's."""
    if not macs:
        return macs
    at = {
        (mac, device, row.interface)
        for device, rows in heard.items()
        for row in rows
        if (mac := plain_mac(row.port)) in macs
    }
    count = Counter(mac for mac, _, _ in at)
    several = {mac for mac, ports in count.items() if ports > 1}
    return {mac: port for mac, port in macs.items() if mac not in several} if several else macs


@dataclass(frozen=True, slots=True)
class ToldPorts:
    """What ports are called: in the design, by address, and by number on the fronts of SONiC's switches.

    `designed` gives each designed port its link; `lanes` are those that are broken out to several. `asked` keeps the
    names of the ports of devices that were asked for: devices of a kind have the same.
    """

    known: Names
    macs: Mapping[str, Port]
    panels: Mapping[str, Mapping[int, Port]]
    designed: Mapping[Port, Link]
    lanes: frozenset[Port]
    asked: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def named(self, device: str, names: Iterable[str], near: Port | None = None) -> Port | None:
        """Return a port by what its device and others call it, the likeliest first; None if nobody can tell which.

        `near` is what is plugged into it: where just the number of a port is told, it may be the designed one.
        """
        told = sorted(filter(None, names), key=str.isdecimal)  # a number beside a name may be an index
        name, spoken = device_of(device, self.known)
        if not spoken or not told:
            return Port(name, told[0]) if told else None
        for each in told:
            if each in spoken:
                return spoken[each]
        if name not in self.asked:
            self.asked[name] = frozenset(port.interface for port in spoken.values() if port.interface in spoken)
        designed = self.asked[name]
        wanted = self.designed.get(near, ()) if near else ()
        found = [self._otherwise(name, each, designed, wanted) for each in told]
        port = next((each for each in found if each and each.interface in designed), None)
        return port or found[0]

    def guess(self, device: str, names: Iterable[str]) -> Port | None:
        """Return the port of which a name that the design does not use tells just the number; else None."""
        name, spoken = device_of(device, self.known)
        if not spoken or name in self.panels:
            return None
        found = ((each, self._by_number(name, each)) for each in names)
        return next((port for each, port in found if port and not same_place(each, port.interface)), None)

    def _by_number(self, device: str, told: str) -> Port | None:
        plain = _PLAIN_PORT.match(told)
        port = self.known.spoken[device].get(str(int(plain[1])) if plain else first_lane(told))
        return None if port in self.lanes and not plain else port

    def _otherwise(self, device: str, told: str, designed: frozenset[str], wanted: Collection[Port]) -> Port | None:
        number = _panel_number(told, designed)
        if number is not None:
            return self.panels.get(device, {}).get(number)
        port = self._by_number(device, told)
        if port in wanted:
            return port
        if self.lanes and any(Port(device, name) in self.lanes and is_lane(told, name) for name in designed):
            return Port(device, told)
        found = _respelled(told, designed)
        return None if found is None else Port(device, found or told)


_panel_number = lru_cache(maxsize=65_536)(panel_number)
_respelled = lru_cache(maxsize=65_536)(respelled)


def panels(
    heard: Mapping[str, Iterable[Neighbour]], known: Names, designed: Mapping[Port, Link]
) -> dict[str, Mapping[int, Port]]:
    """Return, of SONiC's switches that are heard by their other names, or hear by them, the port of each number."""
    plugged: dict[str, list[tuple[str, int]]] = defaultdict(list)
    ways = {
        device: other_way({port.interface for port in spoken.values()}) for device, spoken in known.spoken.items()
    }
    if not any(ways.values()):
        return {}
    for device, neighbours in heard.items():
        here = device_of(device, known)[0]
        for each in neighbours:
            there = device_of(each.system, known)[0]
            numbers = [
                way.match(name) if (way := ways.get(switch)) else None
                for switch, name in ((there, each.port), (here, each.interface))
            ]
            if not any(numbers):
                continue
            names = (bind_port(each.system, name, known) for name in (each.port, each.description) if name)
            told = next((port for port in names if port in designed), None)
            near = bind_port(device, each.interface, known)
            for switch, number, far in zip((there, here), numbers, (near, told), strict=True):
                if number:
                    ends = designed.get(far, ()) if far else ()
                    goal = next((port for port in ends if port.device == switch), None)
                    plugged[switch] += [(goal.interface, int(number[1]))] if goal else []
    return {device: _panel(device, known, told) for device, told in plugged.items()}


def _panel(device: str, known: Names, plugged: Iterable[tuple[str, int]]) -> dict[int, Port]:
    """Return the ports of a switch by their other numbers; none where the cables do not tell those of all."""
    ways = panel_ways(sorted({port.interface for port in known.spoken[device].values()}))
    chosen = fitting(ways, plugged) if ways else {}
    return {number: Port(device, name) for name, number in chosen.items()} if chosen in ways else {}


def names_of(heard: Neighbour) -> tuple[str, ...]:
    """Return what a neighbour calls its port: by id or, where the id is an address, by description."""
    names = (heard.description,) if _ADDRESS.match(heard.port) else (heard.port, heard.description)
    return tuple(name for name in names if name)


def plain_mac(told: str) -> str:
    """Return an address as the source of truth writes it."""
    return told.lower().replace("-", ":").replace(".", ":")
