"""The designed fabric, from the plain form that plays carry (`core.inventory.fabric`)."""

from collections.abc import Callable, Mapping
from typing import Any

from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.records import NODE_ROLES

INFINIBAND = "infiniband"
ROW = 5
"""Cells of a designed link: device, port, device, port, type."""


def designed(fabric: Mapping[str, Any], wanted: Callable[[str], bool]) -> tuple[Link, ...]:
    """Return the designed links whose interface type is wanted ("infiniband-ndr")."""
    rows = fabric.get("links", ())
    wrong = next((row for row in rows if not _row(row)), None) if isinstance(rows, list | tuple) else rows
    if wrong is not None:
        raise EvidenceError(f"designed links: found {wrong!r:.60}, expected rows of device, port, device, port, type")
    return tuple(link(Port(a, ai), Port(b, bi)) for a, ai, b, bi, kind in rows if wanted(kind))


def _row(row: object) -> bool:
    return isinstance(row, list | tuple) and len(row) == ROW and all(isinstance(cell, str) for cell in row)


def infiniband(kind: str) -> bool:
    """Whether an interface type is InfiniBand's."""
    return kind.startswith(INFINIBAND)


def places(fabric: Mapping[str, Any]) -> Places:
    """Return where devices stand."""
    devices: Mapping[str, Mapping[str, Any]] = fabric.get("devices", {})
    return Places(
        {name: _words(device) for name, device in devices.items()},
        {
            name: f"{device.get('site')}/{device.get('rack')}"
            for name, device in devices.items()
            if device.get("rack")
        },
        frozenset(name for name, device in devices.items() if device.get("role") in NODE_ROLES),
    )


def guids(fabric: Mapping[str, Any]) -> dict[str, Port]:
    """Return the port of each GUID that the source of truth knows."""
    return {
        str(guid).lower(): Port(name, interface)
        for name, device in fabric.get("devices", {}).items()
        for interface, guid in device.get("guids", {}).items()
    }


def _words(device: Mapping[str, Any]) -> str:
    unit = device.get("unit")
    rack = f"rack {device['rack']}" if device.get("rack") else "rack unknown"
    return f"{device.get('site')} {rack} {f'U{unit:g}' if isinstance(unit, int | float) else 'U unknown'}"
