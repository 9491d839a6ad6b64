"""What nvidia-smi's XML says of a GPU's clocks, and of what slows them."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import figure, switch, tally

REASONS = (
    "hw_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "sw_thermal_slowdown",
    "sw_power_cap",
    "applications_clocks_setting",
    "gpu_idle",
    "sync_boost",
    "display_clocks_setting",
)
"""Why clocks can be below what they could be (NVML's clocks event reasons)."""

COUNTERS = {
    "hw_thermal_slowdown": "hw_therm_slowdown",
    "hw_power_brake_slowdown": "hw_power_brake",
    "sw_thermal_slowdown": "sw_therm_slowdown",
    "sw_power_cap": "sw_power_cap",
}
"""Reasons for which drivers from R560 on count the time, and how they call them there."""

CLOCKS = ("graphics", "sm", "mem")


@dataclass(frozen=True, slots=True)
class Clocks:
    """MHz by clock ("graphics", "sm", "mem"); `reasons` say whether each applies now. What is not told is left out.

    `slowed_us` counts microseconds under a reason since the driver was loaded. `set_to` are the application clocks,
    `set_by_default` what they are until somebody sets them.
    """

    current: Mapping[str, float]
    most: Mapping[str, float]
    set_to: Mapping[str, float]
    set_by_default: Mapping[str, float]
    reasons: Mapping[str, bool]
    slowed_us: Mapping[str, int]


def read(element: ET.Element) -> Clocks:
    """Read a GPU's clocks; what is no number and no flag is not told."""
    reasons = {
        name: switch(
            element,
            f"clocks_event_reasons/clocks_event_reason_{name}",
            f"clocks_throttle_reasons/clocks_throttle_reason_{name}",
        )
        for name in REASONS
    }
    slowed = {
        name: tally(element, f"clocks_event_reasons_counters/clocks_event_reasons_counters_{counter}")
        for name, counter in COUNTERS.items()
    }
    return Clocks(
        current=_clocks(element, "clocks"),
        most=_clocks(element, "max_clocks"),
        set_to=_clocks(element, "applications_clocks"),
        set_by_default=_clocks(element, "default_applications_clocks"),
        reasons={name: value for name, value in reasons.items() if value is not None},
        slowed_us={name: value for name, value in slowed.items() if value is not None},
    )


def _clocks(element: ET.Element, section: str) -> dict[str, float]:
    found = {name: figure(element, f"{section}/{name}_clock") for name in CLOCKS}
    return {name: value for name, value in found.items() if value is not None}
