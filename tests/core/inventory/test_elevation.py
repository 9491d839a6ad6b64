"""A rack as it stands there."""

from fleet_runner.core.inventory.elevation import elevation
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Rack, rack_key

TYPES = {
    "server": DeviceType("server", "Maker", "S", 8.0),
    "switch": DeviceType("switch", "Maker", "W", 1.0, full_depth=False),
    "strip": DeviceType("strip", "Maker", "P", 0.0),
}


def fleet(*devices: Device, first: int = 1) -> Fleet:
    """Return a source of truth with one rack of 42 units."""
    racks = {rack_key("hall", "R1"): Rack("R1", "hall", 42, first)}
    return Fleet(("hall",), racks, TYPES, {device.name: device for device in devices}, ())


def device(name: str, kind: str, position: float | None, *, face: str = "front", rack: str = "R1") -> Device:
    """Return a device in a rack."""
    return Device(name, kind, "x", "hall", rack, position, face=face)


def test_devices_hang_where_their_lowest_unit_says_the_highest_first() -> None:
    found = elevation(fleet(device("low", "server", 1.0), device("high", "server", 35.0)), "hall", "R1")
    assert found is not None
    assert [(box.device.name, box.top, box.height) for box in found.front] == [("high", 0.0, 8.0), ("low", 34.0, 8.0)]
    assert (found.units[0], found.units[-1], found.rear, found.loose) == (42, 1, (), ())


def test_only_what_does_not_fill_the_rack_to_its_front_is_drawn_behind() -> None:
    rear, deep = device("rear", "switch", 40.0, face="rear"), device("deep", "server", 1.0, face="rear")
    unknown = device("unknown", "nobody knows", 20.0, face="rear")
    found = elevation(fleet(rear, deep, unknown), "hall", "R1")
    assert found is not None
    assert [box.device.name for box in found.rear] == ["rear"]
    assert [(box.device.name, box.height) for box in found.front] == [("unknown", 1.0), ("deep", 8.0)]


def test_what_has_no_unit_of_the_rack_is_only_listed() -> None:
    devices = [
        device("above", "server", 36.0), device("below", "switch", 0.0), device("nowhere", "server", None),
        device("strip", "strip", 1.0), device("other", "server", 1.0, rack="R2"),
    ]  # fmt: skip
    found = elevation(fleet(*devices), "hall", "R1")
    assert found is not None
    assert [each.name for each in found.loose] == ["above", "below", "nowhere", "strip"]
    assert not found.front


def test_units_are_numbered_as_the_rack_says() -> None:
    found = elevation(fleet(device("low", "switch", 5.0), first=5), "hall", "R1")
    assert found is not None
    assert (found.units[0], found.units[-1], found.front[0].top) == (46, 5, 41.0)


def test_a_rack_that_nobody_knows_is_none() -> None:
    assert elevation(fleet(), "hall", "R2") is None
