"""The steps of a push as NetBox takes them: ids instead of names, and NetBox's names of fields."""

import re
from collections.abc import Mapping
from typing import Any

from fleet_runner.adapters.netbox.client import Json
from fleet_runner.adapters.netbox.push.ids import Ids
from fleet_runner.core.custom_fields import MANAGEMENT
from fleet_runner.core.push.step import Kind, Step

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
    Kind.CABLE: "dcim/cables",
}

FIELDS = {
    Kind.TYPE: {"full_depth": "is_full_depth"},
    Kind.TEMPLATE: {"kind": "type"},
    Kind.INTERFACE: {"kind": "type", "guid": "wwn"},
    Kind.PART: {"kind": "role", "model": "part_id"},
    Kind.CABLE: {"kind": "type"},
}
"""Fields that NetBox calls otherwise than records do."""

REFERENCES = {
    Kind.TYPE: {"manufacturer": Kind.MANUFACTURER},
    Kind.DEVICE: {"device_type": Kind.TYPE, "role": Kind.ROLE, "tenant": Kind.TENANT, "site": Kind.SITE},
    Kind.PART: {"kind": Kind.PART_ROLE},
}
"""Values that are names of other objects, which NetBox takes as ids."""

GREY = "9e9e9e"
INTERFACE = "dcim.interface"
_OTHER = re.compile(r"[^a-z0-9]+")


def body(step: Step, ids: Ids) -> Json:
    """Return what is sent for a new object, or for one that changes (its id included)."""
    found = _values(step, ids)
    if step.was is not None:
        return {"id": number(step, ids), **found}
    return {**_identity(step, ids), **found}


def number(step: Step, ids: Ids) -> int:
    """Return the id of an object that NetBox has."""
    return step.id if step.id is not None else ids.of(step.kind)[step.key]


def _values(step: Step, ids: Ids) -> Json:
    renamed, named = FIELDS.get(step.kind, {}), REFERENCES.get(step.kind, {})
    found: Json = {}
    for field, value in step.values.items():
        if field == "management":
            found["custom_fields"] = {MANAGEMENT: str(value)}
        elif field == "context":
            found["local_context_data"] = merged(ids.contexts.get(step.key[0], {}), value)
        elif field == "guid":
            found["wwn"] = ":".join(value[at : at + 2] for at in range(0, 16, 2)).upper()
        elif field in named:
            found[renamed.get(field, field)] = ids.of(named[field])[value,]
        elif field in {"rack", "location"}:
            kind = Kind.RACK if field == "rack" else Kind.LOCATION
            site = step.values["site"] if step.kind is Kind.DEVICE else step.key[0]
            found[field] = ids.of(kind)[site, value]
        else:
            found[renamed.get(field, field)] = value
    return found


def _identity(step: Step, ids: Ids) -> Json:
    """Return what a new object is known by."""
    match step.kind, step.key:
        case Kind.ROLE | Kind.PART_ROLE, (slug,):
            return {"name": slug, "slug": slug, "color": GREY}
        case Kind.SITE | Kind.TENANT | Kind.MANUFACTURER, (name,):
            return {"name": name, "slug": slug_of(name, ids.slugs[step.kind])}
        case Kind.TYPE, (slug,):
            return {"slug": slug}
        case Kind.DEVICE, (name,):
            return {"name": name}
        case Kind.LOCATION, (site, name):
            return {"name": name, "slug": slug_of(name, ids.slugs[step.kind]), "site": ids.of(Kind.SITE)[site,]}
        case Kind.RACK, (site, name):
            return {"name": name, "site": ids.of(Kind.SITE)[site,]}
        case Kind.TEMPLATE, (slug, name):
            return {"device_type": ids.of(Kind.TYPE)[slug,], "name": name}
        case Kind.CABLE, (device, interface, *far):
            ends = [(device, interface), *zip(far[::2], far[1::2], strict=True)]
            there = [{"object_type": INTERFACE, "object_id": ids.of(Kind.INTERFACE)[end]} for end in ends]
            return {"a_terminations": there[:1], "b_terminations": there[1:]}
        case _, (device, name):
            return {"device": ids.of(Kind.DEVICE)[device,], "name": name}
    raise ValueError(step.key)


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
