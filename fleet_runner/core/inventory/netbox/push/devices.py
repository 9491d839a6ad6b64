"""Devices, their interfaces, addresses and parts that a NetBox lacks, or has otherwise."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fleet_runner.core.inventory.netbox.push.step import Kind, Plan, Step, changed, written
from fleet_runner.core.inventory.records import Device, Fleet, Interface, Management

DEVICE_FIELDS = (
    "device_type", "role", "rack", "position", "face", "status", "serial", "tenant", "management",
)  # fmt: skip
INTERFACE_FIELDS = ("kind", "guid", "mgmt_only")
PART_FIELDS = ("kind", "model", "serial")


def plan(wanted: Fleet, has: Fleet) -> Plan:
    """Plan every device with what is in it; one at another site, or that cannot be read, stays as it is."""
    steps: list[Step] = []
    conflicts: list[str] = []
    for device in wanted.devices.values():
        there = has.devices.get(device.name)
        if device.name in has.unread:
            conflicts.append(_unread(device, has.unread[device.name]))
            continue
        if there is not None and there.site != device.site:
            conflicts.append(_elsewhere(device, there))
            continue
        steps.extend(_device(device, there))
        steps.extend(_interfaces(device, _given(device, there, wanted, has)))
        steps.extend(_parts(device, there))
        for each in _addresses(device, there):
            if isinstance(each, Step):
                steps.append(each)
            else:
                conflicts.append(each)
    return Plan(tuple(steps), tuple(conflicts))


def elsewhere(wanted: Fleet, has: Fleet) -> frozenset[str]:
    """Return the devices that NetBox has at another site, or in a record that cannot be used."""
    there = has.devices
    return frozenset(wanted.devices.keys() & has.unread.keys()) | frozenset(
        name for name, device in wanted.devices.items() if name in there and there[name].site != device.site
    )


def _elsewhere(wanted: Device, has: Device) -> str:
    text = f"device {wanted.name} is in site {has.site} in NetBox, expected {wanted.site} as in the folder"
    return f"{text}; if it is the same device, move it in NetBox, else rename one (nothing of it is written)"


def _unread(wanted: Device, why: str) -> str:
    return f"device {wanted.name}: NetBox's record of it cannot be used ({why}); nothing of it is written"


def covered(wanted: Any, has: Any) -> bool:
    """Whether a config context says all that is wanted; what it says beside that does not matter."""
    if isinstance(wanted, Mapping) and isinstance(has, Mapping):
        return all(key in has and covered(value, has[key]) for key, value in wanted.items())
    return type(wanted) is type(has) and bool(wanted == has)


def _device(wanted: Device, has: Device | None) -> Iterator[Step]:
    key = (wanted.name,)
    if has is None:
        values = {"site": wanted.site, **written(wanted, DEVICE_FIELDS)}
        if wanted.management is Management.FULL:
            del values["management"]  # as NetBox has it where nobody says anything
        if wanted.context:
            values["context"] = wanted.context
        yield Step(Kind.DEVICE, key, _faced(values, ""), site=wanted.site)
        return
    new, old = map(dict, changed(wanted, has, DEVICE_FIELDS))
    context = {name: value for name, value in wanted.context.items() if not covered({name: value}, has.context)}
    if context:
        new["context"], old["context"] = context, {name: has.context.get(name) for name in context}
    if new:
        yield Step(Kind.DEVICE, key, _faced(new, has.face), old, site=wanted.site)


def _faced(values: dict[str, Any], face: str) -> dict[str, Any]:
    """Add the face that NetBox wants beside a position, where neither side names one."""
    return {**values, "face": "front"} if "position" in values and not (values.get("face") or face) else values


def _given(wanted: Device, has: Device | None, fleet: Fleet, there: Fleet) -> dict[str, Interface]:
    """Return the interfaces a device has before any is written: a new one has its type's, made by NetBox."""
    if has is not None:
        return {interface.name: interface for interface in has.interfaces}
    mine, its = fleet.device_types[wanted.device_type], there.device_types.get(wanted.device_type)
    templates = (*(its.interfaces if its else ()), *mine.interfaces)
    return {template.name: replace(template, mac=None, guid=None) for template in templates}


def _interfaces(wanted: Device, there: Mapping[str, Interface]) -> Iterator[Step]:
    for interface in wanted.interfaces:
        key, before = (wanted.name, interface.name), there.get(interface.name)
        if before is None:
            yield Step(Kind.INTERFACE, key, written(interface, INTERFACE_FIELDS))
        else:
            new, old = changed(interface, before, INTERFACE_FIELDS)
            if new:
                yield Step(Kind.INTERFACE, key, new, old)
        had = before.mac if before else None
        if interface.mac and interface.mac != had:
            yield Step(Kind.MAC, key, {"mac": interface.mac}, {"mac": had} if had else None)


def _parts(wanted: Device, has: Device | None) -> Iterator[Step]:
    there = {part.slot: part for part in has.parts} if has else {}
    for part in wanted.parts:
        key = (wanted.name, part.slot)
        if part.slot not in there:
            yield Step(Kind.PART, key, written(part, PART_FIELDS))
            continue
        new, old = changed(part, there[part.slot], PART_FIELDS)
        if new:
            yield Step(Kind.PART, key, new, old)


def _addresses(wanted: Device, has: Device | None) -> Iterator[Step | str]:
    """Return the addresses that are to be set, each with the interface that it is assigned to."""
    for use, interface in (("oob", out_of_band(wanted)), ("primary", primary(wanted))):
        field = f"{use}_address"
        address, had = getattr(wanted, field), getattr(has, field, None)
        if not address or address == had:
            continue
        if interface is None:
            yield f"device {wanted.name}: found no interface for its address {address}; add one"
        elif use == "primary" and had and (":" in had) != (":" in address):
            text = f"device {wanted.name}: its primary address is {had} in NetBox, which shows one of two families"
            yield f"{text}; empty it there, then push {address}"
        else:
            values = {"address": address, "interface": interface.name}
            yield Step(Kind.ADDRESS, (wanted.name, use), values, {"address": had} if had else None)


def out_of_band(device: Device) -> Interface | None:
    """Return the interface that the BMC's address is assigned to: the first that is only for management."""
    return next((each for each in device.interfaces if each.mgmt_only), primary(device))


def primary(device: Device) -> Interface | None:
    """Return the interface that the primary address is assigned to: Ethernet, and one with a MAC address first."""

    def rank(interface: Interface) -> tuple[bool, bool, bool]:
        return interface.mgmt_only, interface.kind.startswith("infiniband"), interface.mac is None

    return min(device.interfaces, key=rank, default=None)
