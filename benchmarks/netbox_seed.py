"""Fills a NetBox for its benchmark from inside: run by NetBox's `manage.py shell -c`, the records on standard input.

Nothing of a NetBox is touched that holds any other device. What was there of it is taken away first, and no
change is logged.
"""

import json
import sys
from typing import Any

from core.models import ObjectType
from dcim.models import (
    Cable,
    CablePath,
    CableTermination,
    Device,
    DeviceRole,
    DeviceType,
    Interface,
    InterfaceTemplate,
    InventoryItem,
    InventoryItemRole,
    Location,
    MACAddress,
    Manufacturer,
    Rack,
    Site,
)
from django.db import connection, transaction
from extras.models import ConfigContext
from ipam.models import IPAddress

Record = dict[str, Any]
Ports = dict[tuple[str, str], Interface]
MARK = "made by fleet-runner's benchmark"


def main() -> None:
    """Take away what an earlier run left, and make everything anew, in one transaction."""
    records = json.load(sys.stdin)
    (name,) = (site["name"] for site in records["sites"])
    others = Device.objects.exclude(site__slug=name).count()
    if others:
        sys.exit(f"this NetBox holds {others} devices of its own; fill one that holds none")
    with transaction.atomic():
        _clear(name)
        devices = _devices(records, _racks(records, name))
        ports = _interfaces(records, devices)
        _addresses(records["devices"], devices, ports)
        _parts(records["devices"], devices)
        _cables(records["cables"], ports)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(json.dumps({"devices": len(devices), "interfaces": len(ports), "cables": len(records["cables"])}))


def _clear(name: str) -> None:
    site = {"device__site__slug": name}
    Device.objects.filter(site__slug=name).update(primary_ip4=None, oob_ip=None)
    Interface.objects.filter(**site).update(_path=None, primary_mac_address=None, cable=None)
    for rows in (
        CablePath.objects.all(),
        CableTermination.objects.all(),
        Cable.objects.all(),
        MACAddress.objects.all(),
        IPAddress.objects.filter(description=MARK),
        InventoryItem.objects.filter(**site),
        Interface.objects.filter(**site),
    ):
        rows._raw_delete(rows.db)  # noqa: SLF001  one by one, NetBox would trace each path again
    for found in (
        Device.objects.filter(site__slug=name),
        DeviceType.objects.filter(description=MARK),
        Rack.objects.filter(site__slug=name),
        Location.objects.filter(site__slug=name),
        Site.objects.filter(slug=name),
        DeviceRole.objects.filter(description=MARK),
        InventoryItemRole.objects.filter(description=MARK),
        Manufacturer.objects.filter(description=MARK),
        ConfigContext.objects.filter(description=MARK),
    ):
        found.delete()


def _racks(records: Record, name: str) -> dict[str, Rack]:
    site = Site.objects.create(name=name, slug=name)
    halls = {
        row["name"]: Location.objects.create(name=row["name"], slug=row["name"], site=site)
        for row in records["locations"]
    }
    made = [
        Rack(name=row["name"], site=site, location=halls[row["location"]], u_height=row["u_height"])
        for row in records["racks"]
    ]
    return {rack.name: rack for rack in Rack.objects.bulk_create(made)}


def _named(model: Any, slug: str) -> Any:
    return model.objects.get_or_create(slug=slug.lower(), defaults={"name": slug, "description": MARK})[0]


def _devices(records: Record, racks: dict[str, Rack]) -> dict[str, Device]:
    types = {}
    for row in records["device_types"]:
        made = DeviceType.objects.create(
            manufacturer=_named(Manufacturer, row["manufacturer"]),
            model=row["model"],
            slug=row["slug"],
            u_height=row["u_height"],
            description=MARK,
        )
        InterfaceTemplate.objects.bulk_create(
            InterfaceTemplate(device_type=made, **each) for each in row["interfaces"]
        )
        types[row["slug"]] = made
    roles = {slug: _named(DeviceRole, slug) for slug in dict.fromkeys(row["role"] for row in records["devices"])}
    (site,) = Site.objects.filter(slug=records["sites"][0]["name"])
    context = next(row["local_context_data"] for row in records["devices"] if "local_context_data" in row)
    ConfigContext.objects.create(name=MARK, description=MARK, data=context).roles.set([roles["gpu-server"]])
    found = [
        Device(
            name=row["name"],
            device_type=types[row["device_type"]],
            role=roles[row["role"]],
            site=site,
            rack=racks.get(row.get("rack")),
            location=racks[row["rack"]].location if "rack" in row else None,
            position=row.get("position"),
            face=row.get("face", ""),
            serial=row.get("serial", ""),
        )
        for row in records["devices"]
    ]
    return {device.name: device for device in Device.objects.bulk_create(found, batch_size=1000)}


def _interfaces(records: Record, devices: dict[str, Device]) -> Ports:
    types = {row["slug"]: row["interfaces"] for row in records["device_types"]}
    made, macs = [], {}
    for row in records["devices"]:
        more = {each["name"]: each for each in row.get("interfaces", ())}
        device = devices[row["name"]]
        for port in types[row["device_type"]]:
            own = more.get(port["name"], {})
            standing = {"_site": device.site, "_location": device.location, "_rack": device.rack}
            made.append(Interface(device=device, wwn=own.get("wwn"), **port, **standing))
            if "mac_address" in own:
                macs[row["name"], port["name"]] = own["mac_address"]
    ports = {(port.device.name, port.name): port for port in Interface.objects.bulk_create(made, batch_size=1000)}
    kind = ObjectType.objects.get_for_model(Interface)
    addresses = MACAddress.objects.bulk_create(
        MACAddress(mac_address=mac, assigned_object_type=kind, assigned_object_id=ports[at].pk)
        for at, mac in macs.items()
    )
    for at, address in zip(macs, addresses, strict=True):
        ports[at].primary_mac_address = address
    Interface.objects.bulk_update([ports[at] for at in macs], ["primary_mac_address"], batch_size=1000)
    return ports


def _addresses(rows: list[Record], devices: dict[str, Device], ports: Ports) -> None:
    kind = ObjectType.objects.get_for_model(Interface)
    for key, field, interface in (("primary_ip4", "primary_ip4", "eth0"), ("oob_ip", "oob_ip", "bmc")):
        having = [row for row in rows if key in row]
        made = IPAddress.objects.bulk_create(
            IPAddress(
                address=row[key],
                assigned_object_type=kind,
                assigned_object_id=ports[row["name"], interface].pk,
                description=MARK,
            )
            for row in having
        )
        for row, address in zip(having, made, strict=True):
            setattr(devices[row["name"]], field, address)
    Device.objects.bulk_update(devices.values(), ["primary_ip4", "oob_ip"], batch_size=500)


def _parts(rows: list[Record], devices: dict[str, Device]) -> None:
    parts = [(devices[row["name"]], part) for row in rows for part in row.get("inventory_items", ())]
    roles = {slug: _named(InventoryItemRole, slug) for slug in dict.fromkeys(part["role"] for _, part in parts)}
    nested = any(field.name == "lft" for field in InventoryItem._meta.get_fields())  # noqa: SLF001  up to NetBox 4.6
    tree = {"lft": 1, "rght": 2, "level": 0} if nested else {}
    made = [
        InventoryItem(
            device=device,
            name=part["name"],
            role=roles[part["role"]],
            part_id=part["part_id"],
            serial=part["serial"],
            **({"tree_id": number + 1} if nested else {}),
            **tree,
        )
        for number, (device, part) in enumerate(parts)
    ]
    InventoryItem.objects.bulk_create(made, batch_size=1000)


def _cables(rows: list[Record], ports: Ports) -> None:
    """Lay cables from interface to interface, with the paths that NetBox traces when it is asked for one by one."""
    cables = Cable.objects.bulk_create(
        (Cable(type=row["type"], status=row["status"]) for row in rows), batch_size=1000
    )
    kind = ObjectType.objects.get_for_model(Interface)
    its = ObjectType.objects.get_for_model(Cable)
    ends, paths, origins = [], [], []
    for row, cable in zip(rows, cables, strict=True):
        pair = [ports[row[side]["device"], row[side]["interface"]] for side in "ab"]
        for side, port in zip("AB", pair, strict=True):
            device = port.device
            standing = {"_device": device, "_rack": device.rack, "_location": device.location, "_site": device.site}
            ends.append(
                CableTermination(
                    cable=cable, cable_end=side, termination_type=kind, termination_id=port.pk, **standing
                )
            )
            port.cable, port.cable_end = cable, side
        for near, far in (pair, pair[::-1]):
            nodes = [f"{kind.pk}:{near.pk}", f"{its.pk}:{cable.pk}", f"{kind.pk}:{far.pk}"]
            path = CablePath(path=[[node] for node in nodes], is_active=True, is_complete=True, _nodes=nodes)
            paths.append(path)
            origins.append(near)
    CableTermination.objects.bulk_create(ends, batch_size=1000)
    CablePath.objects.bulk_create(paths, batch_size=1000)
    for port, path in zip(origins, paths, strict=True):
        port._path = path  # noqa: SLF001  what NetBox sets when it traces
    Interface.objects.bulk_update(origins, ["cable", "cable_end", "_path"], batch_size=1000)


main()
