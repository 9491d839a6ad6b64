"""Fabrics: what the runner looks after as a whole, because its cabling belongs to no single node.

A fabric is the switches of one site that designed cables of one kind join, InfiniBand's or Ethernet's, directly or
not, with every cable that ends at one of them. An NVLink domain (`core.nvlink.domains`) is one, too: the source of
truth knows its trays, not its cables. Each has a row in the store beside the nodes and a schedule of its own; it
never moves.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fleet_runner.core.base.plural import counted
from fleet_runner.core.cabling import switches
from fleet_runner.core.inventory.records import NODE_ROLES, Cable, Device, Fleet, Termination
from fleet_runner.core.nvlink.domains import Domain, domains

INFINIBAND, ETHERNET, NVLINK = "infiniband", "ethernet", "nvlink"
"""The kinds of fabrics. NetBox's interface types of InfiniBand begin with the first; all others are Ethernet's."""

NAMED = "fabric_name"
"""The key of a switch's config context that names its fabric, such as "rails" or "storage"."""

LONGEST = 40
"""Characters of such a name."""

NVLINK_TYPE = "nvlink-fabric"

FABRIC_TYPES = ("infiniband-fabric", "ethernet-fabric", NVLINK_TYPE)
"""The roles, and the device types, of fabrics' records."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """One fabric. `ports` are the node ports in it, by node and interface ("" in an NVLink domain).

    InfiniBand is read through any of those nodes; Ethernet from its switches, as many as can be `asked`; an NVLink
    domain from all of its compute trays. `usual` is the name that it has where nobody names it.
    """

    name: str
    site: str
    switches: frozenset[str]
    ports: tuple[Termination, ...]
    kind: str = INFINIBAND
    asked: frozenset[str] = frozenset()
    usual: str = ""
    domain: Domain | None = None

    @property
    def first(self) -> str:
        """Return one device of it, by which people find it."""
        return min(self.switches or {port.device for port in self.ports})

    @property
    def size(self) -> str:
        """Return "2 switches and 16 nodes of hall-1"."""
        nodes = len({port.device for port in self.ports})
        if self.domain is None:
            return f"{counted(len(self.switches), 'switch', 'switches')} and {counted(nodes, 'node')} of {self.site}"
        racks = f", rack {' and '.join(self.domain.racks)}" if self.domain.racks else ""
        trays = f"{counted(nodes, 'compute tray')} and {counted(len(self.switches), 'switch tray')}"
        return f"{trays} of {self.site}{racks}"

    @property
    def record(self) -> Device:
        """Return the record under which the store keeps it."""
        of_kind = f"{self.kind}-fabric"
        return Device(name=self.name, device_type=of_kind, role=of_kind, site=self.site)


def fabrics(fleet: Fleet) -> tuple[Fabric, ...]:
    """Return every fabric, by name: "infiniband.SITE", and ".SWITCH" behind it where that would name several.

    Where switches of a fabric have a `fabric_name` in their config context, and no other fabric has it, that stands
    in the place of ".SWITCH". An Ethernet fabric of which no switch can be asked is none: nothing would look at it.
    """
    cables = _by_kind(fleet)
    wired = [each for each in _of_kind(fleet, ETHERNET, cables[ETHERNET]) if each.asked]
    found = (*_of_kind(fleet, INFINIBAND, cables[INFINIBAND]), *wired)
    return tuple(sorted(found, key=lambda fabric: fabric.name))


def watched(fleet: Fleet) -> tuple[Fabric, ...]:
    """Return everything that is looked after as a whole: the fabrics of cables, and NVLink domains, by name.

    A domain is called "nvlink.SITE.DOMAIN". One of which no compute tray is known is none: nothing could look at it.
    """
    found = [of_domain(domain) for domain in domains(fleet) if domain.trays]
    return tuple(sorted((*fabrics(fleet), *found), key=lambda fabric: fabric.name))


def of_domain(domain: Domain) -> Fabric:
    """Return an NVLink domain as what is looked after, also one that is not."""
    name = f"{NVLINK}.{_plain(domain.site)}.{_plain(domain.name)}"
    ports = tuple(Termination(tray, "") for tray in domain.trays)
    return Fabric(name, domain.site, frozenset(domain.switches), ports, NVLINK, usual=name, domain=domain)


def _of_kind(fleet: Fleet, kind: str, cables: Sequence[Cable]) -> list[Fabric]:
    joined = _joined(fleet, cables)
    of = {switch: number for number, members in enumerate(joined) for switch in members}
    ports: list[set[Termination]] = [set() for _ in joined]
    for cable in cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if near.device in of and far.device not in of and far.device in fleet.devices:
                ports[of[near.device]].add(far)
    found = [_fabric(fleet, kind, members, ends) for members, ends in zip(joined, ports, strict=True)]
    alike = Counter(each.name for each in found)
    usual = [f"{each.name}.{_plain(min(each.switches))}" if alike[each.name] > 1 else each.name for each in found]
    said = [_said(fleet, each) for each in found]
    taken = Counter((*said, *usual))
    return [
        replace(each, name=own if own and taken[own] == 1 else plain, usual=plain)
        for each, own, plain in zip(found, said, usual, strict=True)
    ]


def _said(fleet: Fleet, fabric: Fabric) -> str:
    """Return the name that a fabric's switches give it in their config contexts; "" for none, and for several."""
    told = {str(fleet.devices[switch].context.get(NAMED, "")) for switch in fabric.switches} - {""}
    name = told.pop() if len(told) == 1 else ""
    return f"{fabric.name}.{_plain(name)}" if 0 < len(name) <= LONGEST else ""


def cables_of(fleet: Fleet, kind: str) -> list[Cable]:
    """Return the cables between interfaces of InfiniBand, or of anything else: Ethernet."""
    return _by_kind(fleet)[kind]


def _by_kind(fleet: Fleet) -> dict[str, list[Cable]]:
    """Return all cables, those of InfiniBand apart: where both ends tell their kind, the first one counts."""
    fast = {
        (device.name, interface.name)
        for device in fleet.devices.values()
        for interface in device.interfaces
        if interface.kind.startswith(INFINIBAND)
    }
    found: dict[str, list[Cable]] = {INFINIBAND: [], ETHERNET: []}
    for cable in fleet.cables:
        joins = cable.a in fast or (cable.b in fast and not _told(fleet, cable.a))
        found[INFINIBAND if joins else ETHERNET].append(cable)
    return found


def _told(fleet: Fleet, end: Termination) -> bool:
    """Whether the source says of which kind an interface is."""
    device = fleet.devices.get(end.device)
    return device is not None and any(each.kind for each in device.interfaces if each.name == end.interface)


def _plain(name: str) -> str:
    """Return a name as an Ansible host and a part of a path may have it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _joined(fleet: Fleet, cables: Iterable[Cable]) -> list[frozenset[str]]:
    """Return the sets of switches that cables join, the lone ones too."""
    those = {name for name, device in fleet.devices.items() if device.role not in NODE_ROLES}
    beside: dict[str, set[str]] = {}
    for one, other in {(cable.a.device, cable.b.device) for cable in cables}:
        ends = those.intersection((one, other))
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


def _fabric(fleet: Fleet, kind: str, members: frozenset[str], ports: Iterable[Termination]) -> Fabric:
    site = fleet.devices[min(members)].site
    asked = frozenset(name for name in members if kind == ETHERNET and switches.can_be_asked(fleet.devices[name]))
    return Fabric(f"{kind}.{_plain(site)}", site, members, tuple(sorted(ports)), kind, asked)
