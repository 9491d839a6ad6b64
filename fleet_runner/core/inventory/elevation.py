"""A rack as it stands there: which units its devices fill, from its front and, where something is, from behind."""

from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.records import Device, Fleet, Rack, rack_key

REAR = "rear"


class Box(NamedTuple):
    """A device: `top` is how many units are above it, `height` how many it fills."""

    device: Device
    top: float
    height: float


class Elevation(NamedTuple):
    """A rack's two faces, the highest box first; `loose` are devices that are drawn on none."""

    rack: Rack
    front: tuple[Box, ...]
    rear: tuple[Box, ...]
    loose: tuple[Device, ...]

    @property
    def units(self) -> tuple[int, ...]:
        """Return the numbers of the units, the highest first."""
        first = self.rack.starting_unit
        return tuple(range(first + self.rack.u_height - 1, first - 1, -1))


def elevation(fleet: Fleet, site: str, rack: str) -> Elevation | None:
    """Return a rack of the source of truth, or None."""
    found = fleet.racks.get(rack_key(site, rack))
    if found is None:
        return None
    mine = sorted(
        (device for device in fleet.devices.values() if (device.site, device.rack) == (site, rack)),
        key=lambda device: natural(device.name),
    )
    boxes = [(device, _box(fleet, found, device)) for device in mine]
    hung = [box for _, box in boxes if box is not None]
    loose = tuple(device for device, box in boxes if box is None)
    # What fills a rack from front to rear is drawn once, on the front.
    behind = [box for box in hung if box.device.face == REAR and not _deep(fleet, box.device)]
    return Elevation(found, _sorted(box for box in hung if box not in behind), _sorted(behind), loose)


def _box(fleet: Fleet, rack: Rack, device: Device) -> Box | None:
    """Return where a device hangs; None where its unit is unknown, or is none of the rack's."""
    kind = fleet.device_types.get(device.device_type)
    height = kind.u_height if kind is not None else 1.0
    if device.position is None or height <= 0:
        return None
    top = rack.starting_unit + rack.u_height - device.position - height
    return Box(device, top, height) if 0 <= top <= rack.u_height - height else None


def _deep(fleet: Fleet, device: Device) -> bool:
    kind = fleet.device_types.get(device.device_type)
    return kind is None or kind.full_depth


def _sorted(boxes: Iterable[Box]) -> tuple[Box, ...]:
    return tuple(sorted(boxes, key=lambda box: (box.top, natural(box.device.name))))
