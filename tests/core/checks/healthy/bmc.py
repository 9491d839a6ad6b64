"""Of a healthy node: what its BMC answers, check by check."""

import json
from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.parsers import (
    dmi_files,
    redfish,
    redfish_leaks,
    redfish_log,
    redfish_machine,
    redfish_power,
    redfish_sensors,
)
from tests.core.checks.healthy import text_of

SUPPLIES, SENSORS = text_of("redfish/supplies.json"), text_of("redfish/sensors.json")
MACHINE, DMI = text_of("redfish/machine.json"), text_of("dmi/supermicro.json")
ADDRESSES = json.dumps(
    {"/sys/class/net/eth0/address": "b8:3f:d2:00:00:01", "/sys/class/net/lo/address": "00:00:00:00:00:00"}
)
LOGS, HEALTH = text_of("redfish/logs.json"), text_of("redfish/health.json")

PROFILE: dict[str, Any] = {
    "sensors": {
        "celsius_margin": 5,
        "inlet": ["Inlet Temp"],
        "inlet_celsius_max": 35,
        "fans": 3,
        "leak_detectors": 1,
    },
    "sel": {"days": 7},
    "boot_settings": {"secure_boot": True, "first": "network"},
    "power": {"redundancy": True, "limit_watts_min": 10_000},
    "chassis_health": {"clock_seconds_max": 300},
}
"""Sections of the profile; `parts` are laid over those of `judging`."""

HEALTHY: dict[str, dict[str, str]] = {
    "sensors": {"redfish_sensors": SENSORS},
    "sel": {"redfish_logs": LOGS},
    "boot_settings": {"redfish_boot": text_of("redfish/boot.json")},
    "power_redundancy": {"redfish_power": text_of("redfish/power.json"), "redfish_supplies": SUPPLIES},
    "chassis_health": {"redfish_health": HEALTH},
    "machine_identity": {"redfish_machine": MACHINE, "dmi": DMI, "network_interfaces": ADDRESSES},
}


def _power(text: str) -> object:
    found = redfish.gathered(text, "the BMC's resources")
    return redfish_power.units(found), redfish_power.groups(found), redfish_power.controls(found)


def _sensors(text: str) -> object:
    found = redfish.gathered(text, "the BMC's resources")
    sensors = redfish_sensors.sensors(found)
    return sensors, redfish_leaks.detectors(found, sensors), redfish_leaks.own_policy(found)


PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "redfish_power": (_power, SUPPLIES),
    "redfish_sensors": (_sensors, SENSORS),
    "redfish_machine": (lambda text: redfish_machine.machine(redfish.gathered(text, "the BMC's system")), MACHINE),
    "dmi": (dmi_files.parse, DMI),
    "redfish_log": (lambda text: redfish_log.logs(redfish.gathered(text, "the BMC's logs")), LOGS),
}
"""Parsers, each with a text that it can read."""
