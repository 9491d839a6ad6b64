"""A node's firmware as its newest check found it, beside the versions that the catalogue accepts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.firmware import inventory
from fleet_runner.core.firmware.catalogue import Catalogue
from fleet_runner.core.firmware.matching import match, numbered

NAME = "firmware_pins"

DRIFT, AS_PINNED, ANOTHER, NOT_KNOWN = "drift", "as pinned", "another version, not counted as wrong", "not known"


class Pinned(NamedTuple):
    """One component: the inventory's entry, the catalogue's name of it, what was found, what is accepted, and which.

    `pins` is empty where the catalogue, or the inventory as it was read, is not known.
    """

    entry: str
    name: str
    found: str
    pins: tuple[str, ...]
    stand: str


def pinned(
    result: Result, catalogue: Catalogue | None, bodies: Mapping[str, Mapping[str, Any]]
) -> tuple[Pinned, ...]:
    """Return every component that a check saw; `bodies` is the inventory that it read, empty where that is gone.

    What drifts is what the check said; so a catalogue that was changed since shows as another version.
    """
    drifted = {finding.component for finding in result.findings}
    rows: dict[str, Pinned] = {}
    if catalogue is not None and bodies:
        for row, mine in match(catalogue, inventory.entries(bodies)).rows:
            for entry in mine:
                stand = _stand(entry.id, entry.version, row.accepted, drifted)
                rows[entry.id] = Pinned(entry.id, row.name, entry.version, row.accepted, stand)
    versions = result.observed.get("versions")
    for entry_id, version in versions.items() if isinstance(versions, Mapping) else ():
        if entry_id not in rows:
            stand = DRIFT if entry_id in drifted else NOT_KNOWN
            rows[entry_id] = Pinned(str(entry_id), "", str(version or ""), (), stand)
    return tuple(sorted(rows.values(), key=lambda row: numbered(row.entry)))


def _stand(entry: str, version: str, accepted: tuple[str, ...], drifted: set[str]) -> str:
    if entry in drifted:
        return DRIFT
    if not version:
        return NOT_KNOWN
    return AS_PINNED if version in accepted else ANOTHER
