"""What nvidia-smi's XML says of a GPU's place in the NVLink fabric."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import told

NO_CLUSTER = "00000000-0000-0000-0000-000000000000"

MOST_WORDS = 32
"""Of a fabric's health; drivers know seven."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """How far the GPU came in joining its fabric, and how the fabric is; None where the tool does not tell.

    `state` is "Completed" once it has tried, `status` then says "Success" or why not. `clique` and `cluster` are the
    partition of a rack that it belongs to; within one baseboard they are 0 and NO_CLUSTER. `health` holds what newer
    drivers say: ("summary", "Healthy"), ("bandwidth", "Full"), ("route_unhealthy", "False") and the like.
    """

    state: str | None
    status: str | None
    clique: str | None
    cluster: str | None
    health: tuple[tuple[str, str], ...]


def read(element: ET.Element) -> Fabric:
    """Read a GPU's fabric, whatever the case of its names: drivers differ."""
    found = {child.tag.lower(): child for child in element.findall("fabric/*")}
    health = found.get("health")
    said = [(child.tag.lower(), _words(child)) for child in health] if health is not None else []
    return Fabric(
        state=_words(found.get("state")),
        status=_words(found.get("status")),
        clique=_words(found.get("cliqueid")),
        cluster=_words(found.get("clusteruuid")),
        health=tuple((name, value) for name, value in said[:MOST_WORDS] if value is not None),
    )


def _words(element: ET.Element | None) -> str | None:
    found = told(element.text) if element is not None else None
    return found[:80] if found is not None else None
