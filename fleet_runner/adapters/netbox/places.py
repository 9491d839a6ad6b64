"""Where a NetBox keeps the values of devices that may differ from what was observed: lists and ids."""

from collections import Counter
from collections.abc import Collection, Iterator

from fleet_runner.adapters.netbox import mirror
from fleet_runner.adapters.netbox.client import Client, Json, Patience
from fleet_runner.core.drift.difference import Kind
from fleet_runner.core.drift.tables import Place, Places

DEVICES, INTERFACES, MACS = "dcim/devices", "dcim/interfaces", "dcim/mac-addresses"
Key = tuple[str, Kind, str]


def places(url: str, token: str, names: Collection[str], patience: Patience | None = None) -> Places:
    """Return the place of each value of some devices; a name that a device has twice has none. Raises SourceError."""
    with Client(url, token, patience or Patience()) as client:
        found = [each for name in sorted(names) for each in _of(client, name)]
    often = Counter(key for key, _ in found)
    return {key: place for key, place in found if often[key] == 1}


def _of(client: Client, name: str) -> Iterator[tuple[Key, Place]]:
    devices = [row for row in client.rows(DEVICES, "id,name", name=[name]) if row["name"] == name]
    for device in devices:
        yield (name, Kind.DEVICE, "serial number"), Place(DEVICES, device["id"])
        for slot in mirror.slots(client, device["id"]):
            yield (name, Kind.PART, slot.name), Place(slot.path, slot.id)
        rows = client.rows(INTERFACES, "id,device,name,primary_mac_address", device_id=[device["id"]])
        for row in rows:
            if row["device"]["id"] == device["id"]:
                yield from _port(name, row)


def _port(device: str, row: Json) -> Iterator[tuple[Key, Place]]:
    mac = row.get("primary_mac_address") or {"id": 0}
    yield (device, Kind.GUID, row["name"]), Place(INTERFACES, row["id"])
    yield (device, Kind.MAC, row["name"]), Place(MACS, mac["id"])
