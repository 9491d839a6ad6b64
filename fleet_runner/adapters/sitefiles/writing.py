"""A fleet as the texts of site files, in an order and form that stay the same."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_interface
from typing import Any

import yaml

from fleet_runner.core.cabling.breakouts import laid
from fleet_runner.core.inventory.consistency import ROLES
from fleet_runner.core.inventory.records import (
    CONNECTED,
    PANEL,
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Management,
    Rack,
)

Row = dict[str, Any]

WIDTH = 118

DUMPER: Any = type("_Dumper", (getattr(yaml, "CSafeDumper", yaml.SafeDumper),), {"ignore_aliases": lambda *_: True})
"""Writes what occurs twice twice: anchors help no reader of records."""


def texts(fleet: Fleet) -> dict[str, str]:
    """Return the text of each site file by its name; a kind without records has none."""
    return {f"{kind}.yml": _text(found) for kind, found in rows(fleet).items() if found}


def rows(fleet: Fleet) -> dict[str, list[Any]]:
    """Return the records of each kind as they are written: what a default says already is left out."""
    places = sorted({(rack.site, rack.location) for rack in fleet.racks.values() if rack.location}, key=str)
    roles = sorted({device.role for device in fleet.devices.values()} - ROLES)
    return {
        "sites": [{"name": site} for site in fleet.sites],
        "locations": [{"name": name, "site": site} for site, name in places],
        "roles": [{"slug": role} for role in roles],
        "racks": [_rack(rack) for rack in fleet.racks.values()],
        "device_types": [_device_type(device_type) for device_type in fleet.device_types.values()],
        "devices": [_device(device, fleet.device_types[device.device_type]) for device in fleet.devices.values()],
        "cables": list(_cables(fleet.cables)),
    }


def _text(found: list[Any]) -> str:
    text: str = yaml.dump(
        found, Dumper=DUMPER, sort_keys=False, default_flow_style=None, width=WIDTH, allow_unicode=True
    )
    return text


def _rack(rack: Rack) -> Row:
    start = None if rack.starting_unit == 1 else rack.starting_unit
    return _given(name=rack.name, site=rack.site, location=rack.location, u_height=rack.u_height, starting_unit=start)


def _device_type(device_type: DeviceType) -> Row:
    return _given(
        manufacturer=device_type.manufacturer,
        model=device_type.model,
        slug=device_type.slug,
        u_height=_number(device_type.u_height),
        is_full_depth=None if device_type.full_depth else False,
        interfaces=[
            _given(name=each.name, type=each.kind, mgmt_only=each.mgmt_only or None)
            for each in device_type.interfaces
        ],
    )


def _device(device: Device, device_type: DeviceType) -> Row:
    templates = {interface.name: interface for interface in device_type.interfaces}
    mine = {interface.name for interface in device.interfaces}
    version = ip_interface(device.primary_address).version if device.primary_address else 4
    customer = device.management is not Management.FULL
    return _given(
        name=device.name,
        device_type=device.device_type,
        role=device.role,
        site=device.site,
        rack=device.rack,
        position=_number(device.position),
        face=device.face,
        status=None if device.status == "active" else device.status,
        serial=device.serial,
        oob_ip=device.oob_address,
        **{f"primary_ip{version}": device.primary_address},
        tenant=device.tenant,
        custom_fields={"fleet_management": device.management.value} if customer else None,
        interfaces=[row for each in device.interfaces if (row := _interface(each, templates.get(each.name)))],
        without=[name for name in templates if name not in mine],
        inventory_items=[
            _given(name=part.slot, role=part.kind, part_id=part.model, serial=part.serial) for part in device.parts
        ],
        config_context=dict(device.context),
    )


def _interface(interface: Interface, template: Interface | None) -> Row | None:
    """Return what a device says of an interface beside its type; None where that is nothing."""
    found = _given(
        name=interface.name,
        type=None if template and template.kind == interface.kind else interface.kind,
        mac_address=interface.mac,
        wwn=interface.guid,
        mgmt_only=None if interface.mgmt_only == (template.mgmt_only if template else False) else interface.mgmt_only,
    )
    return found if template is None or len(found) > 1 else None


def _cables(cables: tuple[Cable, ...]) -> Iterator[Any]:
    for near, far in laid(cables):
        cable = far[0][0]
        said = _given(
            type=cable.kind,
            label=cable.label,
            status=None if cable.status == CONNECTED else cable.status,
            **_carriers(cable.carriers),
        )
        ends = [end for _, end in far]
        if said or len(ends) > 1:
            one = {"b": ends[0]._asdict()} if len(ends) == 1 else {"b_terminations": [end._asdict() for end in ends]}
            yield {"a": near._asdict(), **one, **said}
        else:
            yield [*near, *ends[0]]


def _carriers(carriers: tuple[str, ...]) -> Mapping[str, Any]:
    """Return what a cable shares with others: by the keys people write, or all of it as a list."""
    named = [tuple(carrier.split(" ", 1)) for carrier in carriers]
    trunks = [name for kind, *name in named if kind == "trunk"]
    panels = [name for kind, *name in named if kind == PANEL]
    cages = [name for kind, *name in named if kind == "cage"]
    usual = [*(("trunk", *each) for each in trunks), *((PANEL, *each) for each in panels)]
    whole = [*usual, *(("cage", *each) for each in cages)] == named and all(len(each) > 1 for each in named)
    if len(trunks) > 1 or len(cages) > 1 or not whole:
        return {"carriers": list(carriers)}
    return {
        "trunk": trunks[0][0] if trunks else None,
        "panels": [each[0] for each in panels],
        "cage": cages[0][0] if cages else None,
    }


def _number(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value


def _given(**values: Any) -> Row:
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}
