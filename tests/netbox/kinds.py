"""What NetBox knows of its kinds of objects and does not describe: defaults, names, what is unique, what belongs."""

import re
from collections.abc import Mapping
from typing import Any

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "dcim/cables": {"status": "connected", "type": None},
    "dcim/device-roles": {"color": "9e9e9e", "vm_role": True},
    "dcim/device-types": {"u_height": 1.0, "is_full_depth": True},
    "dcim/devices": {"status": "active"},
    "dcim/interface-templates": {"enabled": True},
    "dcim/interfaces": {"enabled": True},
    "dcim/inventory-item-roles": {"color": "9e9e9e"},
    "dcim/inventory-items": {"status": "active"},
    "dcim/locations": {"status": "active"},
    "dcim/module-bays": {"enabled": True},
    "dcim/modules": {"status": "active"},
    "dcim/racks": {"status": "active", "u_height": 42, "starting_unit": 1, "width": 19},
    "dcim/rear-ports": {"positions": 1},
    "dcim/front-ports": {"positions": 1},
    "dcim/sites": {"status": "active"},
    "extras/config-contexts": {"weight": 1000, "is_active": True},
    "extras/custom-fields": {
        "search_weight": 1000, "filter_logic": "loose", "ui_visible": "always", "ui_editable": "yes", "weight": 100,
        "nulls_first": True, "status": "active",
    },
    "extras/custom-links": {"enabled": True, "weight": 100, "button_class": "default"},
    "extras/event-rules": {"enabled": True},
    "extras/export-templates": {"as_attachment": True, "environment_params": {}},
    "extras/journal-entries": {"kind": "info"},
    "extras/tags": {"color": "9e9e9e", "weight": 1000},
    "extras/webhooks": {
        "http_method": "POST", "http_content_type": "application/json", "ssl_verification": True,
    },
    "ipam/ip-addresses": {"status": "active"},
    "users/permissions": {"enabled": True},
    "users/tokens": {"enabled": True, "write_enabled": True, "version": 2},
    "users/users": {"is_active": True, "date_joined": "2026-01-01T00:00:00Z"},
}  # fmt: skip
"""Values of fields that are not given, where that is not the empty one."""

UNIQUE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "dcim/cable-bundles": (("name",),),
    "dcim/device-roles": (("parent", "name"), ("parent", "slug")),
    "dcim/device-types": (("manufacturer", "model"), ("manufacturer", "slug")),
    "dcim/devices": (("site", "tenant", "name"), ("asset_tag",)),
    "dcim/front-ports": (("device", "name"),),
    "dcim/interface-templates": (("device_type", "name"), ("module_type", "name")),
    "dcim/interfaces": (("device", "name"),),
    "dcim/inventory-item-roles": (("name",), ("slug",)),
    "dcim/inventory-items": (("device", "parent", "name"),),
    "dcim/locations": (("site", "parent", "name"), ("site", "parent", "slug")),
    "dcim/manufacturers": (("name",), ("slug",)),
    "dcim/module-bays": (("device", "module", "name"),),
    "dcim/module-type-profiles": (("name",),),
    "dcim/module-types": (("manufacturer", "model"),),
    "dcim/modules": (("module_bay",),),
    "dcim/racks": (("location", "name"),),
    "dcim/rear-ports": (("device", "name"),),
    "dcim/sites": (("name",), ("slug",)),
    "extras/config-contexts": (("name",),),
    "extras/custom-field-choice-sets": (("name",),),
    "extras/custom-fields": (("name",),),
    "extras/custom-links": (("name",),),
    "extras/event-rules": (("name",),),
    "extras/tags": (("name",), ("slug",)),
    "extras/webhooks": (("name",),),
    "tenancy/tenants": (("group", "name"), ("group", "slug")),
    "users/users": (("username",),),
}
"""Fields that no two objects of a list have alike; one that is empty is like none."""

NULLS_ALIKE = {"dcim/devices", "dcim/locations", "dcim/device-roles", "dcim/module-bays", "tenancy/tenants"}
"""Lists in which an empty field of several that are unique together is like another empty one."""

COMPONENTS = (
    "dcim/interfaces", "dcim/front-ports", "dcim/rear-ports", "dcim/module-bays", "dcim/modules",
    "dcim/inventory-items",
    "dcim/interface-templates", "dcim/front-port-templates", "dcim/rear-port-templates", "dcim/module-bay-templates",
)  # fmt: skip
OWNERS = ("device", "device_type", "module_type", "module", "module_bay")
"""Components are deleted with their owner."""

LET_GO = frozenset(
    {"primary_ip4", "primary_ip6", "oob_ip", "primary_mac_address", "virtual_chassis", "role", "bundle"}
)
"""References that are emptied when what they name is deleted; any other keeps it from being deleted."""

PRINTED = {
    "dcim/device-types": "model", "dcim/module-types": "model", "dcim/mac-addresses": "mac_address",
    "ipam/ip-addresses": "address", "users/users": "username",
}  # fmt: skip
"""Fields by which objects are shown, where that is not their name."""

TEMPLATES = {
    "dcim/interface-templates": ("dcim/interfaces", ("name", "label", "type", "enabled", "mgmt_only", "description")),
    "dcim/module-bay-templates": ("dcim/module-bays", ("name", "label", "position", "description", "enabled")),
    "dcim/rear-port-templates": ("dcim/rear-ports", ("name", "label", "type", "color", "positions", "description")),
    "dcim/front-port-templates": ("dcim/front-ports", ("name", "label", "type", "color", "positions", "description")),
}
"""What a device gets from the templates of its type when it is made."""

ORDER = {
    "core/object-changes": ("-time",),
    "dcim/cable-terminations": ("cable", "cable_end", "id"),
    "dcim/cables": ("id",),
    "dcim/device-types": ("manufacturer", "model"),
    "dcim/front-port-templates": ("device_type", "module_type", "name"),
    "dcim/front-ports": ("device", "name"),
    "dcim/interface-templates": ("device_type", "module_type", "name"),
    "dcim/devices": ("name", "id"),
    "dcim/interfaces": ("device", "_name"),
    "dcim/device-roles": ("sort_path",),
    "dcim/locations": ("site", "sort_path"),
    "dcim/mac-addresses": ("mac_address",),
    "dcim/module-bay-templates": ("device_type", "module_type", "name"),
    "dcim/module-bays": ("sort_path",),
    "dcim/module-types": ("profile", "manufacturer", "model"),
    "dcim/modules": ("module_bay",),
    "dcim/platforms": ("sort_path",),
    "dcim/racks": ("site", "location", "name"),
    "dcim/rear-port-templates": ("device_type", "module_type", "name"),
    "dcim/rear-ports": ("device", "name"),
    "dcim/regions": ("sort_path",),
    "dcim/site-groups": ("sort_path",),
    "extras/config-contexts": ("weight", "name"),
    "extras/custom-fields": ("group_name", "weight", "name"),
    "extras/custom-links": ("group_name", "weight", "name"),
    "extras/journal-entries": ("-created",),
    "extras/tags": ("weight", "name"),
    "ipam/ip-addresses": ("address",),
    "tenancy/tenant-groups": ("sort_path",),
    "users/tokens": ("-created",),
    "users/users": ("username",),
}
"""How a list is ordered, where that is not by name; by "sort_path" a tree is, as one reads it from its root."""

PROFILES = ("CPU", "Fan", "GPU", "Hard disk", "Memory", "Power supply", "Expansion card", "Transceiver")
"""Module type profiles that a new NetBox has."""

INTERFACE = re.compile(
    r"(?P<type>[^\d.:]+)?((?P<slot>\d+)/)?((?P<subslot>\d+)/)?((?P<position>\d+)/)?((?P<subposition>\d+)/)?"
    r"(?P<id>\d+)?(:(?P<channel>\d+))?(\.(?P<vc>\d+))?(?P<remainder>.*)"
)


def natural(name: Any) -> tuple[Any, ...]:
    """Return by what a name is ordered: numbers in it as numbers; nothing comes last."""
    if name is None:
        return (1,)
    parts = re.split(r"(\d+)", str(name).lower())
    return (0, tuple(int(part) if at % 2 else part for at, part in enumerate(parts)), str(name))


def interface_order(name: str) -> tuple[Any, ...]:
    """Return by what an interface's name is ordered: slot and position, then what kind it is, then its number."""
    found = INTERFACE.match(name)
    parts = found.groupdict() if found else {}
    places = [int(parts[key]) if parts.get(key) else 9999 for key in ("slot", "subslot", "position", "subposition")]
    numbers = [int(parts[key]) if parts.get(key) else -1 for key in ("id", "channel", "vc")]
    return (*places, parts.get("type") or "", *numbers, natural(parts.get("remainder") or ""))
