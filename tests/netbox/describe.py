"""Reduces a NetBox's OpenAPI description to what this project may ask: tests/netbox/openapi.json.

It holds the lists named here, with reading and bulk writing, the query parameters named here and every field, and no
prose. `python -m tests.netbox.record` writes it.
"""

import json
from pathlib import Path
from typing import Any

Json = Any

HERE = Path(__file__).resolve().parent
DESCRIPTION = HERE / "openapi.json"

PATHS = (
    "core/object-changes", "core/object-types",
    "dcim/cable-bundles", "dcim/cable-terminations", "dcim/cables", "dcim/device-roles", "dcim/device-types",
    "dcim/devices", "dcim/front-port-templates", "dcim/front-ports", "dcim/interface-templates", "dcim/interfaces",
    "dcim/inventory-item-roles", "dcim/inventory-items", "dcim/locations", "dcim/mac-addresses", "dcim/manufacturers",
    "dcim/module-bay-templates", "dcim/module-bays", "dcim/module-type-profiles", "dcim/module-types", "dcim/modules",
    "dcim/platforms", "dcim/racks", "dcim/rear-port-templates", "dcim/rear-ports", "dcim/regions", "dcim/site-groups",
    "dcim/sites", "dcim/virtual-chassis",
    "extras/config-contexts", "extras/custom-field-choice-sets", "extras/custom-fields", "extras/custom-links",
    "extras/event-rules", "extras/export-templates", "extras/journal-entries", "extras/tags", "extras/webhooks",
    "ipam/ip-addresses", "ipam/prefixes", "tenancy/tenant-groups", "tenancy/tenants",
    "users/groups", "users/permissions", "users/tokens", "users/users",
)  # fmt: skip
"""Lists of objects, by their place below /api/."""

PARAMETERS = frozenset(
    """
    id id__n id__gt id__gte id__lt id__lte fields omit brief limit offset start ordering q
    name name__n name__ic name__ie name__isw name__empty slug slug__n status status__n type tag tag_id label
    serial serial__n serial__empty created created__gte created__lte last_updated last_updated__gt last_updated__gte
    last_updated__lte created_by_request updated_by_request modified_by_request
    device device_id device_type device_type_id site site_id location location_id rack rack_id role role_id
    manufacturer manufacturer_id model part_number tenant tenant_id platform platform_id region_id module_id
    module_type_id module_bay_id profile_id group_id parent_id master_id virtual_chassis_id virtual_chassis_member_id
    interface interface_id mac_address address parent assigned assigned_object_id assigned_object_type cabled
    mgmt_only
    cable cable_id cable_end termination_type termination_id bundle_id component_type component_id
    object_type object_type_id object_types choice_set_id choice enabled action_type payload_url event_type
    changed_object_id changed_object_type changed_object_type_id action request_id time_after time_before user user_id
    user_name created_after created_before created_by created_by_id kind username key write_enabled permission_id
    app_label
    """.split()  # noqa: SIM905  a list of a hundred short names is read better so
)
"""Query parameters, of each list that has them."""

METHODS = ("get", "post", "patch", "delete")
DROPPED = ("description", "title", "pattern", "format", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum")


class Reduction:
    """What is left of a description, with the components that it names."""

    def __init__(self, whole: Json) -> None:
        self.whole, self.schemas = whole, whole["components"]["schemas"]
        self.wanted: dict[str, Json] = {}
        self.shown = {self._shown(path) for path in PATHS}

    def paths(self) -> Json:
        """Return the paths with their methods."""
        found = {
            f"/api/{path}/{end}": {
                method: self._operation(operations[method], method) for method in METHODS if method in operations
            }
            for path in PATHS
            for end in ("", "{id}/")
            if (operations := self.whole["paths"].get(f"/api/{path}/{end}"))
        }
        return found | {"/api/status/": {"get": {"parameters": [], "responses": {"200": {}}}}}

    def _operation(self, operation: Json, method: str) -> Json:
        kept: Json = {}
        named = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
        if names := sorted(each["name"] for each in named if each["name"] in PARAMETERS):
            kept["x-query"] = names
        if body := operation.get("requestBody"):
            kept["requestBody"] = {"content": self._content(body, write=True)}
        if method == "get":
            kept["responses"] = {"200": {"content": self._content(operation["responses"]["200"])}}
        return kept

    def _content(self, holder: Json, *, write: bool = False) -> Json:
        found = holder["content"]["application/json"]["schema"]
        return {"application/json": {"schema": self._schema(found, write=write)}}

    def _schema(self, schema: Json, *, write: bool = False) -> Json:
        """Return a schema without its prose; choices become components of their own, as many lists share them."""
        if reference := schema.get("$ref"):
            return self._reference(reference.rpartition("/")[2], write=write)
        if enum := schema.get("x-spec-enum-id"):
            name = f"Choices{enum}"
            labels = [line[2:].split(" - ", 1) for line in schema.get("description", "").splitlines()]
            shown = {one[0].strip("`"): one[1] for one in labels if len(one) > 1}
            self.wanted[name] = {
                "x-choices": {str(each): shown.get(str(each), "") for each in schema["enum"] if each}
            }
            return {"$ref": f"#/components/schemas/{name}"}
        kept = {key: value for key, value in schema.items() if key not in DROPPED}
        for key in ("oneOf", "allOf", "anyOf"):
            if key in kept:
                kept[key] = [self._schema(each, write=write) for each in kept[key]]
        if "items" in kept:
            kept["items"] = self._schema(kept["items"], write=write)
        if "properties" in kept:
            kept["properties"] = {name: self._schema(each, write=write) for name, each in kept["properties"].items()}
            if set(kept["properties"]) == {"value", "label"}:
                return {"x-choice": kept["properties"]["value"]}
        if not write:
            for key in ("required", "readOnly", "maxLength", "minLength"):
                kept.pop(key, None)
        return kept

    def _reference(self, name: str, *, write: bool) -> Json:
        base = name.removeprefix("PatchedBulk").removeprefix("Patched").removeprefix("Writable")
        base = base.removeprefix("Paginated").removesuffix("List") if name.startswith("Paginated") else base
        if name.startswith("Paginated"):
            return {"x-page-of": self._reference(base, write=False)}
        if name.startswith("Patched"):
            return {"x-part-of": self._reference(base, write=True)}
        inner = base.removesuffix("Request").removeprefix("Brief")
        if base.startswith("Brief") and inner not in self.shown:
            return {}  # of a list left out here
        if not write and base not in self.shown and not base.startswith(("Brief", "Nested", "Generic", "Integer")):
            return {}
        if base not in self.wanted:
            self.wanted[base] = {}
            found = self._schema(self.schemas.get(base) or self.schemas[name], write=write)
            self.wanted[base].update(found)
        return {"$ref": f"#/components/schemas/{base}"}

    def _shown(self, path: str) -> str:
        schema = self.whole["paths"][f"/api/{path}/{{id}}/"]["get"]["responses"]["200"]["content"]["application/json"]
        return str(schema["schema"]["$ref"].rpartition("/")[2])


def reduced(whole: Json) -> Json:
    """Return what is left of a NetBox's description."""
    reduction = Reduction(whole)
    paths = reduction.paths()
    return {
        "openapi": whole["openapi"],
        "info": {"title": "NetBox, reduced to what is asked of it", "version": whole["info"]["version"]},
        "paths": paths,
        "components": {"schemas": dict(sorted(reduction.wanted.items()))},
    }


def write(whole: Json) -> int:
    """Write what is left of a NetBox's description, which it answers at /api/schema/; return how many bytes."""
    return DESCRIPTION.write_text(json.dumps(reduced(whole), separators=(",", ":")) + "\n", "utf-8")
