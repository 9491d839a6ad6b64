"""A stand-in NetBox's objects as its REST API shows them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.netbox import special
from tests.netbox.database import Database, Row
from tests.netbox.description import Model, Shape, by_object_type, listed, models, nested, object_type

Field = Callable[["Shown", Row], Any]

PAGES = {"dcim/virtual-chassis": "dcim/virtual-chassis"}


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
        """Return an object as it is shown inside another."""
        path = listed(schema)
        row = self.database.get(path, number) if path else None
        if row is None:
            return None
        return {name: self._field(path, name, row) for name in nested(schema)}

    def named(self, kind: str, number: int | None) -> Row | None:
        """Return any object as it is shown inside another, by the name of its kind."""
        model = by_object_type().get(kind)
        row = self.database.get(model.path, number) if model else None
        if model is None or row is None:
            return None
        return self.row(model.path, row, _brief_fields(model))

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
                    None if value in (None, "") else {"value": value, "label": (shape.choices or {}).get(value, "")}
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


def _brief_fields(model: Model) -> tuple[str, ...]:
    name = f"Brief{model.schema.removesuffix('WithConfigContext')}"
    if model.path in {"dcim/interfaces", "dcim/front-ports", "dcim/rear-ports"}:
        return ("id", "url", "display", "device", "name", "description", "cable", "_occupied")
    try:
        return nested(name)
    except KeyError:
        return ("id", "url", "display")


def _url(shown: Shown, row: Row) -> str:
    return f"{shown.url}/api/{row['']}/{row['id']}/"


def _display_url(shown: Shown, row: Row) -> str:
    return f"{shown.url}/{row['']}/{row['id']}/"


def _display(shown: Shown, row: Row) -> str:
    return shown.database.printed(row[""], row)


def _primary_ip(shown: Shown, row: Row) -> Any:
    return shown.brief("BriefIPAddress", row["primary_ip4"] or row["primary_ip6"])


def _config_context(shown: Shown, row: Row) -> Any:
    return special.config_context(shown.database, row)


def _custom_fields(shown: Shown, row: Row) -> Any:
    kind = models()[row[""]].object_type
    fields = shown.database.lists["extras/custom-fields"].values()
    known = sorted((each for each in fields if kind in each["object_types"]), key=_field_order)
    return {each["name"]: row["custom_fields"].get(each["name"]) for each in known}


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


def _end(shown: Shown, row: Row) -> Row | None:
    found = shown.database.where(
        "dcim/cable-terminations", termination_type=models()[row[""]].object_type, termination_id=row["id"]
    )
    return found[0] if found else None


def _cable(shown: Shown, row: Row) -> Any:
    end = _end(shown, row)
    return shown.brief("BriefCable", end["cable"]) if end else None


def _cable_end(shown: Shown, row: Row) -> Any:
    end = _end(shown, row)
    return end["cable_end"] if end else None


def _peers(shown: Shown, row: Row) -> list[Any]:
    end = _end(shown, row)
    if end is None:
        return []
    ends = shown.database.where("dcim/cable-terminations", cable=end["cable"])
    return [
        shown.named(other["termination_type"], other["termination_id"])
        for other in ends
        if other["cable_end"] != end["cable_end"]
    ]


def _peers_type(shown: Shown, row: Row) -> str | None:
    end = _end(shown, row)
    ends = shown.database.where("dcim/cable-terminations", cable=end["cable"]) if end else []
    return next((each["termination_type"] for each in ends if end and each["cable_end"] != end["cable_end"]), None)


def _occupied(shown: Shown, row: Row) -> bool:
    return bool(row.get("mark_connected")) or _end(shown, row) is not None


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


def _choices_count(_: Shown, row: Row) -> int:
    return len(row["extra_choices"])


SPECIAL: Mapping[tuple[str, str], Field] = {
    ("", "url"): _url,
    ("", "display_url"): _display_url,
    ("", "display"): _display,
    ("", "custom_fields"): _custom_fields,
    ("dcim/devices", "primary_ip"): _primary_ip,
    ("dcim/devices", "config_context"): _config_context,
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
    ("ipam/ip-addresses", "assigned_object"): _assigned,
    ("ipam/ip-addresses", "family"): _family,
    ("extras/journal-entries", "assigned_object"): _assigned,
    ("extras/event-rules", "action_object"): _action_object,
    ("extras/custom-field-choice-sets", "choices_count"): _choices_count,
    ("core/object-changes", "changed_object"): _changed_object,
    ("users/tokens", "token"): _secret,
}
"""Fields that are made, by the list and the field's name."""
