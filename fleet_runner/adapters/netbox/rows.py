"""What is kept of a NetBox's objects: one flat row for each, the same whichever way they were read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fleet_runner.core.inventory.netbox import custom_fields

Json = dict[str, Any]

OURS = (
    custom_fields.MANAGEMENT,
    custom_fields.STATE,
    custom_fields.SINCE,
    custom_fields.REQUEST,
    custom_fields.REASON,
)
"""The custom fields of devices that are kept, where they are filled; a site's own stay in NetBox."""


class SiteRow(NamedTuple):
    """A site."""

    id: int
    name: str


class RackRow(NamedTuple):
    """A rack; site and location by name."""

    id: int
    name: str
    site: str
    location: str | None
    u_height: int
    starting_unit: int


class PortRow(NamedTuple):
    """An interface that every device of a type has."""

    name: str
    kind: str
    mgmt_only: bool


class TypeRow(NamedTuple):
    """A device type; its manufacturer by name."""

    id: int
    slug: str
    model: str
    manufacturer: str
    u_height: float
    is_full_depth: bool
    interfaces: tuple[PortRow, ...]


class DeviceRow(NamedTuple):
    """A device; what it refers to by name or slug, and by id where that may change by itself.

    `custom_fields` are ours only. `last_updated` is ISO 8601 in UTC, as NetBox makes entity tags of it.
    """

    id: int
    name: str | None
    device_type_id: int
    device_type: str
    role: str
    site: str
    rack: str | None
    rack_id: int | None
    position: float | None
    face: str
    status: str
    serial: str
    oob_ip_id: int | None
    oob_ip: str | None
    primary_ip_id: int | None
    primary_ip: str | None
    tenant: str | None
    virtual_chassis: int | None
    is_master: bool
    custom_fields: Json
    config_context: Json
    last_updated: str | None


class InterfaceRow(NamedTuple):
    """An interface; its device by id."""

    id: int
    device: int
    name: str
    kind: str
    mac_id: int | None
    mac: str | None
    wwn: str | None
    mgmt_only: bool


class ItemRow(NamedTuple):
    """An inventory item; its device by id, its role by slug."""

    id: int
    device: int
    name: str
    role: str | None
    part_id: str
    serial: str
    last_updated: str | None


class ModuleRow(NamedTuple):
    """A module; its device by id; its bay, its type's model and that one's profile by name."""

    id: int
    device: int
    module_bay: str
    model: str
    profile: str | None
    serial: str
    last_updated: str | None


class EndRow(NamedTuple):
    """One termination of a cable: its end ("A" or "B"), the type ("dcim.interface") and id of what it ends at."""

    side: str
    kind: str
    id: int


class CableRow(NamedTuple):
    """A cable, and what it ends at."""

    id: int
    kind: str
    label: str
    status: str
    profile: str
    bundle: str | None
    ends: tuple[EndRow, ...]


class FrontRow(NamedTuple):
    """A front port of a patch panel; its device by id and name. `rears` are rear ports, each with its position."""

    id: int
    device: int
    panel: str
    rears: tuple[tuple[int, int], ...]


class RearRow(NamedTuple):
    """A rear port of a patch panel; its device by id and name."""

    id: int
    device: int
    panel: str
    positions: int


Row = SiteRow | RackRow | TypeRow | DeviceRow | InterfaceRow | ItemRow | ModuleRow | CableRow | FrontRow | RearRow


@dataclass(frozen=True, slots=True)
class Rows:
    """Every row that is read, by NetBox's id, in the order of the ids."""

    sites: Mapping[int, SiteRow] = field(default_factory=dict[int, SiteRow])
    racks: Mapping[int, RackRow] = field(default_factory=dict[int, RackRow])
    device_types: Mapping[int, TypeRow] = field(default_factory=dict[int, TypeRow])
    devices: Mapping[int, DeviceRow] = field(default_factory=dict[int, DeviceRow])
    interfaces: Mapping[int, InterfaceRow] = field(default_factory=dict[int, InterfaceRow])
    inventory_items: Mapping[int, ItemRow] = field(default_factory=dict[int, ItemRow])
    modules: Mapping[int, ModuleRow] = field(default_factory=dict[int, ModuleRow])
    cables: Mapping[int, CableRow] = field(default_factory=dict[int, CableRow])
    front_ports: Mapping[int, FrontRow] = field(default_factory=dict[int, FrontRow])
    rear_ports: Mapping[int, RearRow] = field(default_factory=dict[int, RearRow])


def moment(found: str | None) -> str | None:
    """Return a time as NetBox makes entity tags of it: ISO 8601 in UTC."""
    return None if found is None else datetime.fromisoformat(found).astimezone(UTC).isoformat()
