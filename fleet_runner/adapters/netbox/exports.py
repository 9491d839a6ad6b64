"""Export templates: a whole list in one request, rendered by NetBox from what `netbox init` keeps there."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from itertools import groupby
from typing import Any

from fleet_runner.adapters.netbox import rows

NAME = "fleet-runner"
"""What every template is called in NetBox (each belongs to one object type), and the key of its version."""

Cells = tuple[Any, ...]
"""One row of what a template gives; where that is a device type's interface or the like, several have one id."""


@dataclass(frozen=True, slots=True)
class Template:
    """An export template as NetBox keeps it. `version` is in what it renders: an older one is noticed."""

    name: str
    code: str
    version: str


def rendering(template: Template, answer: object) -> Mapping[str, Any] | None:
    """Return what a template rendered, or nothing if it is another template's or an older one's."""
    if isinstance(answer, dict) and answer.get(NAME) == template.version and "columns" in answer:
        return answer
    return None


def read(object_type: str, answer: Mapping[str, Any]) -> list[Any]:
    """Return the rows of a list from what its template rendered. Raises ValueError and the like for other forms."""
    columns = answer["columns"]
    length = len(columns[0])
    cells = list(zip(*([None] * length if column is None else column for column in columns), strict=True))
    match object_type:
        case "dcim.devicetype":
            return [_device_type(some) for some in _together(cells)]
        case "dcim.cable":
            return [_cable(some) for some in _together(cells)]
        case "dcim.frontport":
            return [_front(some) for some in _together(cells)]
        case "dcim.device":
            return [_device(row, answer["primary_of_both"] == 6) for row in cells]  # noqa: PLR2004  IPv6
        case _:
            return [_PLAIN[object_type](*row) for row in cells]


def _together(cells: Iterable[Cells]) -> Iterator[list[Cells]]:
    for _, some in groupby(cells, key=lambda row: row[0]):
        yield list(some)


def _interface(number: int, device: int, *rest: Any) -> rows.InterfaceRow:
    name, kind, mac_id, mac, wwn, mgmt_only = rest
    return rows.InterfaceRow(number, device, name, kind or "", mac_id, _text(mac), _text(wwn), bool(mgmt_only))


def _item(number: int, device: int, *rest: Any) -> rows.ItemRow:
    name, role, part_id, serial, changed = rest
    return rows.ItemRow(number, device, name, role, part_id, serial, rows.moment(_text(changed)))


def _module(number: int, device: int, *rest: Any) -> rows.ModuleRow:
    bay, model, profile, serial, changed = rest
    return rows.ModuleRow(number, device, bay, model, profile, serial, rows.moment(_text(changed)))


def _rear(number: int, device: int, panel: str | None, positions: int) -> rows.RearRow:
    return rows.RearRow(number, device, panel or f"#{device}", positions)


_PLAIN: Mapping[str, Callable[..., Any]] = {
    "dcim.site": rows.SiteRow,
    "dcim.rack": rows.RackRow,
    "dcim.interface": _interface,
    "dcim.inventoryitem": _item,
    "dcim.module": _module,
    "dcim.rearport": _rear,
}


def _device_type(some: list[Cells]) -> rows.TypeRow:
    number, slug, model, manufacturer, height, full_depth, *_ = some[0]
    ports = sorted(rows.PortRow(name, kind, only) for *_, name, kind, only in some if name is not None)
    return rows.TypeRow(number, slug, model, manufacturer, float(height), full_depth, tuple(ports))


def _device(row: Cells, six_first: bool) -> rows.DeviceRow:  # noqa: FBT001  NetBox's own setting
    number, name, type_id, slug, role, site, rack, rack_id, position, face, status, serial = row[:12]
    oob_id, oob, four_id, four, six_id, six, tenant, chassis, master = row[12:21]
    *ours, local, contexts, changed = row[21:]
    primary = [(six_id, _text(six)), (four_id, _text(four))]
    primary_id, address = next((each for each in primary[:: 1 if six_first else -1] if each[0]), (None, None))
    return rows.DeviceRow(
        id=number,
        name=name or None,
        device_type_id=type_id,
        device_type=slug,
        role=role,
        site=site,
        rack=rack,
        rack_id=rack_id,
        position=None if _text(position) is None else float(position),
        face=face or "",
        status=status,
        serial=serial,
        oob_ip_id=oob_id,
        oob_ip=_text(oob),
        primary_ip_id=primary_id,
        primary_ip=address,
        tenant=tenant,
        virtual_chassis=chassis,
        is_master=master is not None and master == number,
        custom_fields={key: value for key, value in zip(rows.OURS, ours, strict=True) if value is not None},
        config_context=merged([*(contexts or ()), local]),
        last_updated=rows.moment(_text(changed)),
    )


def merged(contexts: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    """Return config contexts as NetBox renders them: a later one's values win, and what is inside them is merged."""
    found: dict[str, Any] = {}
    for context in contexts:
        for key, value in (context or {}).items():
            below = found.get(key)
            inside = isinstance(below, dict) and isinstance(value, dict) and value
            found[key] = merged([below, value]) if inside else value
    return found


def _cable(some: list[Cells]) -> rows.CableRow:
    number, kind, label, status, *_, profile, bundle = some[0]
    ends = tuple(
        rows.EndRow(side, f"{app}.{model}", its_id) for _, _, _, _, side, app, model, its_id, *_ in some if side
    )
    return rows.CableRow(number, kind or "", label, status, profile or "", bundle, ends)


def _front(some: list[Cells]) -> rows.FrontRow:
    number, device, panel, *_ = some[0]
    rears = sorted((rear, position) for *_, rear, position in some if rear is not None)
    return rows.FrontRow(number, device, panel or f"#{device}", tuple(rears))


def _text(found: str) -> str | None:
    """Return what NetBox wrote as text; there, nothing is "None"."""
    return None if found == "None" else found


def _template(object_type: str) -> Template:
    folder = files("fleet_runner.adapters.netbox") / "templates"
    code = (folder / f"{object_type.removeprefix('dcim.')}.j2").read_text("utf-8")
    version = sha256(code.encode()).hexdigest()[:12]
    return Template(NAME, code.replace("@VERSION@", version), version)


OBJECT_TYPES = (
    "dcim.site",
    "dcim.rack",
    "dcim.devicetype",
    "dcim.device",
    "dcim.interface",
    "dcim.inventoryitem",
    "dcim.module",
    "dcim.cable",
    "dcim.frontport",
    "dcim.rearport",
)
"""What is read, as NetBox names the types of its objects."""

TEMPLATES: Mapping[str, Template] = {object_type: _template(object_type) for object_type in OBJECT_TYPES}
"""By object type; the MIME type of each is application/json, and none is an attachment."""
