"""Puts a fleet into a stand-in NetBox, as a site would have modelled it."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.inventory.netbox.custom_fields import (
    MANAGEMENT,
    MANAGEMENTS,
    REASON,
    REQUEST,
    REQUESTS,
    SINCE,
    STATE,
    STATES,
)
from fleet_runner.core.inventory.records import Device, Fleet, Part, Rack, Termination
from tests.netbox.database import Database
from tests.netbox.standin import Standin

MODULE_KINDS = {"gpu": "GPU", "psu": "Power supply"}
"""Kinds whose parts are kept as modules, by their profile; others are inventory items."""

FIELDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    MANAGEMENT: ("select", MANAGEMENTS),
    STATE: ("select", STATES),
    SINCE: ("datetime", ()),
    REQUEST: ("select", REQUESTS),
    REASON: ("text", ()),
}


def put(standin: Standin, fleet: Fleet) -> None:
    """Put every record of a fleet into a stand-in, with the project's custom fields."""
    with standin.lock, standin.database.as_one(standin.user("planner")):
        site = _Site(standin.database)
        site.custom_fields()
        site.fill(fleet)


def custom_fields(standin: Standin) -> None:
    """Make the project's custom fields."""
    with standin.lock, standin.database.as_one(standin.user("planner")):
        _Site(standin.database).custom_fields()


class _Site:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.interfaces: dict[Termination, int] = {}

    def make(self, path: str, **values: Any) -> int:
        return int(self.database.create(path, values)["id"])

    def named(self, path: str, name: str, **more: Any) -> int:
        """Return the id of an object with this name; one that is not there is made."""
        scope = {key: value for key, value in more.items() if key in {"site", "parent"}}
        found = self.database.where(path, name=name, **scope)
        return int(found[0]["id"]) if found else self.make(path, name=name, **more)

    def slugged(self, path: str, name: str, **more: Any) -> int:
        """Return the id of an object with this name; names that give one slug get several."""
        taken = {row["slug"] for row in self.database.lists[path].values()}
        free = next(
            each for at in range(len(taken) + 1) if (each := slug(name) + (f"-{at}" if at else "")) not in taken
        )
        return self.named(path, name, slug=free, **more)

    def custom_fields(self) -> None:
        for name, (kind, choices) in FIELDS.items():
            if self.database.where("extras/custom-fields", name=name):
                continue
            more: dict[str, Any] = {}
            if choices:
                listed = [[each, each] for each in choices]
                more["choice_set"] = self.make("extras/custom-field-choice-sets", name=name, extra_choices=listed)
            self.make("extras/custom-fields", name=name, type=kind, object_types=["dcim.device"], **more)

    def fill(self, fleet: Fleet) -> None:
        for site in fleet.sites:
            self.slugged("dcim/sites", site)
        racks = {name: self.rack(rack) for name, rack in fleet.racks.items()}
        types: dict[str, int] = {}
        for key, found in fleet.device_types.items():
            types[key] = self.make(
                "dcim/device-types",
                manufacturer=self.slugged("dcim/manufacturers", found.manufacturer),
                model=found.model,
                slug=key,
                u_height=found.u_height,
                is_full_depth=found.full_depth,
            )
            for port in found.interfaces:
                values = {"name": port.name, "type": port.kind, "mgmt_only": port.mgmt_only}
                self.make("dcim/interface-templates", device_type=types[key], **values)
        for device in fleet.devices.values():
            rack = racks.get(f"{device.site}/{device.rack}") if device.rack else None
            self.device(device, types[device.device_type], rack)
        for cable in fleet.cables:
            ends = [
                [{"object_type": "dcim.interface", "object_id": self.interfaces[end]}] for end in (cable.a, cable.b)
            ]
            kind = cable.kind or None
            values = {"status": cable.status, "label": cable.label, "type": kind}
            self.make("dcim/cables", a_terminations=ends[0], b_terminations=ends[1], **values)

    def rack(self, rack: Rack) -> int:
        site = self.slugged("dcim/sites", rack.site)
        location = self.slugged("dcim/locations", rack.location, site=site) if rack.location else None
        return self.make(
            "dcim/racks",
            name=rack.name,
            site=site,
            location=location,
            u_height=rack.u_height,
            starting_unit=rack.starting_unit,
        )

    def device(self, device: Device, device_type: int, rack: int | None) -> None:
        number = self.make(
            "dcim/devices",
            name=device.name,
            device_type=device_type,
            role=self.slugged("dcim/device-roles", device.role),
            site=self.slugged("dcim/sites", device.site),
            rack=rack,
            location=self.database.lists["dcim/racks"][rack]["location"] if rack else None,
            position=device.position,
            face=device.face,
            status=device.status,
            serial=device.serial or "",
            tenant=self.slugged("tenancy/tenants", device.tenant) if device.tenant else None,
            custom_fields={MANAGEMENT: device.management.value},
            local_context_data=dict(device.context) or None,
        )
        templated = {row["name"]: row["id"] for row in self.database.where("dcim/interfaces", device=number)}
        for port in device.interfaces:
            guid = port.guid
            values: dict[str, Any] = {
                "type": port.kind,
                "mgmt_only": port.mgmt_only,
                "wwn": ":".join(guid[at : at + 2] for at in range(0, 16, 2)) if guid else None,
            }
            its_id = templated.get(port.name) or self.make("dcim/interfaces", device=number, name=port.name, **values)
            if port.name in templated:
                self.database.change("dcim/interfaces", its_id, values)
            if port.mac:
                owner = {"assigned_object_type": "dcim.interface", "assigned_object_id": its_id}
                mac = self.make("dcim/mac-addresses", mac_address=port.mac, **owner)
                self.database.change("dcim/interfaces", its_id, {"primary_mac_address": mac})
            self.interfaces[Termination(device.name, port.name)] = its_id
        self.addresses(device, number)
        for part in device.parts:
            self.part(part, number)

    def addresses(self, device: Device, number: int) -> None:
        given = {"oob_ip": device.oob_address, "primary_ip": device.primary_address}
        ports = self.database.where("dcim/interfaces", device=number)
        for field, address in given.items():
            if not address:
                continue
            whole = f"{address}/{64 if ':' in address else 24}"
            owner = {"assigned_object_type": "dcim.interface", "assigned_object_id": ports[0]["id"]} if ports else {}
            its_id = self.named_address(whole, owner)
            name = field if field == "oob_ip" else f"primary_ip{6 if ':' in address else 4}"
            if ports:
                self.database.change("dcim/devices", number, {name: its_id})
            else:  # a device without interfaces cannot be given one, but a fleet's can have one
                self.database.touch("dcim/devices", number, **{name: its_id})

    def named_address(self, address: str, owner: Mapping[str, Any]) -> int:
        return self.make("ipam/ip-addresses", address=address, **owner)

    def part(self, part: Part, device: int) -> None:
        serial = part.serial or ""
        if part.kind not in MODULE_KINDS:
            role = self.slugged("dcim/inventory-item-roles", part.kind) if part.kind else None
            values = {"role": role, "part_id": part.model, "serial": serial}
            self.make("dcim/inventory-items", device=device, name=part.slot, **values)
            return
        profile = self.named("dcim/module-type-profiles", MODULE_KINDS[part.kind])
        maker = self.slugged("dcim/manufacturers", f"Maker of {part.kind}")
        found = self.database.where("dcim/module-types", model=part.model, profile=profile)
        values = {"manufacturer": maker, "model": part.model, "profile": profile}
        kind = int(found[0]["id"]) if found else self.make("dcim/module-types", **values)
        bay = self.make("dcim/module-bays", device=device, name=part.slot)
        self.make("dcim/modules", device=device, module_bay=bay, module_type=kind, serial=serial)


def slug(name: str) -> str:
    """Return a name as NetBox would write it into an address."""
    kept = "".join(letter if letter.isalnum() or letter == "-" else "-" for letter in name.lower())
    return kept.strip("-") or "none"
