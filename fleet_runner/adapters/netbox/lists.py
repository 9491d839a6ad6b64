"""The lists of a NetBox read whole or by ids, as rows."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fleet_runner.adapters.netbox import exports, rest, shapes
from fleet_runner.adapters.netbox.cables import touched
from fleet_runner.adapters.netbox.changes import Due
from fleet_runner.adapters.netbox.client import Client, Json
from fleet_runner.adapters.netbox.exports import NAME, TEMPLATES, rendering
from fleet_runner.adapters.netbox.rows import Row, Rows
from fleet_runner.core.base.errors import SourceError

MANY = 100  # ids named in one address: enough to be quick, few enough for any server
R = TypeVar("R", bound=Row)

WRONG = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
"""What comes of an answer that is not NetBox's."""


@dataclass(frozen=True, slots=True)
class List:
    """A list of NetBox's: its path, and the only fields that are asked for. The rest costs NetBox minutes."""

    object_type: str
    path: str
    fields: str
    row: Callable[..., Any]


LISTS = {
    "sites": List("dcim.site", "dcim/sites", "id,name", rest.site),
    "racks": List("dcim.rack", "dcim/racks", "id,name,site,location,u_height,starting_unit", rest.rack),
    "device_types": List(
        "dcim.devicetype",
        "dcim/device-types",
        "id,slug,model,manufacturer,u_height,is_full_depth",
        rest.device_type,
    ),
    "devices": List(
        "dcim.device",
        "dcim/devices",
        "id,name,device_type,role,site,rack,position,face,status,serial,oob_ip,primary_ip,tenant,virtual_chassis,"
        "custom_fields,config_context,last_updated",
        rest.device,
    ),
    "interfaces": List(
        "dcim.interface",
        "dcim/interfaces",
        "id,device,name,type,primary_mac_address,wwn,mgmt_only",
        rest.interface,
    ),
    "inventory_items": List(
        "dcim.inventoryitem",
        "dcim/inventory-items",
        "id,device,name,role,part_id,serial,last_updated",
        rest.item,
    ),
    "modules": List(
        "dcim.module",
        "dcim/modules",
        "id,device,module_bay,module_type,serial,last_updated",
        rest.module,
    ),
    "cables": List("dcim.cable", "dcim/cables", "id,type,label,status,profile,bundle", rest.cable),
    "front_ports": List(
        "dcim.frontport",
        "dcim/front-ports",
        "id,device,rear_port,rear_port_position,rear_ports",
        rest.front_port,
    ),
    "rear_ports": List("dcim.rearport", "dcim/rear-ports", "id,device,positions", rest.rear_port),
}
"""By their name in `Rows`, in the order in which they are read."""

PANELS = ("front_ports", "rear_ports")
LATER = {"device_types", *PANELS}
"""Lists of which it is only known from others what is to be read."""

FEW = 200  # rows that are read by their ids; of more, the whole list costs less

ENDS = "dcim/cable-terminations"
PORTS = "dcim/interface-templates"


@dataclass(slots=True)
class Lists:
    """Reads lists of one NetBox: by export templates as long as it has them, else through its serializers.

    `old` are the lists whose template is not the one that is expected.
    """

    client: Client
    templates: bool = True
    old: list[str] = field(default_factory=list[str])

    def some(self, name: str, ids: Collection[int] | None = None) -> dict[int, Any]:
        """Read a list, or of it the rows with these ids that are still there, in the order of the ids."""
        found = [row for chosen in _chunks(ids) for row in self._rows(name, chosen)]
        return _ordered({row.id: row for row in found})

    def _rows(self, name: str, ids: list[int] | None) -> list[Any]:
        what = LISTS[name]
        try:
            found = self._rendered(name, ids) if self.templates and name not in self.old else None
            if found is None:
                found = list(_rows(self.client, name, ids))
                shapes.check(found)
        except WRONG as error:
            text = f"{what.path} has an unexpected format ({type(error).__name__}: {error}), expected NetBox 4's"
            raise SourceError(f"{self.client.url}: {text}") from error
        return found

    def _rendered(self, name: str, ids: list[int] | None) -> list[Any] | None:
        """Return what a list's template gives; nothing where there is none, or one that somebody edited."""
        what = LISTS[name]
        answer = self.client.render(what.path, NAME, **({} if ids is None else {"id": ids}))
        if answer is None:
            self.templates = False
            return None
        with suppress(*WRONG):
            if (rendered := rendering(TEMPLATES[what.object_type], answer)) is not None:
                found = exports.read(what.object_type, rendered)
                shapes.check(found)
                return found
        self.old.append(name)
        return None


def everything(lists: Lists) -> Rows:
    """Read everything: of device types those that devices have, and panels' ports only if a cable ends at one."""
    read: dict[str, Any] = {name: lists.some(name) for name in LISTS if name not in LATER}
    used = {row.device_type_id for row in read["devices"].values()}
    ports = PANELS if touched(read["cables"].values()) else ()
    read |= {"device_types": lists.some("device_types", used), **{name: lists.some(name) for name in ports}}
    return Rows(**read)


def again(lists: Lists, rows: Rows, due: Due) -> Rows:
    """Read again what is due of some rows."""
    read: dict[str, Any] = {name: _renewed(lists, rows, due, name) for name in LISTS if name not in LATER}
    used = {row.device_type_id for row in read["devices"].values()}
    missing = used - set(rows.device_types) | (
        used if "device_types" in due.whole else used & due.ids["device_types"]
    )
    types = {number: row for number, row in rows.device_types.items() if number in used}
    read["device_types"] = _ordered({**types, **lists.some("device_types", missing)}) if missing else types
    if touched(read["cables"].values()):
        for name in PANELS:
            first = not touched(rows.cables.values())
            read[name] = lists.some(name) if first else _renewed(lists, rows, due, name)
    _follow(read, due.ids["devices"])
    return Rows(**read)


def _renewed(lists: Lists, rows: Rows, due: Due, name: str) -> dict[int, Any]:
    kept: dict[int, Any] = getattr(rows, name)
    ids = due.ids[name]
    if name in due.whole or len(ids) > FEW:
        return lists.some(name)
    if not ids:
        return kept
    left = {number: row for number, row in kept.items() if number not in ids}
    return _ordered({**left, **lists.some(name, ids)})


def _follow(read: dict[str, Any], ids: Collection[int]) -> None:
    """Let what belongs to changed devices follow them: away with them, or under their new name."""
    devices = read["devices"]
    gone = {number for number in ids if number not in devices}
    for name in ("interfaces", "inventory_items", "modules", *PANELS):
        if gone and name in read:
            read[name] = {number: row for number, row in read[name].items() if row.device not in gone}
    changed = {number: devices[number].name or f"#{number}" for number in ids if number in devices}
    for name in PANELS:
        if changed and name in read:
            read[name] = {
                number: row._replace(panel=changed.get(row.device, row.panel)) for number, row in read[name].items()
            }


def _ordered(found: Mapping[int, R]) -> dict[int, R]:
    return {number: found[number] for number in sorted(found)}


def _chunks(ids: Collection[int] | None) -> list[list[int] | None]:
    if ids is None:
        return [None]
    ordered = sorted(ids)
    return [ordered[at : at + MANY] for at in range(0, len(ordered), MANY)]


def _rows(client: Client, name: str, ids: list[int] | None) -> Iterator[Any]:
    """Read through the REST API's serializers."""
    what = LISTS[name]
    chosen = {} if ids is None else {"id": ids}
    found = client.rows(what.path, what.fields, **chosen)
    known = [row["id"] for row in found]
    match name:
        case "device_types":
            inside = _inside(client, PORTS, rest.PORT_FIELDS, {"device_type_id": known}, _port)
            yield from (what.row(row, inside) for row in found)
        case "cables":
            only = {} if ids is None else {"cable_id": known}
            inside = _inside(client, ENDS, rest.END_FIELDS, only, _end)
            yield from (what.row(row, inside) for row in found)
        case _:
            yield from (what.row(row) for row in found)


def _inside(
    client: Client,
    path: str,
    fields: str,
    only: Mapping[str, list[int]],
    row: Callable[[Json], tuple[int, R] | None],
) -> Mapping[int, list[R]]:
    found: dict[int, list[R]] = defaultdict(list)
    if only and not all(only.values()):
        return found
    for each in client.rows(path, fields, **only):
        if made := row(each):
            found[made[0]].append(made[1])
    return found


def _port(row: Json) -> Any:
    return None if row["device_type"] is None else (row["device_type"]["id"], rest.port(row))


def _end(row: Json) -> Any:
    return row["cable"], rest.end(row)
