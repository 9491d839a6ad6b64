"""What NetBox knows of its kinds of objects and does not describe: defaults, names, what is unique, what goes with what."""

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
    },
    "extras/custom-links": {"enabled": True, "weight": 100, "button_class": "default"},
    "extras/event-rules": {"enabled": True},
    "extras/export-templates": {"as_attachment": True},
    "extras/journal-entries": {"kind": "info"},
    "extras/tags": {"color": "9e9e9e", "weight": 1000},
    "extras/webhooks": {
        "http_method": "POST", "http_content_type": "application/json", "ssl_verification": True,
    },
    "ipam/ip-addresses": {"status": "active"},
    "users/permissions": {"enabled": True},
    "users/tokens": {"enabled": True, "write_enabled": True, "version": 2},
    "users/users": {"is_active": True},
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
    "dcim/interfaces", "dcim/front-ports", "dcim/rear-ports", "dcim/module-bays", "dcim/modules", "dcim/inventory-items",
    "dcim/interface-templates", "dcim/front-port-templates", "dcim/rear-port-templates", "dcim/module-bay-templates",
)  # fmt: skip
OWNERS = ("device", "device_type", "module_type", "module", "module_bay")
"""Components are deleted with their owner."""

LET_GO = frozenset(
    {"primary_ip4", "primary_ip6", "oob_ip", "primary_mac_address", "virtual_chassis", "master", "role", "bundle"}
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
    "extras/journal-entries": ("-created",),
    "extras/config-contexts": ("weight", "name"),
    "ipam/ip-addresses": ("address", "id"),
    "users/tokens": ("-created",),
}
"""How a list is ordered, where that is not by name."""
