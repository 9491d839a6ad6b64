"""The fleet as Ansible sees it: groups, host variables, and the designed fabric; all plain JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fleet_runner.core.cabling.exempt import READY
from fleet_runner.core.cabling.fabrics import ETHERNET, INFINIBAND, Fabric, watched
from fleet_runner.core.cabling.rates import lower
from fleet_runner.core.inventory.bmc_address import Network, refusal
from fleet_runner.core.inventory.records import PLANNED, Device, Fleet, Interface, Part, Termination, nodes, rack_key

CONTEXT_MAY_SET = frozenset({"fleet_bmc_protocol", "fleet_bmc_url", "fleet_cooling", "fleet_environment"})
"""The only `fleet_` variables that a config context owns; the others are computed, and it cannot replace them."""

PROTOCOL, REDFISH, IPMI = "fleet_bmc_protocol", "redfish", "ipmi"
"""How a BMC is asked: IPMI is only for those that a config context names, such as one of an old device type."""

GROUPS = ("condition_", "device_type_", "location_", "rack_", "role_", "site_", "state_", "tenant_")
"""How the inventory's groups begin."""

TAKEN = frozenset({"all", "fabrics", "localhost", "nodes", "ungrouped"})
"""Names that Ansible or the inventory give another meaning."""

TOLD_BY_FILES = frozenset({"pxe_boot_settings", "pxe_boot_told_url"})
"""Variables of roles that say where a secret of the boot service goes: no config context of a NetBox sets them."""

OF_PAGES = frozenset({
    "ansible_become", "ansible_become_method", "ansible_become_user", "ansible_host", "ansible_network_os",
    "ansible_port", "ansible_python_interpreter", "ansible_shell_type", "ansible_user",
})  # fmt: skip
"""Ansible's own variables that a config context of a NetBox may set; others choose what runs on the controller."""

_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9./:_-]{0,200}", re.ASCII)

OBSERVERS = 3
"""Nodes that a fabric is read through, one after the other, until one can."""

VIEW = 3
"""Number of the form of what `view` returns: whoever keeps it names this, too."""

FORM = 3
"""Number of the form of what `fabric` returns: whoever keeps it by revision names this, too."""

Links = Mapping[str, Sequence[Mapping[str, str]]]
"""Designed links by device; each is one entry of `fleet_device["links"]`."""


def group_name(kind: str, value: str) -> str:
    """Return the group of one site, rack, role or device type: "rack", "A-03" gives "rack_A_03"."""
    return plain(f"{kind}_{value}")


def plain(name: str) -> str:
    """Return a group's name without what means something in a host pattern."""
    return re.sub("[^A-Za-z0-9_]", "_", name)


def view(fleet: Fleet, bmc_networks: Sequence[Network] = ()) -> dict[str, Any]:
    """Return all of the inventory that comes from the source: {"hosts": {name: variables}, "groups": {name: hosts}}.

    Fabrics are hosts without an address: they are read through the nodes or switches in them. A switch or the like
    whose name is taken is left out: as a host it would be in the way of everything, or everything delegated to
    localhost go there.
    """
    found = fabric_hostvars(fleet)
    return {
        "hosts": {**found, **all_hostvars(fleet, bmc_networks)},
        "groups": {**groups(fleet), "fabrics": list(found)},
    }


def standing_groups(members: Iterable[str], rows: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the groups by state and condition of those that are `members`: "state_production", "condition_held".

    `rows` are the store's: node, "state" or "condition", and which. Of a node that the source no longer has, none.
    """
    known, found = frozenset(members), dict[str, list[str]]()
    for node, kind, value in rows:
        if node in known:
            found.setdefault(group_name(kind, value), []).append(node)
    return found


def disarm(hosts: Mapping[str, dict[str, Any]]) -> list[str]:
    """Take out of host variables what only people who write files on the controller may set; return their names.

    Whoever may edit a device's page may set its config context: "ansible_connection: local" in it is a command here.
    """
    lost: set[str] = set()
    for variables in hosts.values():
        for name in [name for name in variables if name.startswith("ansible_") or name in TOLD_BY_FILES]:
            if name not in OF_PAGES or not _PLAIN.fullmatch(str(variables[name])):
                del variables[name]
                lost.add(name)
    return sorted(lost)


def taken(name: str) -> bool:
    """Whether Ansible or the inventory gives a name another meaning: `--limit rack_A03` must never be a node."""
    return name in TAKEN or name.startswith(GROUPS)


def reserved(name: str) -> bool:
    """Whether a variable of this name is fleet-runner's own, so that a config context cannot set it."""
    return name.startswith("fleet_") and name not in CONTEXT_MAY_SET


def groups(fleet: Fleet) -> dict[str, list[str]]:
    """Return the devices of each group, by name; `nodes` holds those with a lifecycle and is always there."""
    found: dict[str, list[str]] = {"nodes": [device.name for device in nodes(fleet)]}
    for name in _hosts(fleet):
        for group in _groups_of(fleet, fleet.devices[name]):
            found.setdefault(group, []).append(name)
    return found


def links(fleet: Fleet) -> dict[str, list[dict[str, str]]]:
    """Return every device's designed links, each seen from that device.

    Shape: {device: [{"interface": its own, "far_device", "far_interface", "far_place", "kind", "label"}]}.
    """
    found: dict[str, list[dict[str, str]]] = {}
    places: dict[str, str] = {}
    for cable in fleet.cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            place = places.get(far.device) or places.setdefault(far.device, fleet.place(far.device))
            entry = {**_link(near, far), "far_place": place, "kind": cable.kind, "label": cable.label}
            found.setdefault(near.device, []).append(entry)
    return found


def hostvars(
    fleet: Fleet, device: Device, known_links: Links | None = None, bmc_networks: Sequence[Network] = ()
) -> dict[str, Any]:
    """Return a device's host variables.

    `known_links` is what `links(fleet)` returns; whoever asks for many devices computes it once. A BMC that may not
    be asked where the source has it is left out, and `fleet_bmc_refused` says why.
    """
    seen = links(fleet) if known_links is None else known_links
    variables: dict[str, Any] = {}
    if device.primary_address:
        variables["ansible_host"] = device.primary_address.partition("/")[0]
    protocol = device.context.get(PROTOCOL, REDFISH)
    if device.oob_address:
        variables["fleet_bmc_url"] = bmc_url(device.oob_address, "ipmi" if protocol == IPMI else "https")
    variables |= {name: value for name, value in device.context.items() if not reserved(name)}
    url = str(variables.get("fleet_bmc_url") or "")
    if url and protocol not in (REDFISH, IPMI):
        del variables["fleet_bmc_url"]
        variables["fleet_bmc_refused"] = f"{device.name}: {PROTOCOL} is {protocol!r}, expected {REDFISH} or {IPMI}"
    elif url and (why := refusal(device.name, url, device.oob_address, bmc_networks)):
        del variables["fleet_bmc_url"]
        variables["fleet_bmc_refused"] = why
    variables["fleet_device"] = _record(fleet, device, seen.get(device.name, ()))
    return variables


def all_hostvars(fleet: Fleet, bmc_networks: Sequence[Network] = ()) -> dict[str, dict[str, Any]]:
    """Return the host variables of every device that can be a host, by name."""
    seen = links(fleet)
    return {name: hostvars(fleet, fleet.devices[name], seen, bmc_networks) for name in _hosts(fleet)}


def fabric(fleet: Fleet) -> dict[str, Any]:
    """Return every designed link and where its ends stand.

    Shape: {"links": [[device, interface, device, interface, kind, carriers]], "devices": {name: {"site", "rack",
    "unit", "role", "device_type", "serial", "status", "guids": {interface: guid}, "macs": {interface: mac}}}}; `unit`
    is None where the source does not know it, `kind` the interface type of the slower end ("infiniband-ndr"), ""
    where unknown, `carriers` the list of the cable's carriers. "managed" are ports with a cable that their device's
    own system does not see, such as BMCs'. "uncompared", where there are any, are ports of which nobody says what
    belongs there.
    """
    kinds = {
        (device.name, interface.name): interface.kind
        for device in fleet.devices.values()
        for interface in device.interfaces
    }
    plugged = {end for cable in fleet.cables for end in (cable.a, cable.b)}
    managed = {
        Termination(device.name, port.name)
        for device in fleet.devices.values()
        for port in device.interfaces
        if port.mgmt_only
    }
    unsure = {"uncompared": [list(port) for port in fleet.uncompared]} if fleet.uncompared else {}
    return unsure | {
        "links": [
            [*cable.a, *cable.b, lower(kinds.get(cable.a, ""), kinds.get(cable.b, "")), list(cable.carriers)]
            for cable in fleet.cables
        ],
        "managed": [list(port) for port in sorted(plugged & managed)],
        "planned": [[*cable.a, *cable.b] for cable in fleet.cables if cable.status == PLANNED],
        "devices": {name: _fabric_device(fleet.devices[name]) for name in sorted(fleet.devices)},
    }


def fabric_hostvars(fleet: Fleet) -> dict[str, dict[str, Any]]:
    """Return the host variables of every fabric, by name: what it is, and which nodes' ports or switches tell."""
    return {each.name: _fabric_vars(fleet, each) for each in watched(fleet)}


def bmc_url(address: str, scheme: str = "https") -> str:
    """Return the BMC's URL for an out-of-band address, with or without its mask."""
    bare = address.partition("/")[0]
    return f"{scheme}://[{bare}]" if ":" in bare else f"{scheme}://{bare}"


def _hosts(fleet: Fleet) -> list[str]:
    return sorted(name for name in fleet.devices if not taken(name))


def _groups_of(fleet: Fleet, device: Device) -> list[str]:
    named = {
        "device_type": device.device_type,
        "site": device.site,
        "location": _location(fleet, device),
        "rack": device.rack,
        "role": device.role,
        "tenant": device.tenant,
    }
    return [group_name(kind, value) for kind, value in named.items() if value]


def _location(fleet: Fleet, device: Device) -> str | None:
    rack = fleet.racks.get(rack_key(device.site, device.rack)) if device.rack else None
    return rack.location if rack is not None else None


def _link(near: Termination, far: Termination) -> dict[str, str]:
    return {"interface": near.interface, "far_device": far.device, "far_interface": far.interface}


def _record(fleet: Fleet, device: Device, seen: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {
        "name": device.name,
        "device_type": device.device_type,
        "role": device.role,
        "site": device.site,
        "location": _location(fleet, device),
        "rack": device.rack,
        "position": device.position,
        "face": device.face,
        "place": fleet.place(device.name),
        "status": device.status,
        "serial": device.serial,
        "oob_address": device.oob_address,
        "primary_address": device.primary_address,
        "tenant": device.tenant,
        "management": device.management.value,
        "interfaces": [_interface(interface) for interface in device.interfaces],
        "parts": [_part(part) for part in device.parts],
        "links": [dict(link) for link in seen],
    }


def _fabric_vars(fleet: Fleet, fabric: Fabric) -> dict[str, Any]:
    record = fabric.record
    device = {"name": record.name, "role": record.role, "device_type": record.device_type, "site": record.site}
    first: dict[str, str] = {}
    for port in fabric.ports:
        first.setdefault(port.device, port.interface)
    ready = sorted(first, key=lambda node: (fleet.devices[node].status not in READY, node))
    through = [[node, first[node]] for node in (ready[:OBSERVERS] if fabric.kind == INFINIBAND else first)]
    return {
        "fleet_device": {**device, "kind": fabric.kind, "switches": sorted(fabric.switches), **_domain_vars(fabric)},
        "fleet_observers": [[name, ""] for name in sorted(fabric.asked)] if fabric.kind == ETHERNET else through,
    }


def _domain_vars(fabric: Fabric) -> dict[str, Any]:
    """Return the design of an NVLink domain as its check takes it (`core.checks.catalogue.fabric_nvlink`)."""
    domain = fabric.domain
    if domain is None:
        return {}
    return {
        "trays": list(domain.trays),
        "partitions": dict(domain.partitions),
        "nvlinks": {name: sorted(links) for name, links in domain.links.items()},
        "gaps": list(domain.gaps),
    }


def _interface(interface: Interface) -> dict[str, Any]:
    return {
        "name": interface.name,
        "kind": interface.kind,
        "mac": interface.mac,
        "guid": interface.guid,
        "mgmt_only": interface.mgmt_only,
    }


def _part(part: Part) -> dict[str, str | None]:
    return {"slot": part.slot, "kind": part.kind, "model": part.model, "serial": part.serial}


def _fabric_device(device: Device) -> dict[str, Any]:
    return {
        "site": device.site,
        "rack": device.rack,
        "unit": device.position,
        "role": device.role,
        "device_type": device.device_type,
        "serial": device.serial,
        "status": device.status,
        "guids": {interface.name: interface.guid for interface in device.interfaces if interface.guid},
        "macs": {interface.name: interface.mac for interface in device.interfaces if interface.mac},
    }
