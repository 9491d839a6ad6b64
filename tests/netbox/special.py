"""What NetBox does with some kinds of objects beyond keeping their values."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.netbox.description import Model, Shape, by_object_type, listed, models
from tests.netbox.kinds import TEMPLATES, natural
from tests.netbox.values import InvalidError

if TYPE_CHECKING:
    from tests.netbox.database import Database, Row

SIDES = {"A": "a_terminations", "B": "b_terminations"}
UNPLUGGED = {"cable": None, "cable_end": None}
MAPPINGS = "dcim.portmapping"
UNEXPORTED = {"dcim.cabletermination", "core.objectchange", "core.objecttype", "users.token"}
UNSHOWN = {"created", "id", "last_updated"}


def refers(shape: Shape, path: str) -> bool:
    """Say whether a field names objects of a list."""
    return shape.kind in {"one", "many"} and listed(shape.of) == path


def taken(model: Model, names: tuple[str, ...]) -> Row:
    """Return how NetBox refuses a second object with the same values."""
    if len(names) == 1:
        return {names[0]: [f"{model.words} with this {names[0].replace('_', ' ')} already exists."]}
    if model.path == "dcim/devices":
        return {"__all__": ["Device name must be unique per site."]}
    *first, last = [name.replace("_", " ").capitalize() for name in names]
    words = model.words[:1].upper() + model.words[1:]
    return {"__all__": [f"{words} with this {', '.join(first)} and {last} already exists."]}


def completed(database: Database, path: str, row: Row) -> None:  # noqa: C901, PLR0912  one case for each kind
    """Fill and check what depends on other values. Raises InvalidError."""
    match path:
        case "dcim/mac-addresses":
            text = row["mac_address"].replace("-", ":").upper()
            if len(text) != len("00:00:00:00:00:00"):
                raise InvalidError({"mac_address": [f"Invalid MAC address format: {row['mac_address']}"]})
            row["mac_address"] = text
        case "dcim/interfaces":
            row["wwn"] = row["wwn"].upper() if row.get("wwn") else None
            if row["mac_address"]:
                raise NotImplementedError("the stand-in makes no MAC address with an interface; teach it here")
        case "ipam/ip-addresses":
            row["address"] = row["address"] if "/" in row["address"] else f"{row['address']}/32"
        case "dcim/cables":
            _terminations(database, row)
        case "users/tokens":
            _token(row)
        case "dcim/devices":
            _device(database, row)
        case "extras/custom-fields" if row["type"] in {"select", "multiselect"} and row["choice_set"] is None:
            raise InvalidError({"choice_set": ["Selection fields must specify a set of choices."]})
        case "extras/event-rules" if row["action_object_id"] is None:
            raise InvalidError({"action_object_id": ["This action requires a target object to be selected."]})
        case "extras/journal-entries":
            _entry(database, row)
        case "extras/export-templates":
            _object_types(row)
        case _:
            pass


def created(database: Database, path: str, row: Row) -> None:
    """Do what follows when an object is made."""
    if path == "dcim/devices":
        for source, (target, names) in TEMPLATES.items():
            templates = database.where(source, device_type=row["device_type"])
            for template in sorted(templates, key=lambda each: natural(each["name"])):
                database.create(target, {"device": row["id"], **{name: template[name] for name in names}})
    elif path == "dcim/cables":
        before = data(database, path, row)
        _connect(database, row)
        database.note(path, row, "update", before)
    elif path == "dcim/front-ports":
        _map(database, row, [], row["rear_ports"])


def changed(database: Database, path: str, old: Row, row: Row) -> None:
    """Do what follows when an object is changed."""
    if path == "dcim/cables":
        for other, number, end in _ends(database, row["id"]):
            if _as_written(end) not in row[SIDES[end["cable_end"]]]:
                database.touch(other, number, **UNPLUGGED)
                _remove_end(database, end)
        _connect(database, row)
    elif path == "dcim/front-ports" and old["rear_ports"] != row["rear_ports"]:
        _map(database, row, old["rear_ports"], row["rear_ports"])


def assigned(database: Database, path: str, number: int) -> list[tuple[str, int]]:
    """Return the objects that are deleted with an object, as they are assigned to it."""
    mine = {"assigned_object_type": models()[path].object_type, "assigned_object_id": number}
    lists = ("extras/journal-entries", "dcim/mac-addresses", "ipam/ip-addresses")
    return [(other, each["id"]) for other in lists for each in database.where(other, **mine)]


def unplugged(database: Database, ports: Iterable[tuple[str, int]]) -> None:
    """Take cables off ports that are about to be deleted."""
    for path, number in ports:
        for end in database.where(
            "dcim/cable-terminations", termination_type=models()[path].object_type, termination_id=number
        ):
            _remove_end(database, end)


def deleted(database: Database, path: str, row: Row) -> list[tuple[str, int]]:
    """Do what comes before an object is deleted, and return the ports that are unplugged after it."""
    mine = {"termination_type": models()[path].object_type, "termination_id": row["id"]}
    ends = _ends(database, row["id"]) if path == "dcim/cables" else []
    for end in [*(end for _, _, end in ends), *database.where("dcim/cable-terminations", **mine)]:
        _remove_end(database, end)
    return [(other, number) for other, number, _ in reversed(ends)]


def printed(database: Database, path: str, row: Row) -> str | None:  # noqa: PLR0911  one for each kind
    """Return how an object is shown in a word, None where that is one of its values."""
    match path:
        case "dcim/cables":
            return row["label"] or f"#{row['id']}"
        case "dcim/devices" if not row["name"]:
            found = database.lists["dcim/device-types"][row["device_type"]]
            maker = database.lists["dcim/manufacturers"][found["manufacturer"]]
            return f"{maker['name']} {found['model']} ({row['id']})"
        case "users/users" if row["first_name"] or row["last_name"]:
            return f"{row['username']} ({row['first_name']} {row['last_name']})".replace("( ", "(").replace(" )", ")")
        case "dcim/cable-terminations":
            cable = printed(database, "dcim/cables", database.lists["dcim/cables"][row["cable"]])
            return f"Cable {cable} to {end_name(database, row)}"
        case "dcim/modules":
            bay = database.lists["dcim/module-bays"][row["module_bay"]]["name"]
            model = database.lists["dcim/module-types"][row["module_type"]]["model"]
            return f"{bay}: {model} ({row['asset_tag'] or row['id']})"
        case "extras/journal-entries":
            return f"{row['created']:%Y-%m-%d %H:%M:%S} ({row['kind'].title()})"
        case "extras/custom-fields":
            return str(row["label"] or row["name"].replace("_", " ").capitalize())
        case "users/tokens":
            return str(row["key"]) if row["version"] == 2 else f"{row['plaintext'][:6]}"
        case _:
            return None


def end_name(database: Database, end: Row) -> str:
    """Return the name of what a cable ends at."""
    found = database.get(by_object_type()[end["termination_type"]].path, end["termination_id"])
    return str(found["name"]) if found else ""


def data(database: Database, path: str, row: Row) -> Row:
    """Return an object as an object change keeps it; counts and some empty fields are left out here."""
    kept = {name: _kept(each) for name, each in row.items() if name not in UNSHOWN}
    if "tags" in models()[path].written:
        kept["tags"] = sorted(database.lists["extras/tags"][each]["name"] for each in row["tags"])
    kept.pop("rear_ports", None)
    if path == "dcim/cables":
        for letter, side in SIDES.items():
            ends = database.where("dcim/cable-terminations", cable=row["id"], cable_end=letter)
            kept[side] = [end["id"] for end in ends]
    return kept


def _kept(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else deepcopy(value)


def config_contexts(database: Database, device: Row) -> list[Row]:
    """Return the data of the config contexts that are meant for a device, by weight, then by name."""
    contexts = database.lists["extras/config-contexts"].values()
    ordered = sorted(contexts, key=lambda each: (each["weight"], each["name"]))
    return [each["data"] for each in ordered if each["is_active"] and _meant(database, each, device)]


def config_context(database: Database, device: Row) -> Row:
    """Return a device's rendered config context, with its own data last."""
    found: Row = {}
    for data_of_one in config_contexts(database, device):
        found = merged(found, data_of_one)
    return merged(found, device["local_context_data"] or {})


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> Row:
    """Return two contexts as one; the other's values win."""
    found = dict(one)
    for key, value in other.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = merged(found[key], value) if both else value
    return found


def _meant(database: Database, context: Row, device: Row) -> bool:
    site = database.lists["dcim/sites"][device["site"]]
    having = {
        "sites": device["site"], "locations": device["location"], "device_types": device["device_type"],
        "roles": device["role"], "platforms": device["platform"], "tenants": device["tenant"],
        "regions": site["region"], "site_groups": site["group"],
    }  # fmt: skip
    if any(context[name] and value not in context[name] for name, value in having.items()):
        return False
    return not context["tags"] or bool(set(context["tags"]) & set(device["tags"]))


def _device(database: Database, row: Row) -> None:
    for name in ("primary_ip4", "primary_ip6", "oob_ip"):
        address = database.get("ipam/ip-addresses", row[name])
        if address is None:
            continue
        owner = database.get("dcim/interfaces", address["assigned_object_id"])
        if owner is None or owner["device"] != row["id"]:
            text = f"The specified IP address ({address['address']}) is not assigned to this device."
            raise InvalidError({name: [text]})


def _entry(database: Database, row: Row) -> None:
    model = by_object_type().get(row["assigned_object_type"])
    if model is None or database.get(model.path, row["assigned_object_id"]) is None:
        app, name = row["assigned_object_type"].split(".")[0].upper(), model.words.capitalize() if model else "?"
        text = f"Invalid assigned_object: {app} > {name} ID {row['assigned_object_id']}"
        raise InvalidError({"__all__": [text]})


def _object_types(row: Row) -> None:
    for kind in row["object_types"]:
        if kind not in by_object_type() or kind in UNEXPORTED:
            raise InvalidError({"object_types": [f"Invalid content type: {kind}"]})


def _map(database: Database, port: Row, old: Iterable[Row], new: Iterable[Row]) -> None:
    """Note what lies behind a front port: objects of a kind of their own, and nothing else is changed."""
    for action, some in (("delete", old), ("create", new)):
        for each in some:
            rear = database.lists["dcim/rear-ports"][each["rear_port"]]["name"]
            name = f"{port['name']}:{each['position']} to {rear}:{each['rear_port_position']}"
            if action == "create":
                database.numbers[MAPPINGS] += 1
            database.write_change(MAPPINGS, database.numbers[MAPPINGS], name, action, (None, None), "")


def _terminations(database: Database, row: Row) -> None:
    if not row["id"] and not (row["a_terminations"] and row["b_terminations"]):
        raise InvalidError({"__all__": ["Must define A and B terminations when creating a new cable."]})
    for side in SIDES.values():
        for end in row[side]:
            model = by_object_type().get(end["object_type"])
            if model is None or database.get(model.path, end["object_id"]) is None:
                raise InvalidError({side: [f"Invalid object: {end['object_type']} {end['object_id']}"]})
            for other in database.where(
                "dcim/cable-terminations", termination_type=end["object_type"], termination_id=end["object_id"]
            ):
                if other["cable"] != row["id"]:
                    text = f"Duplicate termination found for {end['object_type']} {end['object_id']}"
                    raise InvalidError({"__all__": [f"{text}: cable {other['cable']}"]})


def _connect(database: Database, cable: Row) -> None:
    """Make what a cable ends at and did not before."""
    there = [(end["cable_end"], _as_written(end)) for _, _, end in _ends(database, cable["id"])]
    new = [(letter, end) for letter, side in SIDES.items() for end in cable[side] if (letter, end) not in there]
    for letter, end in new:
        database.numbers["dcim/cable-terminations"] += 1
        number = database.numbers["dcim/cable-terminations"]
        row = {
            "id": number,
            "cable": cable["id"],
            "cable_end": letter,
            "termination_type": end["object_type"],
            "termination_id": end["object_id"],
            "connector": None,
            "positions": None,
            "created": database.now(),
            "last_updated": database.now(),
        }
        database.lists["dcim/cable-terminations"][number] = row
        database.note("dcim/cable-terminations", row, "create")
        path = by_object_type()[end["object_type"]].path
        database.touch(path, end["object_id"], cable=cable["id"], cable_end=letter)


def _ends(database: Database, cable: int) -> list[tuple[str, int, Row]]:
    """Return what a cable ends at: the list and the id of a port each, and the termination."""
    ends = database.where("dcim/cable-terminations", cable=cable)
    return [(by_object_type()[end["termination_type"]].path, end["termination_id"], end) for end in ends]


def _as_written(end: Row) -> Row:
    return {"object_type": end["termination_type"], "object_id": end["termination_id"]}


def _remove_end(database: Database, end: Row) -> None:
    """Take a cable off what it ends at."""
    side = SIDES[end["cable_end"]]
    if cable := database.get("dcim/cables", end["cable"]):
        kept = [each for each in cable[side] if each != _as_written(end)]
        database.lists["dcim/cables"][cable["id"]] = cable | {side: kept}
    before = data(database, "dcim/cable-terminations", end)
    name = printed(database, "dcim/cable-terminations", end)
    del database.lists["dcim/cable-terminations"][end["id"]]
    database.note("dcim/cable-terminations", end | {"": name}, "delete", before)


def _token(row: Row) -> None:
    if row.get("plaintext"):
        return
    row["version"] = row["version"] or 2
    row["plaintext"] = secrets.token_hex(20)
    row["key"] = secrets.token_hex(6) if row["version"] == 2 else None
    row["pepper_id"] = 1 if row["version"] == 2 else None
