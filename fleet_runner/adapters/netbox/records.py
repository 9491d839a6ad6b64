"""NetBox's rows as records."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fleet_runner.adapters.netbox.client import Json
from fleet_runner.core import addresses
from fleet_runner.core.consistency import Found, Problem
from fleet_runner.core.order import natural
from fleet_runner.core.records import Device, DeviceType, Interface, Management, Part, Rack

T = TypeVar("T")

SITE_FIELDS = "id,name"
RACK_FIELDS = "id,name,site,location,u_height,starting_unit"
TYPE_FIELDS = "id,slug,model,manufacturer,u_height,is_full_depth"
TEMPLATE_FIELDS = "id,device_type,name,type,mgmt_only"
DEVICE_FIELDS = (
    "id,name,device_type,role,site,rack,position,face,status,serial,oob_ip,primary_ip,tenant,custom_fields,"
    "config_context"
)
INTERFACE_FIELDS = "id,device,name,type,mac_address,wwn,mgmt_only"
ITEM_FIELDS = "id,device,name,role,part_id,serial"
MODULE_FIELDS = "id,device,module_bay,module_type,serial"

PROFILE_KINDS = {"memory": "dimm", "power supply": "psu", "hard disk": "drive", "expansion card": "card"}
"""Kinds of parts by NetBox's module type profile, where the name in lower case is not the kind already."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is: its page in NetBox."""

    url: str

    def __call__(self, field: str = "") -> str:
        """Return the page's address; a field has none of its own."""
        del field
        return self.url


@dataclass(frozen=True, slots=True)
class Inside:
    """What devices hold, by the device's id."""

    interfaces: Mapping[int, list[Interface]]
    parts: Mapping[int, list[Part]]


def made(make: Callable[[Json], T], rows: Iterable[Json], page: str, problems: list[Problem]) -> list[Found[T]]:
    """Return rows as records; a row that is not as NetBox 4 gives it is a problem."""
    found: list[Found[T]] = []
    for row in rows:
        place = Place(f"{page}/{row['id']}/")
        try:
            found.append(Found(make(row), place))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            text = f"found a row that is not as NetBox 4 gives it ({type(error).__name__}: {error})"
            problems.append(Problem(place(), f"{text}; correct it, or check NetBox's version"))
    return found


def site(row: Json) -> str:
    """Read a site."""
    return _text(row["name"])


def rack(row: Json) -> Rack:
    """Read a rack."""
    return Rack(
        name=_text(row["name"]),
        site=_text(row["site"]["name"]),
        u_height=int(row["u_height"]),
        starting_unit=int(row["starting_unit"]),
        location=_inner(row["location"], "name"),
    )


def device_type(row: Json, templates: Mapping[int, list[Interface]]) -> DeviceType:
    """Read a device type."""
    return DeviceType(
        slug=_text(row["slug"]),
        manufacturer=_text(row["manufacturer"]["name"]),
        model=_text(row["model"]),
        u_height=float(row["u_height"]),
        interfaces=tuple(templates.get(row["id"], ())),
        full_depth=bool(row["is_full_depth"]),
    )


def device(row: Json, inside: Inside) -> Device:
    """Read a device; everything a half-filled NetBox may lack is allowed to be missing."""
    return Device(
        name=_text(row["name"]),
        device_type=_text(row["device_type"]["slug"]),
        role=_text(row["role"]["slug"]),
        site=_text(row["site"]["name"]),
        rack=_inner(row["rack"], "name"),
        position=None if row["position"] is None else float(row["position"]),
        status=_inner(row["status"], "value") or "active",
        serial=row["serial"] or None,
        oob_address=_address(row["oob_ip"]),
        primary_address=_address(row["primary_ip"]),
        tenant=_inner(row["tenant"], "name"),
        management=Management(row["custom_fields"].get("fleet_management") or Management.FULL),
        interfaces=tuple(inside.interfaces.get(row["id"], ())),
        parts=tuple(inside.parts.get(row["id"], ())),
        context=dict(row["config_context"] or {}),
        face=_inner(row["face"], "value") or "",
    )


def interface(row: Json) -> Interface:
    """Read an interface, or its template in a device type."""
    mac, wwn = row.get("mac_address"), row.get("wwn")
    return Interface(
        name=_text(row["name"]),
        kind=_text(row["type"]["value"]),
        mac=addresses.mac(mac) if mac else None,
        guid=addresses.guid(wwn) if wwn else None,
        mgmt_only=bool(row["mgmt_only"]),
    )


def item(row: Json) -> Part:
    """Read an inventory item; its role says what kind of part it is."""
    return Part(_text(row["name"]), _inner(row["role"], "slug") or "", row["part_id"] or "", row["serial"] or None)


def module(row: Json) -> Part:
    """Read a module; the profile of its type says what kind of part it is."""
    profile = (_inner(row["module_type"].get("profile"), "name") or "").lower()
    kind, model = PROFILE_KINDS.get(profile, profile), _text(row["module_type"]["model"])
    return Part(_text(row["module_bay"]["name"]), kind, model, row["serial"] or None)


def held(rows: Iterable[Json], owner: str, make: Callable[[Json], T], name: Callable[[T], str]) -> dict[int, list[T]]:
    """Return records by the id of the object that holds them (`owner` names the field), in their natural order."""
    found: dict[int, list[T]] = defaultdict(list)
    for row in rows:
        if row[owner] is not None:
            found[row[owner]["id"]].append(make(row))
    return {its_id: sorted(records, key=lambda record: natural(name(record))) for its_id, records in found.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {value!r:.40}")
    return value


def _inner(value: Any, key: str) -> str | None:
    return None if value is None else _text(value[key])


def _address(value: Any) -> str | None:
    return None if value is None else addresses.ip(value["address"])
