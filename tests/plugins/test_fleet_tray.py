"""fleet_tray reads a compute tray, and takes whatever it sends."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "nvlink_status", "end": "ok", "rc": float("inf")},
        {"name": "nvlink_status", "end": "ok", "at": 10**400},
        {"name": "nvlink_status", "end": "ok", "rc": "none"},
        {"end": "ok"},
        "text",
    ],
)
def test_what_is_no_reading_is_passed_over(plugin: Callable[[str], ModuleType], odd: Any) -> None:
    """The other readings of the tray stand."""
    good = {"name": "addresses", "end": "ok", "text": "10.0.0.1"}
    found = plugin("action/fleet_tray")._readings({"readings": [odd, good]})
    assert [(name, each.text) for name, each in found.items()] == [("addresses", "10.0.0.1")]
