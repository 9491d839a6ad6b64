"""The steps of a push as NetBox takes them: ids instead of names, and NetBox's names of fields."""

import re
from collections.abc import Mapping
from typing import Any

from fleet_runner.adapters.netbox.client import Json
from fleet_runner.adapters.netbox.push.ids import Ids
from fleet_runner.adapters.netbox.push.sending import Sent
from fleet_runner.core.inventory.netbox.custom_fields import MANAGEMENT
from fleet_runner.core.inventory.netbox.push.step import Kind, Step, Values

PATHS = {
    Kind.SITE: "dcim/sites",
    Kind.LOCATION: "dcim/locations",
    Kind.TENANT: "tenancy/tenants",
    Kind.ROLE: "dcim/device-roles",
    Kind.PART_ROLE: "dcim/inventory-item-roles",
    Kind.MANUFACTURER: "dcim/manufacturers",
    Kind.RACK: "dcim/racks",
    Kind.TYPE: "dcim/device-types",
    Kind.TEMPLATE: "dcim/interface-templates",
    Kind.DEVICE: "dcim/devices",
    Kind.INTERFACE: "dcim/interfaces",
    Kind.PART: "dcim/inventory-items",
    Kind.REAR: "dcim/rear-ports",
    Kind.FRONT: "dcim/front-ports",
    Kind.CORD: "dcim/cables",
    Kind.CABLE: "dcim/cables",
}

FIELDS = {
    Kind.TYPE: {"full_depth": "is_full_depth"},
    Kind.TEMPLATE: {"kind": "type"},
    Kind.INTERFACE: {"kind": "type", "guid": "wwn"},
    Kind.DEVICE: {"context": "local_context_data", "management": "custom_fields"},
    Kind.PART: {"kind": "role", "model": "part_id"},
    Kind.REAR: {"kind": "type"},
    Kind.FRONT: {"kind": "type"},
    Kind.CORD: {"kind": "type"},
    Kind.CABLE: {"kind": "type"},
}
"""Fields that NetBox calls otherwise than records do."""

REFERENCES = {
    Kind.TYPE: {"manufacturer": Kind.MANUFACTURER},
    Kind.DEVICE: {"device_type": Kind.TYPE, "role": Kind.ROLE, "tenant": Kind.TENANT, "site": Kind.SITE},
    Kind.PART: {"kind": Kind.PART_ROLE},
}
"""Values that are names of other objects, which NetBox takes as ids."""

OWNERS = {
    Kind.LOCATION: ("site", Kind.SITE),
    Kind.RACK: ("site", Kind.SITE),
    Kind.TEMPLATE: ("device_type", Kind.TYPE),
}
"""What objects with two names are in; all others are in a device."""

SLUGGED = frozenset({Kind.SITE, Kind.LOCATION, Kind.TENANT, Kind.MANUFACTURER})
"""Kinds that have a slug beside the name by which people know them."""

GREY = "9e9e9e"
INTERFACE = "dcim.interface"
SIDES = {
    "interface": (Kind.INTERFACE, INTERFACE),
    "front": (Kind.FRONT, "dcim.frontport"),
    "rear": (Kind.REAR, "dcim.rearport"),
}
"""What a cord may end at: which ids these have, and what NetBox calls them."""

_OTHER = re.compile(r"[^a-z0-9]+")


def sent(step: Step, ids: Ids) -> Sent:
    """Return what is sent for a new object, or for one that changes (its id included), and what that was before."""
    found = _values(step, step.values, ids)
    if step.was is None:
        return Sent(step.name, {**_identity(step, ids), **found})
    before = {name: value for name, value in step.was.items() if name != "context"}
    return Sent(step.name, {"id": number(step, ids), **found}, _values(step, before, ids))


def number(step: Step, ids: Ids) -> int:
    """Return the id of an object that NetBox has."""
    return step.id if step.id is not None else ids.of(step.kind)[step.key]


def _values(step: Step, values: Values, ids: Ids) -> Json:
    renamed, named = FIELDS.get(step.kind, {}), REFERENCES.get(step.kind, {})
    found: Json = {}
    for field, value in values.items():
        if value is None:
            found[renamed.get(field, field)] = None
        elif field == "rear":
            found |= _mapping(ids.of(Kind.REAR)[step.key[0], value], values["position"], ids)
        elif field == "sides" or (field == "position" and step.kind is Kind.FRONT):
            continue
        elif field == "management":
            found["custom_fields"] = {MANAGEMENT: str(value)}
        elif field == "context":
            found["local_context_data"] = merged(ids.contexts.get(step.key[0], {}), value)
        elif field == "guid":
            found["wwn"] = ":".join(value[at : at + 2] for at in range(0, 16, 2)).upper()
        elif field in named:
            found[renamed.get(field, field)] = ids.of(named[field])[value,]
        elif field in {"rack", "location"}:
            kind = Kind.RACK if field == "rack" else Kind.LOCATION
            found[field] = ids.of(kind)[step.site, value]
        else:
            found[renamed.get(field, field)] = value
    return found


def _mapping(rear: int, position: int, ids: Ids) -> Json:
    """Return which rear port is behind a front port: one up to NetBox 4.4, a list of them from 4.5 on."""
    if not ids.mapped:
        return {"rear_port": rear, "rear_port_position": position}
    return {"rear_ports": [{"position": 1, "rear_port": rear, "rear_port_position": position}]}


def _identity(step: Step, ids: Ids) -> Json:
    """Return what a new object is known by: its name, and what it is in."""
    kind, (first, *rest) = step.kind, step.key
    name = rest[0] if rest else first
    if kind is Kind.CABLE:
        ends = zip(step.key[::2], step.key[1::2], strict=True)
        there = [{"object_type": INTERFACE, "object_id": ids.of(Kind.INTERFACE)[end]} for end in ends]
        return {"a_terminations": there[:1], "b_terminations": there[1:]}
    if kind is Kind.CORD:
        a, b = (
            {"object_type": SIDES[side][1], "object_id": ids.of(SIDES[side][0])[end]}
            for side, end in zip(step.values["sides"], (step.key[:2], step.key[2:]), strict=True)
        )
        return {"a_terminations": [a], "b_terminations": [b]}
    if kind is Kind.TYPE:
        return {"slug": name}
    found: Json = {"name": name}
    if kind in {Kind.ROLE, Kind.PART_ROLE}:
        found |= {"slug": name, "color": GREY}
    elif kind in SLUGGED:
        found["slug"] = slug_of(name, ids.slugs(kind))
    if rest:
        field, owner = OWNERS.get(kind, ("device", Kind.DEVICE))
        found[field] = ids.of(owner)[first,]
    return found


def slug_of(name: str, taken: set[str]) -> str:
    """Return a slug for a name that nothing else has, and take it."""
    base = _OTHER.sub("-", name.lower()).strip("-")[:90] or "unnamed"
    slug, at = base, 1
    while slug in taken:
        at += 1
        slug = f"{base}-{at}"
    taken.add(slug)
    return slug


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Json:
    """Return one config context laid over another, as NetBox lays them."""
    found = dict(under)
    for key, value in over.items():
        before = found.get(key)
        found[key] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return found
