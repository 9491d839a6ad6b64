"""Which devices of an Ethernet fabric are heard, or hear, by other names than the design's, and what those mean."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.names import Names, device_of
from fleet_runner.core.cabling.port_readings import Told, readings
from fleet_runner.core.checks.parsers.lldp import Neighbour

ADDRESS = re.compile(r"([0-9a-fA-F]{2}[:.-]){5}[0-9a-fA-F]{2}$")


class Alone(Protocol):
    """What tells which port a told one is; of those that are broken out, the design's `lanes`, nobody knows."""

    @property
    def lanes(self) -> frozenset[Port]:
        """Return the designed ports that are broken out."""
        ...

    def meant(self, device: str, told: str) -> str | None:
        """Return the port that a told one means alone; None if nobody can tell which."""
        ...


class _Row(NamedTuple):
    """One heard neighbour: the device that hears it and its port, and the same of the one that is heard."""

    here: str
    interface: str
    there: str
    said: str


def read(
    heard: Mapping[str, Iterable[Neighbour]], known: Names, designed: Mapping[Port, Link], alone: Alone
) -> dict[str, Mapping[str, str | None]]:
    """Return what told ports of each device mean that is heard, or hears, by other rules than it is designed by.

    Who is heard, and hears, of designed links alone is called by the design's names.
    """
    rows = _rows(heard, known)
    odd = _odd(rows, known, designed) - {port.device for port in alone.lanes}
    if not odd:
        return {}
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    for port, joined in designed.items():
        if port.device in odd:
            far = joined.b if joined.a == port else joined.a
            between[port.device, far.device].add(port.interface)
    told: dict[str, list[Told]] = defaultdict(list)
    for here, interface, there, said in rows:
        for one, name, other in ((here, interface, there), (there, said, here)):
            if name and one in odd:
                told[one].append(Told(name, frozenset(between.get((one, other), ())), alone.meant(one, name)))
    found = {
        device: readings(mine, {port.interface for port in known.spoken[device].values()})
        for device, mine in told.items()
    }
    return {device: each for device, each in found.items() if each}


def _rows(heard: Mapping[str, Iterable[Neighbour]], known: Names) -> list[_Row]:
    systems = {each.system for neighbours in heard.values() for each in neighbours}
    devices = {name: device_of(name, known)[0] for name in {*heard, *systems}}
    return [
        _Row(devices[device], each.interface, devices[each.system], _said(each))
        for device, neighbours in heard.items()
        for each in neighbours
    ]


def _said(heard: Neighbour) -> str:
    """Return what a neighbour calls its port."""
    return heard.description if ADDRESS.match(heard.port) else heard.port or heard.description


def _odd(rows: Iterable[_Row], known: Names, designed: Mapping[Port, Link]) -> set[str]:
    """Return the designed devices at some row that tells no designed link in the design's names."""
    odd: set[str] = set()
    none: Mapping[str, Port] = {}
    nothing: Collection[Port] = ()
    for here, interface, there, said in rows:
        near, far = known.spoken.get(here, none).get(interface), known.spoken.get(there, none).get(said)
        if near is None or far is None or far not in designed.get(near, nothing):
            odd |= {here, there}
    return odd.intersection(known.spoken)
