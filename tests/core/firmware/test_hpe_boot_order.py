"""HPE's names of boot options, to and fro."""

from typing import Any

import pytest

from fleet_runner.core.firmware.hpe_boot_order import request, shows, waiting

SOURCES = [
    {"BootOptionNumber": "0021", "StructuredBootString": "NIC.Slot.5.1.IPv4"},
    {"BootOptionNumber": "000F", "StructuredBootString": "NVMe.DriveBay.2.5"},
    {"BootOptionNumber": "0030"},
    "odd",
]
ORDER = ["NVMe.DriveBay.2.5", "NIC.Slot.5.1.IPv4"]
SETTINGS: dict[str, Any] = {"BootSources": SOURCES, "PersistentBootConfigOrder": ORDER}


def test_an_order_is_read_and_written_by_names() -> None:
    assert shows(SETTINGS)
    assert waiting(SETTINGS) == ("Boot000F", "Boot0021")
    assert request(SETTINGS, ("Boot0021", "Boot000F")) == {"PersistentBootConfigOrder": ORDER[::-1]}


def test_what_has_no_name_is_neither_read_nor_written() -> None:
    assert waiting({**SETTINGS, "PersistentBootConfigOrder": [*ORDER, "HD.Slot.2.2"]}) == ()
    assert request(SETTINGS, ("Boot0021", "Boot0030")) == {}


@pytest.mark.parametrize("settings", [{}, {"PersistentBootConfigOrder": ORDER}, {"BootSources": SOURCES}])
def test_a_settings_object_without_an_order_or_names_is_none(settings: Any) -> None:
    assert not shows(settings)
