"""The lists of a NetBox read whole or by ids, as rows."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fleet_runner.adapters.netbox import rest
from fleet_runner.adapters.netbox.cables import touched
from fleet_runner.adapters.netbox.client import Client, Json
from fleet_runner.adapters.netbox.rows import Row, Rows
from fleet_runner.core.errors import SourceError

MANY = 100  # ids named in one address: enough to be quick, few enough for any server
R = TypeVar("R", bound=Row)


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

ENDS = "dcim/cable-terminations"
PORTS = "dcim/interface-templates"


def everything(client: Client) -> Rows:
    """Read everything; the ports of patch panels only if a cable ends at one."""
    read: dict[str, Any] = {}
    for name in LISTS:
        if name in {"front_ports", "rear_ports"} and not touched(read["cables"].values()):
            continue
        if name == "device_types":
            continue
        read[name] = some(client, name)
        if name == "devices":
            used = {row.device_type_id for row in read["devices"].values()}
            read["device_types"] = some(client, "device_types", used)
    return Rows(**read)


def some(client: Client, name: str, ids: Collection[int] | None = None) -> dict[int, Any]:
    """Read a list, or of it the rows with these ids that are still there, in the order of the ids."""
    found = [row for chosen in _chunks(ids) for row in _rows(client, name, chosen)]
    return {row.id: row for row in sorted(found, key=lambda row: row.id)}


def _chunks(ids: Collection[int] | None) -> list[list[int] | None]:
    if ids is None:
        return [None]
    ordered = sorted(ids)
    return [ordered[at : at + MANY] for at in range(0, len(ordered), MANY)]


def _rows(client: Client, name: str, ids: list[int] | None) -> Iterator[Any]:
    """Read through the REST API's serializers."""
    what = LISTS[name]
    chosen = {} if ids is None else {"id": ids}
    try:
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
                yield from (what.row(row) for row in found if _whole(row))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        text = f"{what.path} is not as NetBox 4 gives it ({type(error).__name__}: {error}); check its version"
        raise SourceError(f"{client.url}: {text}") from error


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


def _whole(row: Json) -> bool:
    """Whether a row belongs to a device; NetBox leaves some without one."""
    return "device" not in row or row["device"] is not None
