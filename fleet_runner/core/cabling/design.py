"""The designed fabric, from the plain form that plays carry (`core.inventory.ansible.fabric`)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.lanes import shared
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.inventory.records import NODE_ROLES

INFINIBAND = "infiniband"
ROW = 6
"""Cells of a designed link: device, port, device, port, type, and the list of its carriers."""


def designed(fabric: Mapping[str, Any], wanted: Callable[[str], bool]) -> tuple[Link, ...]:
    """Return the designed links whose interface type is wanted ("infiniband-ndr")."""
    return tuple(joined for joined, kind, _ in _rows(fabric) if wanted(kind))


def _rows(fabric: Mapping[str, Any]) -> Iterator[tuple[Link, str, tuple[str, ...]]]:
    rows = fabric.get("links", ())
    wrong = next((row for row in rows if not _row(row)), None) if isinstance(rows, list | tuple) else rows
    if wrong is not None:
        text = "expected rows of device, port, device, port, type, carriers; write the designed links again"
        raise EvidenceError(f"designed links: found {wrong!r:.60}, {text}")
    for a, ai, b, bi, kind, carriers in rows:
        yield link(Port(a, ai), Port(b, bi)), kind, tuple(carriers)


def _row(row: object) -> bool:
    if not isinstance(row, list | tuple) or len(row) != ROW:
        return False
    *texts, carriers = row
    return isinstance(carriers, list | tuple) and all(isinstance(cell, str) for cell in (*texts, *carriers))


def planned(fabric: Mapping[str, Any]) -> frozenset[Link]:
    """Return the designed links whose cables are still to be put in place."""
    return frozenset(link(Port(a, ai), Port(b, bi)) for a, ai, b, bi in fabric.get("planned", ()))


def managed(fabric: Mapping[str, Any]) -> frozenset[Port]:
    """Return the ports that belong to BMCs and the like: their device's own system does not see them."""
    return frozenset(Port(device, interface) for device, interface in fabric.get("managed", ()))


def infiniband(kind: str) -> bool:
    """Whether an interface type is InfiniBand's."""
    return kind.startswith(INFINIBAND)


def places(fabric: Mapping[str, Any]) -> Places:
    """Return where devices stand, what each link shares with others on its way, and what InfiniBand it is."""
    devices: Mapping[str, Mapping[str, Any]] = fabric.get("devices", {})
    rows = tuple(_rows(fabric))
    return Places(
        {name: _words(device) for name, device in devices.items()},
        {
            name: f"{device.get('site')}/{device.get('rack')}"
            for name, device in devices.items()
            if device.get("rack")
        },
        frozenset(name for name, device in devices.items() if device.get("role") in NODE_ROLES),
        {joined: carriers for joined, _, carriers in rows if carriers},
        {joined: kind for joined, kind, _ in rows if infiniband(kind)},
        frozenset(Port(device, interface) for device, interface in fabric.get("uncompared", ())),
        shared(joined for joined, _, _ in rows),
    )


def guids(fabric: Mapping[str, Any]) -> dict[str, Port]:
    """Return the port of each GUID that the source of truth knows."""
    return {
        str(guid).lower(): Port(name, interface)
        for name, device in fabric.get("devices", {}).items()
        for interface, guid in device.get("guids", {}).items()
    }


def macs(fabric: Mapping[str, Any]) -> dict[str, Port]:
    """Return the port of each MAC address that the source of truth gives to one port; bonded ports share theirs."""
    rows = [
        (str(mac).lower(), Port(name, interface))
        for name, device in fabric.get("devices", {}).items()
        for interface, mac in device.get("macs", {}).items()
    ]
    count = Counter(mac for mac, _ in rows)
    return {mac: port for mac, port in rows if count[mac] == 1}


def _words(device: Mapping[str, Any]) -> str:
    unit = device.get("unit")
    rack = f"rack {device['rack']}" if device.get("rack") else "rack unknown"
    return f"{device.get('site')} {rack} {f'U{unit:g}' if isinstance(unit, int | float) else 'U unknown'}"
