"""Where to stand for a device, as somebody walks there: site, row, rack, unit."""

from typing import NamedTuple

from fleet_runner.core.cabling.picture_layout import natural
from fleet_runner.core.inventory.records import Fleet, rack_key


class DeviceLocation(NamedTuple):
    """Where a device stands; "" for what the source of truth does not say. `unit` is "U12", `face` "front" or so."""

    device: str
    site: str = ""
    row: str = ""
    rack: str = ""
    unit: str = ""
    face: str = ""

    @property
    def room(self) -> tuple[str, str, str]:
        """Return what somebody walks to: site, row, rack."""
        return self.site, self.row, self.rack

    @property
    def words(self) -> str:
        """Return the way there, and the unit, in a line."""
        told = (self.site, self.row, f"rack {self.rack}" if self.rack else "rack unknown", self.unit or "U unknown")
        return " · ".join(word for word in told if word) if self.site else "not in the source of truth"


def spot(fleet: Fleet | None, name: str) -> DeviceLocation:
    """Return where a device stands."""
    device = fleet.devices.get(name) if fleet is not None else None
    if fleet is None or device is None:
        return DeviceLocation(name)
    rack = fleet.racks.get(rack_key(device.site, device.rack or ""))
    row = (rack.location or "") if rack is not None else ""
    unit = f"U{device.position:g}" if device.position is not None else ""
    return DeviceLocation(name, device.site, row, device.rack or "", unit, device.face)


def walking(room: tuple[str, str, str]) -> tuple[object, ...]:
    """Return a key that sorts places as people walk past them; what is not known comes last."""
    return tuple((not word, natural(word)) for word in room)
