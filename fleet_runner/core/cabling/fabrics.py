"""InfiniBand fabrics: what the runner looks after as a whole, because its cabling belongs to no single node.

A fabric is the switches of one site that designed cables join, directly or not, with every cable that ends at one
of them. It has a row in the store beside the nodes and a schedule of its own; it never moves.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fleet_runner.core.inventory.records import NODE_ROLES, Cable, Device, Fleet, Termination

FABRIC = "infiniband-fabric"
"""The role, and the device type, of a fabric's record."""

KIND = "infiniband"
"""How NetBox's interface types of InfiniBand begin."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """One fabric. `ports` are the node ports in it, by node and interface; any of those nodes can look at it."""

    name: str
    site: str
    switches: frozenset[str]
    ports: tuple[Termination, ...]

    @property
    def record(self) -> Device:
        """Return the record under which the store keeps it."""
        return Device(name=self.name, device_type=FABRIC, role=FABRIC, site=self.site)


def fabrics(fleet: Fleet) -> tuple[Fabric, ...]:
    """Return every fabric, by name: "infiniband.SITE", and ".SWITCH" behind it where that would name several."""
    cables = infiniband(fleet)
    joined = _joined(fleet, cables)
    of = {switch: number for number, members in enumerate(joined) for switch in members}
    ports: list[set[Termination]] = [set() for _ in joined]
    for cable in cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if near.device in of and far.device not in of and far.device in fleet.devices:
                ports[of[near.device]].add(far)
    found = [_fabric(fleet, members, ends) for members, ends in zip(joined, ports, strict=True)]
    alike = Counter(each.name for each in found)
    named = [
        replace(each, name=f"{each.name}.{_plain(min(each.switches))}") if alike[each.name] > 1 else each
        for each in found
    ]
    return tuple(sorted(named, key=lambda fabric: fabric.name))


def infiniband(fleet: Fleet) -> list[Cable]:
    """Return the cables between InfiniBand interfaces."""
    kinds = {
        (device.name, interface.name): interface.kind
        for device in fleet.devices.values()
        for interface in device.interfaces
    }
    return [cable for cable in fleet.cables if (kinds.get(cable.a) or kinds.get(cable.b) or "").startswith(KIND)]


def _plain(name: str) -> str:
    """Return a name as an Ansible host and a part of a path may have it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _switch(fleet: Fleet, name: str) -> bool:
    device = fleet.devices.get(name)
    return device is not None and device.role not in NODE_ROLES


def _joined(fleet: Fleet, cables: Iterable[Cable]) -> list[frozenset[str]]:
    """Return the sets of switches that cables join, the lone ones too."""
    beside: dict[str, set[str]] = {}
    for cable in cables:
        ends = [end.device for end in (cable.a, cable.b) if _switch(fleet, end.device)]
        for end in ends:
            beside.setdefault(end, set()).update(ends)
    found: list[frozenset[str]] = []
    done = set[str]()
    for first in sorted(beside):
        if first in done:
            continue
        members, ahead = set[str](), [first]
        while ahead:
            switch = ahead.pop()
            if switch not in members:
                members.add(switch)
                ahead += beside[switch]
        done |= members
        found.append(frozenset(members))
    return found


def _fabric(fleet: Fleet, switches: frozenset[str], ports: Iterable[Termination]) -> Fabric:
    site = fleet.devices[min(switches)].site
    return Fabric(f"infiniband.{_plain(site)}", site, switches, tuple(sorted(ports)))
