"""Devices of a NetBox that are told: found by name, their fields, journals and parts' serial numbers written."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fleet_runner.adapters.netbox.cable_status import tag
from fleet_runner.adapters.netbox.client import Client, Json

DEVICES, ITEMS, MODULES = "dcim/devices", "dcim/inventory-items", "dcim/modules"
JOURNAL = "extras/journal-entries"

CHUNK = 50
"""Objects of a request: their entity tags must fit into a header."""

FIELDS_WHY = "fleet-runner moved the node."
SERIAL_WHY = "A part was exchanged: fleet-runner rma parts."
"""What NetBox's change log says, from 4.4 on."""

_TIMES = "created,last_updated"  # what entity tags are made of
_LINE = "assigned_object_type,assigned_object_id,kind,comments"


@dataclass(frozen=True, slots=True)
class Page:
    """A device as it was read: its id, its custom fields, and the tag that says if it was changed since."""

    id: int
    fields: Mapping[str, Any]
    tag: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A part as it was read, an inventory item or a module: the list it is in, its serial number, its tag."""

    path: str
    id: int
    name: str
    serial: str
    tag: str


def devices(client: Client, names: Collection[str]) -> dict[str, list[Page]]:
    """Return the devices of each of some names, each name as it is spelt; none where there is none."""
    found: dict[str, list[Page]] = {name: [] for name in names}
    for row in client.rows(DEVICES, f"id,name,custom_fields,{_TIMES}", name=sorted(names)):
        if row["name"] in found:
            found[row["name"]].append(Page(row["id"], row["custom_fields"], tag(row)))
    return found


def set_fields(client: Client, given: Sequence[tuple[Page, Mapping[str, str]]]) -> dict[int, Mapping[str, Any]]:
    """Set fields of devices that nobody changed since they were read; return those that each has then, by its id."""
    rows = [{"id": page.id, "custom_fields": dict(fields), "changelog_message": FIELDS_WHY} for page, fields in given]
    answer = client.change(DEVICES, rows, "id,custom_fields,changelog_message", (page.tag for page, _ in given))
    return {row["id"]: row["custom_fields"] for row in answer}


def add_entries(client: Client, given: Iterable[tuple[int, str, str]]) -> list[str]:
    """Add entries to devices' journals: a device's id, a kind and a text each; return the texts that are there."""
    device = {"assigned_object_type": "dcim.device"}
    rows = [device | {"assigned_object_id": its_id, "kind": kind, "comments": text} for its_id, kind, text in given]
    return [row["comments"] for row in client.add(JOURNAL, rows, f"id,{_LINE}")]


def entries(client: Client, ids: Iterable[int], holding: str, after: str) -> list[str]:
    """Return the texts of devices' journals that hold some words and were written after a moment."""
    about: Json = {"assigned_object_type": "dcim.device", "assigned_object_id": sorted(ids)}
    rows = client.rows(JOURNAL, "id,comments", **about, q=holding, created_after=after)
    return [row["comments"] for row in rows]


def slots(client: Client, device: int) -> list[Slot]:
    """Return the parts of a device, be they inventory items or modules."""
    items = client.rows(ITEMS, f"id,device,name,serial,{_TIMES}", device_id=[device])
    modules = client.rows(MODULES, f"id,device,module_bay,serial,{_TIMES}", device_id=[device])
    named = [(ITEMS, row["name"], row) for row in items]
    named += [(MODULES, row["module_bay"]["name"], row) for row in modules]
    return [
        Slot(path, row["id"], name, row["serial"] or "", tag(row))
        for path, name, row in named
        if row["device"]["id"] == device
    ]


def set_serial(client: Client, slot: Slot, serial: str) -> str | None:
    """Set the serial number of a part that nobody changed since it was read; return what is there then, if it is."""
    row = {"id": slot.id, "serial": serial, "changelog_message": SERIAL_WHY}
    answer = client.change(slot.path, [row], "id,serial,changelog_message", [slot.tag])
    return next((str(each["serial"]) for each in answer if each["id"] == slot.id), None)
