"""Where to stand, also where the source of truth knows half of it or nothing."""

from fleet_runner.core.inventory.records import Device, Fleet, Rack
from fleet_runner.core.tickets.work_orders.locations import DeviceLocation, spot, walking

FLEET = Fleet(
    ("hall",),
    {"hall/R1": Rack("R1", "hall", location="row 1"), "hall/R2": Rack("R2", "hall")},
    {},
    {
        "a": Device("a", "t", "gpu-server", "hall", "R1", 12.0, face="front"),
        "b": Device("b", "t", "gpu-server", "hall", "R2"),
        "c": Device("c", "t", "leaf", "hall"),
    },
    (),
)


def test_a_place_is_said_as_far_as_it_is_known() -> None:
    assert spot(FLEET, "a") == DeviceLocation("a", "hall", "row 1", "R1", "U12", "front")
    assert spot(FLEET, "a").words == "hall · row 1 · rack R1 · U12"
    assert spot(FLEET, "b").words == "hall · rack R2 · U unknown"
    assert spot(FLEET, "c").words == "hall · rack unknown · U unknown"
    assert spot(FLEET, "d").words == "not in the source of truth"
    assert spot(None, "a") == DeviceLocation("a")


def test_places_follow_each_other_as_one_walks() -> None:
    rooms = [("", "", ""), ("h", "", "R1"), ("h", "row 10", "R1"), ("h", "row 2", "R9"), ("h", "row 2", "R10")]
    assert sorted(rooms, key=walking) == [rooms[3], rooms[4], rooms[2], rooms[1], rooms[0]]
