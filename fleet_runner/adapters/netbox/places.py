"""Where a NetBox keeps the values of devices that may differ from what was observed: lists and ids."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from fleet_runner.adapters.netbox.client import Client, Json, Timeouts
from fleet_runner.core.inventory.drift.difference import Kind
from fleet_runner.core.inventory.drift.tables import ObjectRef, Places

DEVICES, ITEMS, MODULES = "dcim/devices", "dcim/inventory-items", "dcim/modules"
INTERFACES, MACS = "dcim/interfaces", "dcim/mac-addresses"

TOGETHER = 50
"""Devices that are asked for in one request."""

Found = tuple[tuple[str, Kind, str], ObjectRef]


def places(url: str, token: str, names: Collection[str], patience: Timeouts | None = None) -> Places:
    """Return the place of each value of some devices; a name that a device has twice has none. Raises SourceError."""
    wanted = sorted(names)
    found: list[Found] = []
    with Client(url, token, patience or Timeouts()) as client:
        for start in range(0, len(wanted), TOGETHER):
            found += _of(client, wanted[start : start + TOGETHER])
    often = Counter(key for key, _ in found)
    return {key: place for key, place in found if often[key] == 1}


def _of(client: Client, names: Sequence[str]) -> Iterator[Found]:
    devices = {row["id"]: row["name"] for row in client.rows(DEVICES, "id,name", name=names) if row["name"] in names}
    for number, name in devices.items():
        yield (name, Kind.DEVICE, "serial number"), ObjectRef(DEVICES, number)
    for row in _rows(client, ITEMS, "name", devices):
        yield (devices[row["device"]["id"]], Kind.PART, row["name"]), ObjectRef(ITEMS, row["id"])
    for row in _rows(client, MODULES, "module_bay", devices):
        yield (devices[row["device"]["id"]], Kind.PART, row["module_bay"]["name"]), ObjectRef(MODULES, row["id"])
    for row in _rows(client, INTERFACES, "name,primary_mac_address", devices):
        mac = row["primary_mac_address"] or {"id": 0}
        yield (devices[row["device"]["id"]], Kind.GUID, row["name"]), ObjectRef(INTERFACES, row["id"])
        yield (devices[row["device"]["id"]], Kind.MAC, row["name"]), ObjectRef(MACS, mac["id"])


def _rows(client: Client, path: str, fields: str, devices: Collection[int]) -> list[Json]:
    """Return rows of some devices: an unknown filter is none to NetBox, which then gives those of all."""
    rows = client.rows(path, f"id,device,{fields}", device_id=sorted(devices)) if devices else []
    return [row for row in rows if row["device"]["id"] in devices]
