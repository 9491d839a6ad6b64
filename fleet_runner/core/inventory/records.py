"""What should be: the records of the source of truth, in NetBox's terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Termination(NamedTuple):
    """One end of a cable: a named interface of a named device."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device} {self.interface}"


class Management(StrEnum):
    """Who may act on a node's faults."""

    FULL = "full"
    CUSTOMER = "customer"


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack; `u_height` in rack units, of which the lowest is numbered `starting_unit`.

    `location` is the part of the site it stands in (a row, a cage), where the source knows it.
    """

    name: str
    site: str
    u_height: int = 42
    starting_unit: int = 1
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Interface:
    """A port of a device.

    `kind` is NetBox's interface type slug ("infiniband-ndr", "100gbase-x-qsfp28"); `mac` is lower case with
    colons; `guid` is the InfiniBand port GUID (NetBox keeps it as the WWN): 16 lower-case hex digits. One that is
    `mgmt_only` is the BMC's or likewise: the device's own system neither sees it nor boots from it.
    """

    name: str
    kind: str
    mac: str | None = None
    guid: str | None = None
    mgmt_only: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Something inside a device (NetBox: module or inventory item): a GPU, an HCA, a DIMM."""

    slot: str
    kind: str
    model: str
    serial: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceType:
    """A SKU: what every device of this type has. One that is not `full_depth` fills only its own face of a rack."""

    slug: str
    manufacturer: str
    model: str
    u_height: float
    interfaces: tuple[Interface, ...] = ()
    full_depth: bool = True


@dataclass(frozen=True, slots=True)
class Device:
    """Any box NetBox knows; a node if its role is one of the fleet's node roles.

    `position` is the lowest rack unit it fills, as the rack numbers them, mounted on `face` ("front", "rear"
    or ""). `context` is the rendered config context: its keys become Ansible host variables. `interfaces` are the
    device's own (type templates already merged in).
    """

    name: str
    device_type: str
    role: str
    site: str
    rack: str | None = None
    position: float | None = None
    status: str = "active"
    serial: str | None = None
    oob_address: str | None = None
    primary_address: str | None = None
    tenant: str | None = None
    management: Management = Management.FULL
    interfaces: tuple[Interface, ...] = ()
    parts: tuple[Part, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    face: str = ""


CONNECTED, PLANNED, REMOVED = "connected", "planned", "decommissioning"
"""NetBox's statuses of a cable: in place, to be put in place, and designed no more."""

PANEL = "panel"
"""How a carrier that is a patch panel begins: such a link is several cables, one behind the other."""


@dataclass(frozen=True, slots=True)
class Cable:
    """One designed cable between two terminations; the order of the ends carries no meaning.

    `carriers` are what several cables share on their way, coarse to fine, as the source names them ("trunk T-12",
    "panel PP-A3", "cage leaf-1 7"). `status` is NetBox's ("connected", "planned"). `id` is NetBox's; None where the
    source gives cables no ids.
    """

    a: Termination
    b: Termination
    label: str = ""
    kind: str = ""
    carriers: tuple[str, ...] = ()
    status: str = CONNECTED
    id: int | None = None


class Place(NamedTuple):
    """Where a node is, and whose; "" where nobody says. `rack` and `domain` (its failure domain) carry their site."""

    site: str = ""
    rack: str = ""
    domain: str = ""
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything the source of truth says, at one moment, already checked for contradictions.

    `racks` is keyed by `rack_key(site, name)`, since two sites may both have a rack A03; the others by their name
    or slug. `revision` changes whenever any record does (a hash or a high-water mark of the source). `notes` are
    sentences for the source's owner about what could not be used. `unread` are devices that are in the source and
    whose record cannot be used, each with the reason: they are not gone, and nothing is known of them. `uncompared`
    are ports of other devices of which it is not known what belongs there. `last_places` is where the source last
    said that nodes are, as the store remembers it: a node whose record is wrong today has not left its rack.
    """

    sites: tuple[str, ...]
    racks: Mapping[str, Rack]
    device_types: Mapping[str, DeviceType]
    devices: Mapping[str, Device]
    cables: tuple[Cable, ...]
    revision: str = ""
    notes: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict[str, str])
    uncompared: tuple[Termination, ...] = ()
    last_places: Mapping[str, Place] = field(default_factory=dict[str, Place])

    def place(self, device: str) -> str:
        """Where a person finds a device: "hall-1 rack A03 U12"; says so where the source does not know."""
        found = self.devices.get(device)
        if found is None:
            return "not in the source of truth"
        rack = f"rack {found.rack}" if found.rack else "rack unknown"
        unit = f"U{found.position:g}" if found.position is not None else "U unknown"
        return f"{found.site} {rack} {unit}"


def rack_key(site: str, rack: str) -> str:
    """Return the key of `Fleet.racks` for a rack of a site."""
    return f"{site}/{rack}"


NODE_ROLES = frozenset({"gpu-server"})
"""Device roles (NetBox slugs) that have a lifecycle; everything else is only cabled and read."""


def nodes(fleet: Fleet) -> tuple[Device, ...]:
    """Return the devices that have a lifecycle, by name."""
    return tuple(fleet.devices[name] for name in sorted(fleet.devices) if fleet.devices[name].role in NODE_ROLES)
