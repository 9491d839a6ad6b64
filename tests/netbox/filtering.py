"""Which objects of a list a client asks for, and in which order."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tests.netbox.database import Database, Row
from tests.netbox.description import Shape, by_object_type, listed, models
from tests.netbox.kinds import ORDER, interface_order, natural
from tests.netbox.values import InvalidError

PAGING = {"limit", "offset", "start", "fields", "omit", "brief", "ordering", "export", "format"}

LOOKUPS: Mapping[str, Callable[[Any, Any], bool]] = {
    "": lambda mine, asked: mine == asked,
    "n": lambda mine, asked: mine != asked,
    "gt": lambda mine, asked: mine is not None and mine > asked,
    "gte": lambda mine, asked: mine is not None and mine >= asked,
    "lt": lambda mine, asked: mine is not None and mine < asked,
    "lte": lambda mine, asked: mine is not None and mine <= asked,
    "ic": lambda mine, asked: str(asked).lower() in str(mine).lower(),
    "ie": lambda mine, asked: str(asked).lower() == str(mine).lower(),
    "isw": lambda mine, asked: str(mine).lower().startswith(str(asked).lower()),
    "empty": lambda mine, asked: (mine in (None, "")) is asked,
}
ALL_OF = {"n"}
NOTHING = Shape("none")
NUMBERS = {"assigned_object_id", "changed_object_id", "termination_id", "component_id"}
NAMING = {
    "device": "dcim/devices", "site": "dcim/sites", "location": "dcim/locations", "rack": "dcim/racks",
    "role": "dcim/device-roles", "device_type": "dcim/device-types", "manufacturer": "dcim/manufacturers",
    "tenant": "tenancy/tenants", "interface": "dcim/interfaces", "tag": "extras/tags",
}  # fmt: skip
"""Filters that name an object of a list, by its slug or name, or with "_id" by its id."""
RENAMED = {
    "time_after": ("time", "gte"), "time_before": ("time", "lte"),
    "created_after": ("created", "gte"), "created_before": ("created", "lte"),
}  # fmt: skip
BY_REQUEST = {
    "created_by_request": ("create",),
    "updated_by_request": ("update",),
    "modified_by_request": ("create", "update"),
}


def found(database: Database, path: str, query: Mapping[str, list[str]]) -> list[Row]:
    """Return the rows of a list that a client asks for; what NetBox does not know is ignored, as NetBox does."""
    rows: Iterable[Row] = database.lists[path].values()
    for name, asked in query.items():
        known = name in models()[path].parameters or _is_custom(database, path, name)
        if name not in PAGING and known:
            rows = _filtered(database, path, list(rows), name, asked)
    return ordered(database, path, list(rows), query.get("ordering", [""])[0])


def _is_custom(database: Database, path: str, name: str) -> bool:
    """Say whether a filter is by a custom field that objects of a list have."""
    field = name.removeprefix("cf_").partition("__")[0]
    found = database.where("extras/custom-fields", name=field) if name.startswith("cf_") else []
    return bool(found) and models()[path].object_type in found[0]["object_types"]


def ordered(database: Database, path: str, rows: list[Row], asked: str = "") -> list[Row]:
    """Return rows in an order, a client's or the list's own."""
    names = [name for name in asked.split(",") if name] or [*ORDER.get(path, ("name",)), "id"]
    for name in reversed(names):
        field = name.removeprefix("-")
        rows.sort(key=lambda row: _key(database, path, row, field), reverse=name.startswith("-"))
    return rows


def _key(database: Database, path: str, row: Row, field: str) -> Any:
    """Return by what a row is ordered: an object that it names is ordered as in its own list."""
    value = row.get(field.removesuffix("__id"))
    shape = models()[path].written.get(field)
    if shape is not None and shape.kind == "one" and listed(shape.of):
        other = listed(shape.of)
        named = database.get(other, value)
        names = ORDER.get(other, ("name",))
        return (named is None, *(_key(database, other, named, name.removeprefix("-")) for name in names if named))
    if field == "sort_path":
        return _sort_path(database, path, row)
    if field == "_name":
        return interface_order(str(row["name"]))
    return (value is None, value) if isinstance(value, (int, float, datetime)) else natural(value)


def _sort_path(database: Database, path: str, row: Row) -> tuple[Any, ...]:
    """Return the names of the objects above one of a tree, from the root down, and its own."""
    above = row.get("parent")
    if path == "dcim/module-bays" and row["module"]:
        above = database.lists["dcim/modules"][row["module"]]["module_bay"]
    there = database.get(path, above)
    return (*(_sort_path(database, path, there) if there else ()), natural(row["name"]))


def _filtered(database: Database, path: str, rows: list[Row], name: str, asked: list[str]) -> list[Row]:
    if name in BY_REQUEST:
        kind = models()[path].object_type
        changes = database.lists["core/object-changes"].values()
        ids = {
            each["changed_object_id"]
            for each in changes
            if each["request_id"] in asked
            and each["changed_object_type"] == kind
            and each["action"] in BY_REQUEST[name]
        }
        return [row for row in rows if row["id"] in ids]
    if name == "q":
        words = [text.lower() for text in asked]
        return [row for row in rows if any(word in _searched(path, row) for word in words)]
    base, _, lookup = name.partition("__")
    base, lookup = RENAMED.get(name, (base, lookup))
    read = _reader(database, path, base)
    if lookup not in LOOKUPS or read is None:
        raise NotImplementedError(
            f"the stand-in cannot filter {path} by {name}; teach it in tests/netbox/filtering.py"
        )
    if base in NAMING or (base.endswith("_id") and base not in NUMBERS):
        _known(database, path, name, base, asked)
    how = all if lookup in ALL_OF else any
    kept = []
    for row in rows:
        mine = read(row)
        values = mine if isinstance(mine, list) else [mine]
        wanted = [_like(values, text, name, lookup) for text in asked]
        if how(any(LOOKUPS[lookup](value, each) for value in values) for each in wanted):
            kept.append(row)
    return kept


def _searched(path: str, row: Row) -> str:
    """Return the text in which a general search looks."""
    return str(row["comments"] if path == "extras/journal-entries" else row.get("name")).lower()


def _known(database: Database, path: str, name: str, base: str, asked: list[str]) -> None:
    """Refuse what a filter by another object names if there is none."""
    del path
    other = NAMING.get(base.removesuffix("_id"))
    if other is None:
        return
    field = "id" if base.endswith("_id") else "slug" if "slug" in models()[other].written else "name"
    there = {str(row[field]) for row in database.lists[other].values()} | {"null"}
    if missing := [one for one in asked if one not in there]:
        text = f"Select a valid choice. {missing[0]} is not one of the available choices."
        raise InvalidError({name: [text]})


def _like(values: list[Any], text: str, name: str, lookup: str) -> Any:
    """Return a filter's text as a value of the same type as the object's."""
    if lookup == "empty" or text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if text == "null":
        return None
    kind = next((type(value) for value in values if value is not None), str)
    try:
        if kind is datetime:
            when = datetime.fromisoformat(text)
            return when if when.tzinfo else when.replace(tzinfo=UTC)
        text = text.upper() if name.startswith("mac_address") else text
        return int(text) if kind is int else float(text) if kind is float else text
    except ValueError:
        raise InvalidError(
            {name: ["Enter a valid date/time." if kind is datetime else "Enter a whole number."]}
        ) from None


def _reader(  # noqa: C901, PLR0911, PLR0912  one for each kind of filter
    database: Database, path: str, base: str
) -> Callable[[Row], Any] | None:
    """Return how a filter's value is read from a row."""
    model = models()[path]
    if base.startswith("cf_"):
        return lambda row: row["custom_fields"].get(base[3:])
    if base == "tag":
        return lambda row: [database.lists["extras/tags"][each]["slug"] for each in row["tags"]] or [None]
    if base == "tag_id":
        return lambda row: row["tags"] or [None]
    if base == "object_type":
        return lambda row: list(row["object_types"])
    if base in {"changed_object_type_id", "object_type_id"}:
        return lambda row: _type_number(database, row)
    if base == "mac_address" and path in {"dcim/interfaces", "dcim/devices"}:
        return lambda row: _macs(database, path, row)
    if base == "cabled" and path != "dcim/cables":
        return lambda row: bool(row.get("cable"))
    if base in {"device_id", "device", "interface_id"} and path in {"dcim/mac-addresses", "ipam/ip-addresses"}:
        return lambda row: _owner(database, row, base)
    if base == "address" and path == "ipam/ip-addresses":
        return lambda row: [row["address"], row["address"].partition("/")[0]]
    if base == "interface_id" and path == "dcim/cables":
        return lambda row: [
            end["object_id"]
            for end in (*row["a_terminations"], *row["b_terminations"])
            if end["object_type"] == "dcim.interface"
        ]
    if base in {"device_id", "device"} and path == "dcim/cables":
        return lambda row: _devices(database, row, base)
    named = base.removesuffix("_id")
    if base != named and base not in model.shown and models()[path].shown.get(named, NOTHING).kind == "value":
        return lambda row: row.get(named)
    shape = model.written.get(named) or model.shown.get(named)
    if base in model.shown or base in model.written:
        shape = model.written.get(base) or model.shown[base]
        if shape.kind == "one":
            return lambda row: _slug(database, shape.of, row.get(base))
        return lambda row: list(row[base]) if isinstance(row.get(base), (list, tuple)) else row.get(base)
    if shape is not None and shape.kind in {"one", "many"}:
        return lambda row: row.get(named)
    through = model.written.get("device")
    if through is not None and path != "dcim/devices":
        inner = _reader(database, "dcim/devices", base)
        return None if inner is None else lambda row: inner(database.lists["dcim/devices"][row["device"]])
    return None


def _slug(database: Database, schema: str, number: int | None) -> Any:
    row = database.get(listed(schema), number) if listed(schema) else None
    return None if row is None else row.get("slug") or row.get("name") or row.get("username")


def _type_number(database: Database, row: Row) -> Any:
    del database
    kinds = sorted(by_object_type())
    named = row.get("object_types") or [row.get("changed_object_type")]
    return [kinds.index(each) + 1 for each in named]


def _macs(database: Database, path: str, row: Row) -> list[str]:
    ports = [row] if path == "dcim/interfaces" else database.where("dcim/interfaces", device=row["id"])
    kind = "dcim.interface"
    found = (
        database.where("dcim/mac-addresses", assigned_object_type=kind, assigned_object_id=port["id"])
        for port in ports
    )
    return [mac["mac_address"] for some in found for mac in some]


def _owner(database: Database, row: Row, base: str) -> Any:
    if row["assigned_object_type"] != "dcim.interface":
        return None
    interface = database.lists["dcim/interfaces"][row["assigned_object_id"]]
    if base == "interface_id":
        return interface["id"]
    device = database.lists["dcim/devices"][interface["device"]]
    return device["id"] if base == "device_id" else device["name"]


def _devices(database: Database, cable: Row, base: str) -> list[Any]:
    found: list[Any] = []
    for end in (*cable["a_terminations"], *cable["b_terminations"]):
        thing = database.lists[by_object_type()[end["object_type"]].path].get(end["object_id"])
        if thing and "device" in thing:
            device = database.lists["dcim/devices"][thing["device"]]
            found.append(device["id"] if base == "device_id" else device["name"])
    return found
