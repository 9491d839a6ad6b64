"""What does the BMC say of the machine: is it on, and how far has it booted?"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.answers import conclude, text_of
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish
from fleet_runner.core.checks.verdicts import Result

NAME = "machine_power"

STATES = frozenset({"On", "Off"})
"""Redfish's PowerState of a machine that is neither on its way up nor down."""

LONGEST = 60


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS whenever the BMC tells, with `power` and `boot` (ComputerSystem's BootProgress.LastState, "" for none).

    Of several systems behind one BMC one that is on is enough: whoever boots one anew must know of it.
    """
    del expected
    found = redfish.gathered(text_of(readings["redfish_systems"]), "the systems").of("ComputerSystem")
    told = [(redfish.text_in(body, "PowerState"), _boot(body)) for body in found.values()]
    on = [each for each in told if each[0] != "Off"]
    power, boot = max(on or told, key=lambda each: each[1], default=("", ""))
    if power not in STATES:
        raise EvidenceError(
            f"the BMC says that the machine's PowerState is {printable(power)[:LONGEST]!r}, expected On or Off"
        )
    where = f", and as far as {printable(boot)[:LONGEST]}" if boot not in {"", "None"} else ""
    return conclude(NAME, [], f"the machine is {power.lower()}{where}", {"power": power, "boot": boot[:LONGEST]})


def _boot(body: Mapping[str, Any]) -> str:
    progress = body.get("BootProgress")
    return redfish.text_in(progress, "LastState") if isinstance(progress, dict) else ""


CHECK = Check(
    name=NAME,
    question="What does the BMC say of the machine: is it on, and how far has it booted?",
    reads=("redfish_systems",),
    judge=judge,
    source="DMTF's Redfish schema ComputerSystem: PowerState, BootProgress.LastState.",
)
