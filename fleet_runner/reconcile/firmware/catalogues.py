"""The firmware catalogues of device types, read again when their files change; what is wrong is logged once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.plays.profiles import Stamp
from fleet_runner.core.base.errors import EvidenceError, SettingsError
from fleet_runner.core.firmware import bios, boot_settings, catalogue
from fleet_runner.core.firmware.bios_values import Value
from fleet_runner.core.firmware.catalogue import Catalogue
from fleet_runner.settings import Settings


@dataclass(frozen=True, slots=True)
class Definition:
    """What the profile of a device type says of its firmware: the catalogue, the BIOS and the boot settings."""

    catalogue: Catalogue
    settings: Mapping[str, Value]
    boot: Mapping[str, Value]


@dataclass(slots=True)
class Catalogues:
    """What was read of each device type, and from which files; None where they could not be used."""

    known: dict[str, tuple[Stamp, Definition | None]] = field(
        default_factory=dict[str, tuple[Stamp, Definition | None]]
    )

    def of(self, settings: Settings, device_type: str) -> Definition | None:
        """Return what a device type's files say now; None where they cannot be used, which is logged."""
        stamp = profiles.stamp(settings, device_type)
        known = self.known.get(device_type)
        if known is None or known[0] != stamp:
            known = self.known[device_type] = (stamp, _read(settings, device_type))
        return known[1]

    def watts(self, settings: Settings, device_type: str) -> float:
        """Return what a node of a type may draw while it is updated; nothing where nobody can tell."""
        found = self.of(settings, device_type)
        return found.catalogue.watts if found is not None else 0.0


def define(settings: Settings, device_type: str) -> Definition:
    """Read what the profile of a device type says of its firmware.

    Raises:
        SettingsError: there is none, or its file cannot be read.
        CatalogueError: the catalogue, or its BIOS or boot settings, are unusable.
    """
    profile = profiles.read(settings, device_type)
    return Definition(catalogue.read(profile), bios.read(profile), boot_settings.read(profile))


def _read(settings: Settings, device_type: str) -> Definition | None:
    try:
        return define(settings, device_type)
    except (SettingsError, EvidenceError) as error:
        log.warning(
            "no firmware catalogue: its nodes are in no rollout, and count no watts",
            device_type=device_type,
            why=str(error),
        )
        return None
