"""Names that must be unique, must exist, or must survive as an Ansible name."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.ansible import group_name, reserved, taken
from fleet_runner.core.inventory.consistency.draft import Draft, Found
from fleet_runner.core.inventory.consistency.problem import Problem, show
from fleet_runner.core.inventory.records import NODE_ROLES, Device, DeviceType, Rack, rack_key

T = TypeVar("T")

ROLES = NODE_ROLES | {
    "console-server", "core", "firewall", "leaf", "management-switch", "nvlink-switch", "patch-panel", "pdu",
    "power-shelf", "router", "spine", "storage",
}  # fmt: skip
"""Device roles that a source without roles of its own has."""

NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""A node's name becomes an Ansible host and part of a path, so it has none of their special characters."""

LISTED = 5  # known names that a problem lists instead of counting them


def problems(draft: Draft) -> Iterator[Problem]:
    """Find names used twice, names that nothing defines, and names that Ansible cannot carry."""
    yield from twice("site", draft.sites, str)
    yield from twice("rack", draft.racks, lambda rack: rack_key(rack.site, rack.name))
    yield from twice("device type", draft.device_types, lambda device_type: device_type.slug)
    yield from twice("device", draft.devices, lambda device: device.name)
    yield from _same_group(draft.device_types)
    sites = {found.record for found in draft.sites}
    for rack in draft.racks:
        yield from _site(rack, sites, "rack")
    for device in draft.devices:
        yield from _site(device, sites, "device")
    yield from _references(draft)
    yield from _shared(draft.devices)


def twice(kind: str, rows: Iterable[Found[T]], key: Callable[[T], str]) -> Iterator[Problem]:
    """Find what has the same name as something before it; both places are named."""
    first: dict[str, Found[T]] = {}
    for found in rows:
        name = key(found.record)
        if name in first:
            text = f"{kind} {show(name)} is already defined at {first[name].where()}; rename or remove one"
            yield Problem(found.where("name"), text)
        else:
            first[name] = found


def unknown(where: str, text: str, name: str, known: Collection[str]) -> Problem:
    """Return the problem of a name that nothing defines."""
    if len(known) > LISTED:
        return Problem(where, f"{text}, expected one of the {len(known)} there are", name, known)
    listed = ", ".join(show(each) for each in sorted(known, key=natural))
    expected = f"expected {listed}" if known else "and none is defined"
    return Problem(where, f"{text}, {expected}", name, known if len(known) > 1 else ())


def _site(found: Found[Rack] | Found[Device], sites: Collection[str], kind: str) -> Iterator[Problem]:
    name, site = found.record.name, found.record.site
    if site not in sites:
        yield unknown(found.where("site"), f"{kind} {show(name)} is in unknown site {show(site)}", site, sites)


def _same_group(types: Iterable[Found[DeviceType]]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for found in types:
        group, slug = group_name("device_type", found.record.slug), found.record.slug
        if first.setdefault(group, slug) != slug:
            text = f"device types {show(first[group])} and {show(slug)} would share group {group}; rename one"
            yield Problem(found.where("slug"), text)


def _references(draft: Draft) -> Iterator[Problem]:
    types = {found.record.slug for found in draft.device_types}
    for device, where in draft.devices:
        slug, role = device.device_type, device.role
        if slug not in types:
            text = f"device {show(device.name)} is of unknown device type {show(slug)}"
            yield unknown(where("device_type"), text, slug, types)
        if role not in draft.roles:
            text = f"device {show(device.name)} has unknown role {show(role)}"
            yield unknown(where("role"), text, role, draft.roles)
        if role in NODE_ROLES and (not NODE_NAME.fullmatch(device.name) or taken(device.name)):
            text = f"node {show(device.name)} cannot be an Ansible host; expected letters, digits, '.', '_' and '-'"
            yield Problem(where("name"), text)
        for key in sorted(filter(reserved, device.context)):
            text = f"device {show(device.name)} sets {show(key)}, which fleet-runner computes; remove it"
            yield Problem(where("context"), text)


def _shared(devices: Iterable[Found[Device]]) -> Iterator[Problem]:
    """Find two nodes with one BMC address, and two interfaces with one GUID: each would answer for the other."""
    bmcs: dict[str, Found[Device]] = {}
    guids: dict[str, str] = {}
    for found in devices:
        device = found.record
        if device.role in NODE_ROLES and device.oob_address:
            other = bmcs.setdefault(device.oob_address, found)
            if other is not found:
                text = f"BMC address {show(device.oob_address)} of {show(device.name)} is also that of"
                yield Problem(found.where("oob_ip"), f"{text} {show(other.record.name)} at {other.where('oob_ip')}")
        for interface in device.interfaces:
            mine = f"{device.name} {interface.name}"
            owner = guids.setdefault(interface.guid, mine) if interface.guid else mine
            if owner != mine:
                text = f"GUID {interface.guid} of {show(mine)} is also that of {show(owner)}; correct one"
                yield Problem(found.where(f"interfaces.{interface.name}"), text)
