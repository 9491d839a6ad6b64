"""What a survey asks: whether the machine is on, and whether a system runs on it."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Verdict
from tests.core.checks.catalogue.judging import judged


def systems(*bodies: dict[str, Any]) -> dict[str, str]:
    """What a BMC says of so many systems."""
    kind = {"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem"}
    return {
        "redfish_systems": json.dumps({f"/redfish/v1/Systems/{nth}": kind | body for nth, body in enumerate(bodies)})
    }


@pytest.mark.parametrize(
    ("bodies", "power", "boot", "message"),
    [
        (({"PowerState": "Off"},), "Off", "", "the machine is off"),
        (({"PowerState": "Off", "BootProgress": {"LastState": "None"}},), "Off", "None", "the machine is off"),
        (({"PowerState": "On", "BootProgress": {"LastState": "OSRunning"}},), "On", "OSRunning",
         "the machine is on, and as far as OSRunning"),
        (({"PowerState": "On", "BootProgress": None},), "On", "", "the machine is on"),
        (({"PowerState": "Off"}, {"PowerState": "On"}), "On", "", "the machine is on"),
    ],
)  # fmt: skip
def test_power_and_boot_are_told(bodies: tuple[dict[str, Any], ...], power: str, boot: str, message: str) -> None:
    found = judged("machine_power", systems(*bodies))
    assert (found.verdict, found.message) == (Verdict.PASS, message)
    assert found.observed == {"power": power, "boot": boot}


@pytest.mark.parametrize("state", ["PoweringOff", "PoweringOn", "Paused", "", None, 7])
def test_a_machine_that_is_neither_on_nor_off_is_unknown(state: object) -> None:
    """Of one on its way down nobody knows yet."""
    assert judged("machine_power", systems({"PowerState": state})).verdict is Verdict.UNKNOWN
    assert judged("machine_power", systems({"PowerState": "Off"}, {"PowerState": state})).verdict is Verdict.UNKNOWN


def test_a_bmc_without_a_computer_system_is_unknown() -> None:
    text = json.dumps({"/redfish/v1/Systems/1": {"@odata.type": "#Other.v1_0_0.Other"}})
    assert judged("machine_power", {"redfish_systems": text}).verdict is Verdict.UNKNOWN


def test_a_node_that_answers_is_up() -> None:
    found = judged("node_up", {"uptime": "2025-03-01 09:30:00\n"})
    assert (found.verdict, found.message) == (Verdict.PASS, "it answers over ssh, up 5 min")
