"""A NetBox's rows as records."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fleet_runner.adapters.netbox.rows import (
    DeviceRow,
    InterfaceRow,
    ItemRow,
    ModuleRow,
    PortRow,
    RackRow,
    Row,
    TypeRow,
)
from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory import addresses
from fleet_runner.core.inventory.consistency import Found, Problem
from fleet_runner.core.inventory.netbox import custom_fields
from fleet_runner.core.inventory.records import Device, DeviceType, Interface, Management, Part, Rack

T = TypeVar("T")
R = TypeVar("R", bound=Row)

PROFILE_KINDS = {"memory": "dimm", "power supply": "psu", "hard disk": "drive", "expansion card": "card"}
"""Kinds of parts by NetBox's module type profile, where the name in lower case is not the kind already."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is: its page in NetBox."""

    url: str

    def __call__(self, field: str = "") -> str:
        """Return the page's address; a field has none of its own."""
        del field
        return self.url


@dataclass(frozen=True, slots=True)
class Inside:
    """What devices hold, by the device's id."""

    interfaces: Mapping[int, list[Interface]]
    parts: Mapping[int, list[Part]]


def made(make: Callable[[R], T], rows: Iterable[R], page: str, problems: list[Problem]) -> list[Found[T]]:
    """Return rows as records; a value that means nothing is a problem."""
    found: list[Found[T]] = []
    for row in rows:
        place = Place(f"{page}/{row.id}/")
        try:
            found.append(Found(make(row), place))
        except ValueError as error:
            text = f"found a record that cannot be read ({type(error).__name__}: {error})"
            problems.append(Problem(place(), f"{text}; correct it, or check NetBox's version"))
    return found


def rack(row: RackRow, name: str) -> Rack:
    """Read a rack, by the name that tells it from others of its site."""
    return Rack(name, row.site, row.u_height, row.starting_unit, row.location)


def device_type(row: TypeRow) -> DeviceType:
    """Read a device type."""
    ports = tuple(sorted((port(each) for each in row.interfaces), key=lambda found: natural(found.name)))
    return DeviceType(row.slug, row.manufacturer, row.model, row.u_height, ports, row.is_full_depth)


def port(row: PortRow) -> Interface:
    """Read the template of an interface."""
    return Interface(row.name, row.kind, mgmt_only=row.mgmt_only)


def device(row: DeviceRow, inside: Inside, racks: Mapping[int, str]) -> Device:
    """Read a device; `racks` are the names of racks by their ids."""
    return Device(
        name=row.name or "",
        device_type=row.device_type,
        role=row.role,
        site=row.site,
        rack=row.rack if row.rack_id is None else racks.get(row.rack_id, row.rack),
        position=row.position,
        status=row.status,
        serial=row.serial or None,
        oob_address=addresses.ip(row.oob_ip) if row.oob_ip else None,
        primary_address=addresses.ip(row.primary_ip) if row.primary_ip else None,
        tenant=row.tenant,
        management=Management(row.custom_fields.get(custom_fields.MANAGEMENT) or Management.FULL),
        interfaces=tuple(inside.interfaces.get(row.id, ())),
        parts=tuple(inside.parts.get(row.id, ())),
        context=row.config_context,
        face=row.face,
    )


def interface(row: InterfaceRow) -> Interface:
    """Read an interface."""
    return Interface(
        name=row.name,
        kind=row.kind,
        mac=addresses.mac(row.mac) if row.mac else None,
        guid=addresses.guid(row.wwn) if row.wwn else None,
        mgmt_only=row.mgmt_only,
    )


def item(row: ItemRow) -> Part:
    """Read an inventory item; its role says what kind of part it is."""
    return Part(row.name, row.role or "", row.part_id, row.serial or None)


def module(row: ModuleRow) -> Part:
    """Read a module; the profile of its type says what kind of part it is."""
    profile = (row.profile or "").lower()
    return Part(row.module_bay, PROFILE_KINDS.get(profile, profile), row.model, row.serial or None)


def held(pairs: Iterable[tuple[int, T]], name: Callable[[T], str]) -> dict[int, list[T]]:
    """Return records by the id of the device that holds them, in their natural order."""
    found: dict[int, list[T]] = defaultdict(list)
    for owner, record in pairs:
        found[owner].append(record)
    return {owner: sorted(records, key=lambda record: natural(name(record))) for owner, records in found.items()}
