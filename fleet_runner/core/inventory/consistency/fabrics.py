"""Names that fabrics have, and so nothing else may have."""

from collections.abc import Iterator

from fleet_runner.core.cabling.fabrics import FABRIC_TYPES, of_domain, watched
from fleet_runner.core.inventory.consistency.draft import Draft, settle
from fleet_runner.core.inventory.consistency.problem import Problem, show
from fleet_runner.core.nvlink.domains import domains


def problems(draft: Draft) -> Iterator[Problem]:
    """Find devices and device types that are called what a fabric is, and fabrics of cables that are called alike."""
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
        if fabric.domain is None and named.setdefault(fabric.name, first) != first:
            text = _alike(named[fabric.name], first, fabric.name)
            yield Problem(places[first]("name"), f"{text}; rename a switch")


def alike(draft: Draft) -> Iterator[Problem]:
    """Find NVLink domains that are called as one before them, at one device of each; those with compute trays first.

    A rack that is a domain may have the name of a domain of other racks, and special characters are replaced.
    """
    places = {found.record.name: found.where for found in draft.devices}
    named: dict[str, str] = {}
    for domain in sorted(domains(settle(draft, "")), key=lambda each: not each.trays):
        fabric = of_domain(domain)
        if named.setdefault(fabric.name, fabric.first) != fabric.first:
            text = _alike(named[fabric.name], fabric.first, fabric.name)
            yield Problem(places[fabric.first]("context"), f"{text}; rename a domain")


def _alike(first: str, second: str, name: str) -> str:
    return f"the fabrics of {show(first)} and {show(second)} would both be {show(name)}"
