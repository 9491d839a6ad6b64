"""Which device types are tested in service, by their profiles; read again when their files change."""

from dataclasses import dataclass, field

from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.plays.profiles import Stamp
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory import profile
from fleet_runner.settings import Settings


@dataclass(slots=True)
class ActiveTests:
    """What was read of each device type, and from which files."""

    known: dict[str, tuple[Stamp, bool]] = field(default_factory=dict[str, tuple[Stamp, bool]])

    def asked(self, settings: Settings, device_type: str) -> bool:
        """Whether a device type's profile names active tests (`health_active.tests`)."""
        stamp = profiles.stamp(settings, device_type)
        known = self.known.get(device_type)
        if known is None or known[0] != stamp:
            known = self.known[device_type] = (stamp, _read(settings, device_type))
        return known[1]


def _read(settings: Settings, device_type: str) -> bool:
    """A profile that cannot be read asks for nothing: each of its checks says so."""
    try:
        return profile.has(profiles.read(settings, device_type), "health_active.tests")
    except SettingsError:
        return False
