"""NetBox's lists as its REST API gives them, as rows: for a NetBox without our export templates."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.adapters.netbox import rows
from fleet_runner.adapters.netbox.client import Json

END_FIELDS = "cable,cable_end,termination_type,termination_id"
PORT_FIELDS = "id,device_type,name,type,mgmt_only"

Ends = Mapping[int, list[rows.EndRow]]
Ports = Mapping[int, list[rows.PortRow]]


def site(row: Json) -> rows.SiteRow:
    """Read a site."""
    return rows.SiteRow(int(row["id"]), text(row["name"]))


def rack(row: Json) -> rows.RackRow:
    """Read a rack."""
    return rows.RackRow(
        id=int(row["id"]),
        name=text(row["name"]),
        site=text(row["site"]["name"]),
        location=inner(row["location"], "name"),
        u_height=int(row["u_height"]),
        starting_unit=int(row["starting_unit"]),
    )


def device_type(row: Json, ports: Ports) -> rows.TypeRow:
    """Read a device type."""
    return rows.TypeRow(
        id=int(row["id"]),
        slug=text(row["slug"]),
        model=text(row["model"]),
        manufacturer=text(row["manufacturer"]["name"]),
        u_height=float(row["u_height"]),
        is_full_depth=bool(row["is_full_depth"]),
        interfaces=tuple(sorted(ports.get(row["id"], ()))),
    )


def port(row: Json) -> rows.PortRow:
    """Read the template of an interface."""
    return rows.PortRow(text(row["name"]), text(row["type"]["value"]), bool(row["mgmt_only"]))


def device(row: Json) -> rows.DeviceRow:
    """Read a device; everything a half-filled NetBox may lack is allowed to be missing."""
    oob, primary, chassis = row["oob_ip"], row["primary_ip"], row.get("virtual_chassis")
    master = chassis["master"] if chassis else None
    return rows.DeviceRow(
        id=int(row["id"]),
        name=row["name"] or None,
        device_type_id=int(row["device_type"]["id"]),
        device_type=text(row["device_type"]["slug"]),
        role=text(row["role"]["slug"]),
        site=text(row["site"]["name"]),
        rack=inner(row["rack"], "name"),
        rack_id=None if row["rack"] is None else int(row["rack"]["id"]),
        position=None if row["position"] is None else float(row["position"]),
        face=inner(row["face"], "value") or "",
        status=inner(row["status"], "value") or "active",
        serial=row["serial"] or "",
        oob_ip_id=None if oob is None else oob["id"],
        oob_ip=inner(oob, "address"),
        primary_ip_id=None if primary is None else primary["id"],
        primary_ip=inner(primary, "address"),
        tenant=inner(row["tenant"], "name"),
        virtual_chassis=chassis["id"] if chassis else None,
        is_master=master is not None and master["id"] == row["id"],
        custom_fields={key: each for key in rows.OURS if (each := row["custom_fields"].get(key)) is not None},
        config_context=dict(row["config_context"] or {}),
        last_updated=rows.moment(row.get("last_updated")),
    )


def interface(row: Json) -> rows.InterfaceRow:
    """Read an interface."""
    mac = row["primary_mac_address"]
    return rows.InterfaceRow(
        id=int(row["id"]),
        device=int(row["device"]["id"]),
        name=text(row["name"]),
        kind=text(row["type"]["value"]),
        mac_id=None if mac is None else mac["id"],
        mac=inner(mac, "mac_address"),
        wwn=row["wwn"] or None,
        mgmt_only=bool(row["mgmt_only"]),
    )


def item(row: Json) -> rows.ItemRow:
    """Read an inventory item."""
    return rows.ItemRow(
        id=int(row["id"]),
        device=int(row["device"]["id"]),
        name=text(row["name"]),
        role=inner(row["role"], "slug"),
        part_id=row["part_id"] or "",
        serial=row["serial"] or "",
        last_updated=rows.moment(row.get("last_updated")),
    )


def module(row: Json) -> rows.ModuleRow:
    """Read a module."""
    return rows.ModuleRow(
        id=int(row["id"]),
        device=int(row["device"]["id"]),
        module_bay=text(row["module_bay"]["name"]),
        model=text(row["module_type"]["model"]),
        profile=inner(row["module_type"].get("profile"), "name"),
        serial=row["serial"] or "",
        last_updated=rows.moment(row.get("last_updated")),
    )


def cable(row: Json, ends: Ends) -> rows.CableRow:
    """Read a cable; a profile is known since NetBox 4.5, a bundle since 4.6."""
    return rows.CableRow(
        id=int(row["id"]),
        kind=value(row["type"]),
        label=row["label"] or "",
        status=value(row["status"]),
        profile=value(row.get("profile")),
        bundle=inner(row.get("bundle"), "name"),
        ends=tuple(ends.get(row["id"], ())),
    )


def end(row: Json) -> rows.EndRow:
    """Read one termination of a cable."""
    return rows.EndRow(text(row["cable_end"]), text(row["termination_type"]), int(row["termination_id"]))


def front_port(row: Json) -> rows.FrontRow:
    """Read a front port: up to NetBox 4.4 it has one `rear_port`, from 4.5 a list of `rear_ports`."""
    rears = [(int(each["rear_port"]), int(each["rear_port_position"])) for each in row.get("rear_ports") or ()]
    if row.get("rear_port") is not None:
        rears.append((int(row["rear_port"]["id"]), int(row["rear_port_position"])))
    return rows.FrontRow(int(row["id"]), int(row["device"]["id"]), panel(row), tuple(sorted(rears)))


def rear_port(row: Json) -> rows.RearRow:
    """Read a rear port."""
    return rows.RearRow(int(row["id"]), int(row["device"]["id"]), panel(row), int(row["positions"]))


def panel(row: Json) -> str:
    """Return what the device of a port is called."""
    return str(row["device"]["name"] or f"#{row['device']['id']}")


def value(choice: object) -> str:
    """Return the value of a choice: NetBox gives some as text, some as {"value", "label"}, some as null."""
    if isinstance(choice, dict):
        choice = choice.get("value")
    return choice if isinstance(choice, str) else ""


def text(found: Any) -> str:
    """Return text; anything else is no answer of NetBox's."""
    if not isinstance(found, str):
        raise TypeError(f"expected text, found {found!r:.40}")
    return found


def inner(found: Any, key: str) -> str | None:
    """Return the text under a key of what may be null."""
    return None if found is None else text(found[key])
