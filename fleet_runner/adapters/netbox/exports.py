"""Export templates: a whole list in one request, rendered by NetBox from what `netbox init` keeps there."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

NAME = "fleet-runner"
"""What every template is called in NetBox; each belongs to one object type."""


@dataclass(frozen=True, slots=True)
class Template:
    """An export template as NetBox keeps it. `version` is in what it renders: an older one is noticed."""

    name: str
    code: str
    version: str


def _template(object_type: str) -> Template:
    folder = files("fleet_runner.adapters.netbox") / "templates"
    code = (folder / f"{object_type.removeprefix('dcim.')}.j2").read_text("utf-8")
    version = sha256(code.encode()).hexdigest()[:12]
    return Template(NAME, code.replace("@VERSION@", version), version)


OBJECT_TYPES = (
    "dcim.site",
    "dcim.rack",
    "dcim.devicetype",
    "dcim.device",
    "dcim.interface",
    "dcim.inventoryitem",
    "dcim.module",
    "dcim.cable",
    "dcim.frontport",
    "dcim.rearport",
)
"""What is read, as NetBox names the types of its objects."""

TEMPLATES: Mapping[str, Template] = {object_type: _template(object_type) for object_type in OBJECT_TYPES}
"""By object type; the MIME type of each is application/json, and none is an attachment."""
