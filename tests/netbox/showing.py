"""A stand-in NetBox's objects as its REST API shows them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.netbox import special
from tests.netbox.database import Database, Row
from tests.netbox.description import Model, Shape, by_object_type, listed, models, nested, object_type

Field = Callable[["Shown", Row], Any]

PAGES = {"extras/custom-field-choice-sets": "extras/custom-field-choices", "core/object-changes": "core/changelog"}
"""Where the pages of a list are, if not where its API is."""

APPS = {"dcim": "DCIM", "ipam": "IPAM"}
KEPT_COUNTS = {"dcim/device-types": {"device_count"}, "dcim/module-types": {"module_count"}}
"""Counts that NetBox keeps with the object."""


class Shown:
    """The objects of a database as answers of the server at an address."""

    def __init__(self, database: Database, url: str) -> None:
        self.database, self.url = database, url

    def row(self, path: str, row: Row, fields: Iterable[str] = (), omit: Iterable[str] = ()) -> Row:
        """Return an object with these fields, with all that are not omitted where none is named."""
        shown = models()[path].shown
        wanted = set(fields) or set(shown)
        return {name: self._field(path, name, row) for name in shown if name in wanted and name not in set(omit)}

    def brief(self, schema: str, number: int | None) -> Row | None:
        """Return an object as it is shown inside another: with counts that NetBox keeps, not those that it counts."""
        path = listed(schema)
        row = self.database.get(path, number) if path else None
        if row is None:
            return None
        names = nested(schema) if schema.startswith(("Brief", "Nested")) else brief_fields(models()[path])
        counts = {name for name in names if name.endswith("_count") and (path, name) not in SPECIAL}
        uncounted = counts - KEPT_COUNTS.get(path, set())
        return {name: 0 if name in uncounted else self._field(path, name, row) for name in names}

    def named(self, kind: str, number: int | None) -> Row | None:
        """Return any object as it is shown inside another, by the name of its kind."""
        model = by_object_type().get(kind)
        row = self.database.get(model.path, number) if model else None
        if model is None or row is None:
            return None
        return self.row(model.path, row, brief_fields(model))

    def _field(self, path: str, name: str, row: Row) -> Any:
        special_one = SPECIAL.get((path, name)) or SPECIAL.get(("", name))
        if special_one is not None:
            return special_one(self, row | {"": path})
        shape = models()[path].shown.get(name) or Shape("value")
        if name.endswith("_count") and name not in row:
            return self._count(path, name, row["id"])
        return self._value(shape, row.get(name, shape.empty))

    def _value(self, shape: Shape, value: Any) -> Any:
        match shape.kind:
            case "choice":
                return (
                    None
                    if value in (None, "")
                    else {"value": value, "label": (shape.choices or {}).get(str(value), "")}
                )
            case "one":
                return self.brief(shape.of, value)
            case "many":
                return [self.brief(shape.of, each) if isinstance(each, int) else each for each in value or ()]
            case _:
                return stamp(value) if isinstance(value, datetime) else list(value) if value == () else value

    def _count(self, path: str, name: str, number: int) -> int:
        """Count the objects that name this one."""
        wanted = name.removesuffix("_count").replace("_", "")
        for other, model in models().items():
            if object_type(other).partition(".")[2] == wanted:
                fields = [field for field, shape in model.written.items() if special.refers(shape, path)]
                rows = self.database.lists[other].values()
                return sum(any(row[field] == number for field in fields) for row in rows)
        return 0


def stamp(when: datetime) -> str:
    """Return a time as NetBox shows it."""
    return when.isoformat().replace("+00:00", "Z")


def brief_fields(model: Model) -> tuple[str, ...]:
    """Return the fields of an object that is shown inside another, by its list."""
    name = f"Brief{model.schema}"
    if model.path in {"dcim/interfaces", "dcim/front-ports", "dcim/rear-ports"}:
        return ("id", "url", "display", "device", "name", "description", "cable", "_occupied")
    try:
        return nested(name)
    except KeyError:
        return tuple(name for name in ("id", "url", "display", "name", "description") if name in model.shown)


def _url(shown: Shown, row: Row) -> str:
    return f"{shown.url}/api/{row['']}/{row['id']}/"


def _display_url(shown: Shown, row: Row) -> str:
    return f"{shown.url}/{PAGES.get(row[''], row[''])}/{row['id']}/"


def _display(shown: Shown, row: Row) -> str:
    return shown.database.printed(row[""], row)


def _primary_ip(shown: Shown, row: Row) -> Any:
    return shown.brief("BriefIPAddress", row["primary_ip6"] or row["primary_ip4"])


def _config_context(shown: Shown, row: Row) -> Any:
    return special.config_context(shown.database, row)


def _custom_fields(shown: Shown, row: Row) -> Any:
    kind = models()[row[""]].object_type
    fields = shown.database.lists["extras/custom-fields"].values()
    known = sorted((each for each in fields if kind in each["object_types"]), key=_field_order)
    return {each["name"]: _custom(shown, each, row["custom_fields"].get(each["name"])) for each in known}


def _custom(shown: Shown, field: Row, value: Any) -> Any:
    """Return a custom field's value as NetBox shows it: what was chosen has its label beside it."""
    if isinstance(value, list):
        return [_custom(shown, field, each) for each in value]
    choices = shown.database.get("extras/custom-field-choice-sets", field["choice_set"])
    if value is None or choices is None:
        return value
    return {"value": value, "label": dict(choices["extra_choices"]).get(value, value)}


def _field_order(field: Row) -> tuple[Any, ...]:
    return (field["group_name"], field["weight"], field["name"])


def _mac(shown: Shown, row: Row) -> Any:
    found = shown.database.get("dcim/mac-addresses", row["primary_mac_address"])
    return found["mac_address"] if found else None


def _macs(shown: Shown, row: Row) -> Any:
    rows = shown.database.where(
        "dcim/mac-addresses", assigned_object_type="dcim.interface", assigned_object_id=row["id"]
    )
    return [shown.brief("BriefMACAddress", each["id"]) for each in sorted(rows, key=lambda each: each["mac_address"])]


def _cable(shown: Shown, row: Row) -> Any:
    return shown.brief("BriefCable", row.get("cable"))


def _peer_ends(shown: Shown, row: Row) -> list[Row]:
    if not row.get("cable"):
        return []
    ends = shown.database.where("dcim/cable-terminations", cable=row["cable"])
    return [end for end in ends if end["cable_end"] != row["cable_end"]]


def _peers(shown: Shown, row: Row) -> list[Any]:
    return [shown.named(end["termination_type"], end["termination_id"]) for end in _peer_ends(shown, row)]


def _peers_type(shown: Shown, row: Row) -> str | None:
    return next((end["termination_type"] for end in _peer_ends(shown, row)), None)


def _is_primary(shown: Shown, row: Row) -> bool:
    return bool(shown.database.where("dcim/interfaces", primary_mac_address=row["id"]))


def _occupied(_: Shown, row: Row) -> bool:
    return bool(row.get("mark_connected") or row.get("cable"))


def _cable_end(_: Shown, row: Row) -> Any:
    return row.get("cable_end")


def _ends(side: str) -> Field:
    def ends(shown: Shown, row: Row) -> list[Row]:
        return [
            {
                "object_type": each["object_type"],
                "object_id": each["object_id"],
                "object": shown.named(each["object_type"], each["object_id"]),
            }
            for each in row[side]
        ]

    return ends


def _assigned(shown: Shown, row: Row) -> Any:
    return shown.named(row["assigned_object_type"], row["assigned_object_id"])


def _depth(shown: Shown, row: Row) -> int:
    """Count the objects above one of a tree."""
    depth, above = 0, row["parent"]
    while above is not None:
        depth, above = depth + 1, shown.database.lists[row[""]][above]["parent"]
    return depth


def _endpoints(shown: Shown, row: Row) -> list[Any] | None:
    """Return what a cable leads to; the stand-in does not follow it through panels."""
    return _peers(shown, row) if _peers_type(shown, row) == "dcim.interface" else None


def _endpoints_type(shown: Shown, row: Row) -> str | None:
    return "dcim.interface" if _endpoints(shown, row) is not None else None


def _reachable(shown: Shown, row: Row) -> bool:
    cable = shown.database.get("dcim/cables", row.get("cable"))
    return cable is not None and cable["status"] == "connected" and _endpoints(shown, row) is not None


def _none(_: Shown, __: Row) -> int:
    return 0


def _yes(_: Shown, __: Row) -> bool:
    return True


def _addresses(shown: Shown, row: Row) -> int:
    mine = {"assigned_object_type": "dcim.interface", "assigned_object_id": row["id"]}
    return len(shown.database.where("ipam/ip-addresses", **mine))


def _tagged(shown: Shown, row: Row) -> int:
    rows = (each for some in shown.database.lists.values() for each in some.values())
    return sum(row["id"] in each.get("tags", ()) for each in rows)


def _terminated(shown: Shown, row: Row) -> Any:
    return shown.named(row["termination_type"], row["termination_id"])


def _changed_object(shown: Shown, row: Row) -> Any:
    return shown.named(row["changed_object_type"], row["changed_object_id"])


def _action_object(shown: Shown, row: Row) -> Any:
    return shown.named(row["action_object_type"], row["action_object_id"])


def _family(_: Shown, row: Row) -> Row:
    four = ":" not in row["address"]
    return {"value": 4, "label": "IPv4"} if four else {"value": 6, "label": "IPv6"}


def _secret(_: Shown, row: Row) -> Any:
    return row["plaintext"] if row.get("fresh") else None


def _change_display(shown: Shown, row: Row) -> str:
    model = by_object_type()[row["changed_object_type"]]
    app = APPS.get(model.path.partition("/")[0], model.path.partition("/")[0].title())
    done = {"create": "created", "update": "updated", "delete": "deleted"}[row["action"]]
    return f"{app} | {model.words} {row['object_repr']} {done} by {row['user_name']}"


def _members(shown: Shown, row: Row) -> list[Any]:
    found = shown.database.where("dcim/devices", virtual_chassis=row["id"])
    return [shown.brief("NestedDevice", each["id"]) for each in found]


def _member_count(shown: Shown, row: Row) -> int:
    return len(shown.database.where("dcim/devices", virtual_chassis=row["id"]))


def _front_ports(shown: Shown, row: Row) -> list[Row]:
    """Return a rear port's side of what its front ports say."""
    found = [
        {"position": rear["rear_port_position"], "front_port": port["id"], "front_port_position": rear["position"]}
        for port in shown.database.lists["dcim/front-ports"].values()
        for rear in port["rear_ports"]
        if rear["rear_port"] == row["id"]
    ]
    return sorted(found, key=lambda each: int(each["position"]))


def _data_type(_: Shown, row: Row) -> str:
    return {"integer": "integer", "decimal": "decimal", "boolean": "boolean"}.get(row["type"], "string")


def _choices_count(_: Shown, row: Row) -> int:
    return len(row["extra_choices"])


SPECIAL: Mapping[tuple[str, str], Field] = {
    ("", "url"): _url,
    ("", "display_url"): _display_url,
    ("", "display"): _display,
    ("", "custom_fields"): _custom_fields,
    ("dcim/devices", "primary_ip"): _primary_ip,
    ("dcim/devices", "config_context"): _config_context,
    ("", "_depth"): _depth,
    ("extras/tags", "tagged_items"): _tagged,
    ("dcim/interfaces", "count_ipaddresses"): _addresses,
    ("dcim/interfaces", "count_fhrp_groups"): _none,
    ("dcim/interfaces", "connected_endpoints"): _endpoints,
    ("dcim/interfaces", "connected_endpoints_type"): _endpoints_type,
    ("dcim/interfaces", "connected_endpoints_reachable"): _reachable,
    ("dcim/interfaces", "mac_address"): _mac,
    ("dcim/interfaces", "mac_addresses"): _macs,
    **{
        (path, name): field
        for path in ("dcim/interfaces", "dcim/front-ports", "dcim/rear-ports")
        for name, field in (
            ("cable", _cable),
            ("cable_end", _cable_end),
            ("link_peers", _peers),
            ("link_peers_type", _peers_type),
            ("_occupied", _occupied),
        )
    },
    ("dcim/cables", "a_terminations"): _ends("a_terminations"),
    ("dcim/cables", "b_terminations"): _ends("b_terminations"),
    ("dcim/cable-terminations", "termination"): _terminated,
    ("dcim/mac-addresses", "assigned_object"): _assigned,
    ("dcim/mac-addresses", "is_primary"): _is_primary,
    ("dcim/module-bays", "is_module_compatible"): _yes,
    ("dcim/modules", "is_bay_compatible"): _yes,
    ("ipam/ip-addresses", "assigned_object"): _assigned,
    ("ipam/ip-addresses", "family"): _family,
    ("extras/journal-entries", "assigned_object"): _assigned,
    ("extras/event-rules", "action_object"): _action_object,
    ("extras/event-rules", "action_is_available"): _yes,
    ("extras/custom-field-choice-sets", "choices_count"): _choices_count,
    ("extras/custom-fields", "data_type"): _data_type,
    ("dcim/virtual-chassis", "members"): _members,
    ("dcim/virtual-chassis", "member_count"): _member_count,
    ("dcim/rear-ports", "front_ports"): _front_ports,
    ("core/object-changes", "display"): _change_display,
    ("core/object-changes", "changed_object"): _changed_object,
    ("users/tokens", "token"): _secret,
}
"""Fields that are made, by the list and the field's name."""
