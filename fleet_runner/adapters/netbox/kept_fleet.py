"""The fleet that was made of kept rows, in a file beside theirs: as long as they stay, nobody makes it again.

What it is good for is in its head: rows with one sum, of one NetBox, made into records and checked by the same code.
"""

import json
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import fleet_runner
from fleet_runner.adapters.netbox.cache import UnusableError, read, uncollected, write
from fleet_runner.core.inventory.records import (
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Management,
    Part,
    Rack,
    Termination,
)

CODE = ("adapters/netbox", "core/base", "core/cabling", "core/inventory", "core/nvlink")
"""What makes records of rows, and checks them."""


def beside(rows: Path) -> Path:
    """Return the file for the fleet of a file's rows."""
    return rows.with_suffix(".fleet")


@cache
def form() -> str:
    """Return what tells a file that other code made and checked: versions do not tell what somebody corrected."""
    package, found = Path(fleet_runner.__file__).parent, sha256()
    for folder in CODE:
        for file in sorted((package / folder).rglob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()


def load(file: Path, of: str) -> Fleet | None:
    """Return the fleet that was made of some rows, or nothing where none is kept that can be used."""
    try:
        _, body = read(file, form(), of)
        with uncollected():
            return _fleet(json.loads(body))
    except (OSError, UnusableError, AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None  # it is made again


def save(file: Path, of: str, fleet: Fleet) -> None:
    """Keep the fleet that was made of some rows."""
    body = json.dumps(fleet, default=lambda record: [getattr(record, name) for name in record.__slots__])
    write(file, {"form": form(), "of": of}, body.encode())


def _fleet(said: list[Any]) -> Fleet:
    port = cache(Interface)  # those of switches are all the same

    def ports(rows: Iterable[list[Any]]) -> tuple[Interface, ...]:
        return tuple(port(*row) for row in rows)

    def device(row: list[Any]) -> Device:
        *most, management, inside, parts, context, face = row
        found = tuple(Part(*part) for part in parts)
        return Device(*[*most, Management(management), ports(inside), found, context, face])

    def device_type(row: list[Any]) -> DeviceType:
        *most, inside, full_depth = row
        return DeviceType(*[*most, ports(inside), full_depth])

    sites, racks, types, devices, cables, revision, notes, unread, uncompared, _ = said
    return Fleet(
        tuple(sites),
        {key: Rack(*row) for key, row in racks.items()},
        {slug: device_type(row) for slug, row in types.items()},
        {name: device(row) for name, row in devices.items()},
        tuple(
            Cable(Termination(*a), Termination(*b), label, kind, tuple(carriers), *rest)
            for a, b, label, kind, carriers, *rest in cables
        ),
        revision,
        tuple(notes),
        unread,
        tuple(Termination(*port) for port in uncompared),
    )
