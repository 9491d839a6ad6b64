"""Whether a node has what its device type's profile wants already, as far as the newest evidence tells."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware.bios_values import Value, same
from fleet_runner.core.firmware.catalogue import Catalogue

VERSIONS = "firmware_pins"
"""The check that saw the versions: `observed["versions"]`, by inventory id."""

SETTINGS = "bios_settings"
"""The check that saw the BIOS settings: `observed["attributes"]`, by name."""

BOOT = "boot_settings"
"""The check that saw the boot settings, in the same way."""


def reached(catalogue: Catalogue, seen: Result | None) -> bool:
    """Whether every component was seen on its target; False where anything about that is not certain."""
    versions = seen.observed.get("versions") if seen is not None and seen.verdict is not Verdict.UNKNOWN else None
    if not isinstance(versions, Mapping) or not catalogue.components:
        return False
    for row in catalogue.components:
        mine = [version for name, version in versions.items() if fnmatchcase(str(name), row.inventory_id)]
        if not mine or row.inventory_name or any(version != row.target for version in mine):
            return False
    return True


def settled(wanted: Mapping[str, Value], seen: Result | None) -> bool:
    """Whether every BIOS or boot setting of a profile was seen as it should be; True where it names none."""
    if not wanted:
        return True
    found = seen.observed.get("attributes") if seen is not None and seen.verdict is Verdict.PASS else None
    return isinstance(found, Mapping) and all(same(found.get(name), value) for name, value in wanted.items())
