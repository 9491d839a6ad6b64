"""Writes a fleet as site files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.records import Device, DeviceType, Fleet, Interface

Row = dict[str, Any]


def write_site(fleet: Fleet, folder: Path) -> None:
    """Write every kind of record into a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, rows in as_rows(fleet).items():
        (folder / f"{kind}.yml").write_text(yaml.safe_dump(rows, sort_keys=False), "utf-8")


def as_rows(fleet: Fleet) -> dict[str, list[Row]]:
    """Return the records by the file they are written to."""
    placed = {(rack.site, rack.location) for rack in fleet.racks.values() if rack.location}
    return {
        "sites": [{"name": site} for site in fleet.sites],
        "locations": [{"name": name, "site": site} for site, name in sorted(placed, key=str)],
        "racks": [
            _given(
                name=rack.name,
                site=rack.site,
                u_height=rack.u_height,
                starting_unit=rack.starting_unit,
                location=rack.location,
            )
            for rack in fleet.racks.values()
        ],
        "device_types": [_device_type(device_type) for device_type in fleet.device_types.values()],
        "devices": [_device(device, fleet.device_types) for device in fleet.devices.values()],
        "cables": [
            _given(
                a=cable.a._asdict(),
                b=cable.b._asdict(),
                label=cable.label,
                type=cable.kind,
                status=cable.status,
                **_carriers(cable.carriers),
            )
            for cable in fleet.cables
        ],
    }


def _carriers(carriers: tuple[str, ...]) -> Row:
    named = [carrier.split(" ", 1) for carrier in carriers]
    one = {kind: name for kind, name in named if kind != "panel"}
    return one | {"panels": [name for kind, name in named if kind == "panel"] or None}


def _device_type(device_type: DeviceType) -> Row:
    return {
        "manufacturer": device_type.manufacturer,
        "model": device_type.model,
        "slug": device_type.slug,
        "u_height": device_type.u_height,
        "is_full_depth": device_type.full_depth,
        "interfaces": [
            {"name": interface.name, "type": interface.kind, "mgmt_only": interface.mgmt_only}
            for interface in device_type.interfaces
        ],
    }


def _device(device: Device, types: Mapping[str, DeviceType]) -> Row:
    templates = {interface.name: interface for interface in types[device.device_type].interfaces}
    return _given(
        name=device.name,
        device_type=device.device_type,
        role=device.role,
        site=device.site,
        rack=device.rack,
        position=device.position,
        face=device.face,
        status=device.status,
        serial=device.serial,
        oob_ip=device.oob_address,
        primary_ip4=device.primary_address,
        tenant=device.tenant,
        custom_fields={"fleet_management": device.management.value},
        interfaces=[_interface(interface, templates.get(interface.name)) for interface in device.interfaces],
        inventory_items=[
            _given(name=part.slot, role=part.kind, part_id=part.model, serial=part.serial) for part in device.parts
        ],
        local_context_data=dict(device.context),
    )


def _interface(interface: Interface, template: Interface | None) -> Row:
    """Say no more than a person would: what the type says already is left out."""
    same = template is not None and template.mgmt_only is interface.mgmt_only
    return _given(
        name=interface.name,
        type=None if template else interface.kind,
        mac_address=interface.mac,
        wwn=f"0x{interface.guid}" if interface.guid else None,
        mgmt_only=None if same else interface.mgmt_only,
    )


def _given(**values: Any) -> Row:
    return {key: value for key, value in values.items() if value is not None and value != ""}
