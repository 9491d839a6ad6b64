"""What is missing in a NetBox, and what differs there, for it to say what a folder of site files says."""

from collections.abc import Iterator

from fleet_runner.core.inventory.netbox.push import cables, devices, racks
from fleet_runner.core.inventory.netbox.push.step import Kind, Known, Plan, Step
from fleet_runner.core.inventory.records import Fleet

__all__ = ["Kind", "Known", "Plan", "Step", "plan"]

ORDER = {kind: at for at, kind in enumerate(Kind)}


def plan(wanted: Fleet, has: Fleet, known: Known) -> Plan:
    """Plan what makes a NetBox say what `wanted` says.

    `has` is what it says now, with all its device types. Nothing is ever taken out: neither an object that `wanted`
    lacks nor a value that it leaves empty.
    """
    laid = cables.plan(wanted, has, devices.elsewhere(wanted, has), known)
    stand = devices.plan(wanted, has)
    steps = [*racks.steps(wanted, has, known), *stand.steps, *laid.steps]
    return Plan(
        tuple(sorted((*_named(steps, known), *steps), key=lambda step: ORDER[step.kind])),
        (*stand.conflicts, *laid.conflicts),
        (*stand.notes, *laid.notes),
    )


def _named(steps: list[Step], known: Known) -> Iterator[Step]:
    """Return the tenants, roles and manufacturers that steps name and NetBox lacks."""
    for kind, owner, field, there in (
        (Kind.TENANT, Kind.DEVICE, "tenant", known.tenants),
        (Kind.ROLE, Kind.DEVICE, "role", known.roles),
        (Kind.MANUFACTURER, Kind.TYPE, "manufacturer", known.manufacturers),
        (Kind.PART_ROLE, Kind.PART, "kind", known.part_roles),
    ):
        names = {step.values[field] for step in steps if step.kind is owner and field in step.values}
        for name in sorted(names - there):
            yield Step(kind, (name,), {})
