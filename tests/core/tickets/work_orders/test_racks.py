"""Racks as one stands before them."""

from dataclasses import replace
from xml.etree import ElementTree as ET

from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Rack
from fleet_runner.core.tickets.work_orders.racks import elevations, svg

SVG = "{http://www.w3.org/2000/svg}"
ONE = Device("gpu-1", "big", "gpu-server", "hall", "R1", 5.0)
FLEET = Fleet(
    ("hall",),
    {"hall/R1": Rack("R1", "hall", 12, location="row 1"), "hall/R2": Rack("R2", "hall", 12)},
    {"big": DeviceType("big", "m", "b", 8.0)},
    {
        each.name: each
        for each in (
            ONE,
            replace(ONE, name="behind", position=1.0, face="rear", device_type="unknown"),
            replace(ONE, name="too-high", position=90.0),
            replace(ONE, name="too-low", position=0.0),
            replace(ONE, name="loose", position=None),
            replace(ONE, name="nowhere", rack=None, position=None),
            replace(ONE, name="lost", rack="R9"),
            replace(ONE, name='<script>"', rack="R2"),
        )
    },
    (),
)


def drawn(*names: str) -> tuple[list[str], list[str]]:
    """Return the names that are drawn, and those that are marked."""
    root = ET.fromstring(svg(elevations(FLEET, names)))  # noqa: S314  our own output
    texts = [(each.get("class", ""), each.text or "") for each in root.iter(f"{SVG}text")]
    return [text for kind, text in texts if kind in {"", "told"}], [text for kind, text in texts if kind == "told"]


def test_a_rack_shows_what_stands_in_it_and_marks_what_is_meant() -> None:
    assert drawn("gpu-1") == (["behind", "gpu-1 U5"], ["gpu-1 U5"])


def test_each_rack_is_drawn_once_in_the_order_of_the_devices() -> None:
    found = elevations(FLEET, ['<script>"', "gpu-1", "behind", "lost", "loose", "nowhere", "unknown"])
    assert [each.rack.name for each in found] == ["R2", "R1"]
    assert drawn('<script>"')[1] == ['<script>" U5']
    assert "<script>" not in svg(found)


def test_where_no_place_is_known_it_says_so() -> None:
    assert elevations(FLEET, ["lost"]) == ()
    assert "No place in a rack is known." in svg(())
