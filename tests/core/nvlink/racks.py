"""NVL72 racks in the source of truth, and as their trays answer."""

from typing import Any

from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Rack

SITE = "hall-1"


def tray(number: int, rack: str | None = "A03", **context: Any) -> Device:
    """A compute tray of a rack that is one domain."""
    name = f"{(rack or 'x').lower()}-tray-{number}"
    return Device(name, "gb200-tray", "gpu-server", SITE, rack=rack, context={"nvlink_domain": "rack", **context})


def switch(number: int, rack: str = "A03", **context: Any) -> Device:
    """A switch tray of it."""
    name = f"{rack.lower()}-switch-{number}"
    return Device(
        name, "gb200-switch", "nvlink-switch", SITE, rack=rack, context={"nvlink_domain": "rack", **context}
    )


def fleet(*devices: Device) -> Fleet:
    """A source of truth with these devices."""
    racks = {f"{SITE}/{each.rack}": Rack(each.rack, SITE, 48) for each in devices if each.rack}
    kinds = {each.device_type: DeviceType(each.device_type, "NVIDIA", each.device_type, 1.0) for each in devices}
    return Fleet((SITE,), racks, kinds, {each.name: each for each in devices}, ())


def whole(rack: str = "A03") -> list[Device]:
    """The 27 trays of an NVL72, and a power shelf that is none of them."""
    shelf = Device(f"{rack.lower()}-power-1", "power-shelf", "power-shelf", SITE, rack=rack)
    trays = [tray(number, rack) for number in range(1, 19)]
    return [
        *trays,
        *(switch(number, rack, nvlink_links=[2 * number - 2, 2 * number - 1]) for number in range(1, 10)),
        shelf,
    ]
