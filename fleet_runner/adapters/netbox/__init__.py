"""The source of truth as a NetBox 4, read over its REST API through pynetbox."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from fleet_runner.adapters.netbox import panels, records
from fleet_runner.adapters.netbox.cables import CABLE_FIELDS, TERMINATION_FIELDS, Known, cables, strands
from fleet_runner.adapters.netbox.client import Client, Json, Patience
from fleet_runner.adapters.netbox.records import Inside, held, made
from fleet_runner.adapters.netbox.writing import Written, connect_cables
from fleet_runner.core.consistency import Draft, Found, Location, Problem, problems, refusal, settle
from fleet_runner.core.errors import SourceError
from fleet_runner.core.order import natural
from fleet_runner.core.records import NODE_ROLES, Cable, Fleet, Interface, Part, Rack, Termination

__all__ = ["Patience", "Written", "connect_cables", "load"]

FIELDS = {
    "sites": records.SITE_FIELDS,
    "racks": records.RACK_FIELDS,
    "device-types": records.TYPE_FIELDS,
    "devices": records.DEVICE_FIELDS,
    "interfaces": records.INTERFACE_FIELDS,
    "inventory-items": records.ITEM_FIELDS,
    "modules": records.MODULE_FIELDS,
    "cables": CABLE_FIELDS,
    "cable-terminations": TERMINATION_FIELDS,
}
"""The lists that are read, and the only fields of each that are asked for: the rest costs NetBox minutes."""

PANEL_FIELDS = {"front-ports": panels.FRONT_FIELDS, "rear-ports": panels.REAR_FIELDS}
"""Likewise, and read only if a cable ends at a patch panel."""

TYPES_A_REQUEST = 100  # device types named in one address: enough to be quick, few enough for any server

Rows = dict[str, list[Json]]
T = TypeVar("T")


def load(url: str, token: str, patience: Patience | None = None) -> Fleet:
    """Read a NetBox.

    Devices without a name are left out unless they are nodes; device types that no device has, too. Raises
    SourceError with every problem, each with the page of its object.
    """
    wrong: list[Problem] = []
    with Client(url, token, patience or Patience()) as client:
        try:
            rows = _read(client)
            draft = _draft(rows, f"{client.url}/dcim", wrong)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            text = f"a list is not as NetBox 4 gives it ({type(error).__name__}: {error}); check its version"
            raise SourceError(f"{client.url}: {text}") from error
    if not wrong:
        wrong.extend(problems(draft))
    if wrong:
        raise refusal(client.url, wrong)
    return settle(draft, sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest())


def _read(client: Client) -> Rows:
    rows = {path: client.rows(f"dcim/{path}", fields) for path, fields in FIELDS.items()}
    used = sorted({row["device_type"]["id"] for row in rows["devices"]})
    rows["device-types"] = [row for row in rows["device-types"] if row["id"] in used]
    cabled = panels.touched(rows["cable-terminations"])
    for path, fields in PANEL_FIELDS.items():
        rows[path] = client.rows(f"dcim/{path}", fields) if cabled else []
    path, fields = "dcim/interface-templates", records.TEMPLATE_FIELDS
    some = [used[at : at + TYPES_A_REQUEST] for at in range(0, len(used), TYPES_A_REQUEST)]
    rows["interface-templates"] = [row for ids in some for row in client.rows(path, fields, device_type_id=ids)]
    return rows


def _draft(rows: Rows, base: str, wrong: list[Problem]) -> Draft:
    def each(path: str, make: Callable[[Json], T]) -> list[Found[T]]:
        return made(make, rows[path], f"{base}/{path}", wrong)

    templates = held(rows["interface-templates"], "device_type", records.interface, _name)
    inside = Inside(held(rows["interfaces"], "device", records.interface, _name), _parts(rows))
    nameless = {row["id"] for row in rows["devices"] if not row["name"]}
    wrong.extend(_nameless_nodes(rows, base))
    rows = rows | {"devices": [row for row in rows["devices"] if row["id"] not in nameless]}
    racks = each("racks", records.rack)
    designed, lost = _cables(rows, f"{base}/cables", wrong)
    return Draft(
        sites=each("sites", records.site),
        roles=frozenset(row["role"]["slug"] for row in rows["devices"]),
        racks=racks,
        device_types=each("device-types", lambda row: records.device_type(row, templates)),
        devices=each("devices", lambda row: records.device(row, inside)),
        cables=designed,
        locations=_locations(racks),
        notes=panels.note(lost),
    )


def _name(interface: Interface) -> str:
    return interface.name


def _parts(rows: Rows) -> dict[int, list[Part]]:
    """Return inventory items and modules together: sites keep parts as either."""
    items = held(rows["inventory-items"], "device", records.item, lambda part: part.slot)
    modules = held(rows["modules"], "device", records.module, lambda part: part.slot)
    both = {its_id: [*items.get(its_id, []), *modules.get(its_id, [])] for its_id in {**items, **modules}}
    return {its_id: sorted(parts, key=lambda part: natural(part.slot)) for its_id, parts in both.items()}


def _nameless_nodes(rows: Rows, base: str) -> list[Problem]:
    """Name what cannot be left out: a node without a name would never be looked after."""
    nodes = [row for row in rows["devices"] if not row["name"] and row["role"]["slug"] in NODE_ROLES]
    return [Problem(f"{base}/devices/{row['id']}/", f"a {row['role']['slug']} has no name; name it") for row in nodes]


def _cables(rows: Rows, page: str, wrong: list[Problem]) -> tuple[list[Found[Cable]], list[Termination]]:
    """Return the designed cables, and the interfaces whose way through patch panels leads nowhere."""
    known: Known = {row["id"]: _termination(row) for row in rows["interfaces"]}
    own = {row["name"] for row in rows["devices"] if row["role"]["slug"] in NODE_ROLES}
    laid = strands(rows["cables"], rows["cable-terminations"], page)
    inside = panels.panels(rows["front-ports"], rows["rear-ports"])
    followed = panels.follow(laid, inside, known, own)
    found: list[Found[Cable]] = []
    for cable in (*cables(laid, known), *followed.cables):
        if isinstance(cable, Problem):
            wrong.append(cable)
        else:
            found.append(cable)
    return found, followed.lost


def _termination(row: Json) -> Termination | None:
    name = row["device"]["name"]
    return Termination(name, row["name"]) if name else None


def _locations(racks: Sequence[Found[Rack]]) -> list[Found[Location]]:
    """Return the locations that racks stand in; NetBox itself keeps them free of loops."""
    found = {(rack.site, rack.location): where for rack, where in racks if rack.location is not None}
    return [Found(Location(name or "", site), where) for (site, name), where in found.items()]
