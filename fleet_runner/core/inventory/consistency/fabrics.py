"""Names that fabrics have, and so nothing else may have."""

from collections.abc import Iterator

from fleet_runner.core.cabling.fabrics import FABRIC_TYPES, watched
from fleet_runner.core.inventory.consistency.draft import Draft, settle
from fleet_runner.core.inventory.consistency.problem import Problem, show


def problems(draft: Draft) -> Iterator[Problem]:
    """Find devices and device types that are called what a fabric is, and fabrics that are called alike."""
    for found in draft.device_types:
        if found.record.slug in FABRIC_TYPES:
            text = f"device type {show(found.record.slug)} is what fleet-runner calls its own fabrics; rename it"
            yield Problem(found.where("slug"), text)
    places = {found.record.name: found.where for found in draft.devices}
    named: dict[str, str] = {}
    for fabric in watched(settle(draft, "")):
        first = fabric.first
        if fabric.name in places:
            text = f"device {show(fabric.name)} is called like the fabric of {show(first)}; rename it"
            yield Problem(places[fabric.name]("name"), text)
        if named.setdefault(fabric.name, first) != first:
            text = f"the fabrics of {show(named[fabric.name])} and {show(first)} would both be {show(fabric.name)}"
            yield Problem(
                places[first]("name"), f"{text}; rename {'a switch' if fabric.domain is None else 'a domain'}"
            )
