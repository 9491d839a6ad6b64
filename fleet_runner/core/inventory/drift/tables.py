"""What a person may import in NetBox, as tables by their files' names: rows of NetBox's own ids and new values."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fleet_runner.core.inventory.drift.difference import Difference, Kind


class ObjectRef(NamedTuple):
    """Where NetBox keeps a value: the list ("dcim/devices") and the object's id; 0 where it has none for it yet."""

    path: str
    id: int


Places = Mapping[tuple[str, Kind, str], ObjectRef]
"""By node, kind and name, as differences have them."""

COLUMNS = {
    "dcim/devices": "serial",
    "dcim/inventory-items": "serial",
    "dcim/modules": "serial",
    "dcim/interfaces": "wwn",
    "dcim/mac-addresses": "mac_address",
}

NEW_MAC = ("mac_address", "device", "interface", "is_primary")
"""The columns of a MAC address that NetBox does not have."""

Tables = dict[str, list[tuple[str, ...]]]


def importable(places: Places) -> Places:
    """Return places without those whose row would name an interface that a spreadsheet takes for a formula."""
    return {key: place for key, place in places.items() if place.id or key[2][:1].isalnum()}


def tables(found: Iterable[Difference], places: Places) -> Tables:
    """Return the rows to import by file, each with its header; what has no place in NetBox is left out."""
    made: Tables = {}
    for each in found:
        place = places.get((each.node, each.kind, each.name)) if each.proposed else None
        if place is None:
            continue
        value = _written(each)
        header: tuple[str, ...] = NEW_MAC
        row: tuple[str, ...] = (value, each.node, each.name, "true")
        file = "new-mac-addresses.csv"
        if place.id:
            header, row = ("id", COLUMNS[place.path]), (str(place.id), value)
            file = f"{place.path.rpartition('/')[2]}.csv"
        made.setdefault(file, [header]).append(row)
    return made


def _written(each: Difference) -> str:
    """Return a value as NetBox writes it: a GUID is a WWN there, in pairs of digits."""
    if each.kind is not Kind.GUID:
        return each.proposed
    return ":".join(each.proposed[at : at + 2] for at in range(0, len(each.proposed), 2)).upper()
