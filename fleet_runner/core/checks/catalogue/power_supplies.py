"""Does every power supply that should be in the node give power?"""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish, redfish_power
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.redfish import PowerSupply
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

FAULTY = frozenset({"Warning", "Critical"})


def judge(readings: Readings, expected: Expected) -> Result:
    """Count the supplies of the profile's model, then look at each one's health and input.

    Some servers report fan modules among them, with another model and no input: a model in the profile leaves
    those out. A supply of which the BMC tells no health is not faulty, but nothing proves that it works.
    """
    wanted = profile.parts(expected.profile, "psu")
    every = () if not wanted.count and _lists_none(readings) else _every(readings)
    supplies = [supply for supply in every if supply.present and wanted.model in {"", supply.model}]
    findings = [_missing(every, supplies, wanted, expected.node)] if len(supplies) < wanted.count else []
    findings += [_faulty(supply, expected.node) for supply in supplies if supply.health in FAULTY]
    findings += [
        _dark(supply, expected.node) for supply in supplies if supply.input_volts == 0 and supply.health not in FAULTY
    ]
    unread = [f"the BMC reports no health of {supply.name}" for supply in supplies if not supply.health]
    observed = {
        "supplies": len(supplies),
        "expected": wanted.count,
        "health": {supply.name: supply.health for supply in supplies},
        "parts": {supply.name: {"serial": supply.serial} for supply in supplies if supply.serial},
        "input_volts": {supply.name: supply.input_volts for supply in supplies if supply.input_volts is not None},
    }
    passed = f"{len(supplies)} of {wanted.count} power supplies give power"
    return unless_unread(conclude("power_supplies", findings, passed, observed), unread)


def _lists_none(readings: Readings) -> bool:
    """Whether the BMC names no supply at all, as that of a tray does which its rack's shelves feed."""
    own = readings.get("redfish_supplies")
    units = json_object(own.text, "the power supplies") if own is not None else {}
    return not redfish.lists_supplies(text_of(readings["redfish_power"])) and not any(
        "/PowerSupplies/" in uri for uri in units
    )


def _every(readings: Readings) -> tuple[PowerSupply, ...]:
    """Return the supplies of the chassis' Power; where it lists none, those that have resources of their own."""
    text = text_of(readings["redfish_power"])
    if "redfish_supplies" not in readings or redfish.lists_supplies(text):
        return redfish.power_supplies(text)
    found = redfish.gathered(text_of(readings["redfish_supplies"]), "the power supplies")
    if found.unread:
        raise EvidenceError("; ".join(found.told()))
    return redfish_power.units(found) or redfish.power_supplies(text)


def _missing(
    every: tuple[PowerSupply, ...], supplies: list[PowerSupply], wanted: profile.PartCount, node: str
) -> Finding:
    absent = ", ".join(supply.name for supply in every if not supply.present) or "none"
    model = f" {wanted.model}" if wanted.model else ""
    return about(node, "psu.missing", "power supplies")(
        message=f"{len(supplies)} of {wanted.count}{model} power supplies are present; empty bays: {absent}",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Look at the bays: seated are {', '.join(supply.name for supply in supplies) or 'none'}.",
            f"Seat a{model} power supply in each bay that lacks one, and plug it in.",
        ),
    )


def _faulty(supply: PowerSupply, node: str) -> Finding:
    which = f"{supply.name} ({supply.model}, serial {supply.serial or 'unknown'})"
    return about(node, "psu.faulty", supply.name)(
        message=f"{which} reports {supply.health}, expected OK",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Check {supply.name}'s cord and the outlet it is plugged into.",
            f"Reseat it; if it still reports {supply.health}, replace it.",
        ),
    )


def _dark(supply: PowerSupply, node: str) -> Finding:
    return about(node, "psu.no_input", supply.name)(
        message=f"{supply.name} ({supply.model}) gets no power: 0 V at its input",
        remedy=Remedy.TRIAGE,
        steps=(f"Check {supply.name}'s cord, the outlet, and its breaker.",),
    )


CHECK = Check(
    name="power_supplies",
    question="Does every power supply that should be in the node give power?",
    reads=("redfish_power",),
    also=("redfish_supplies",),
    judge=judge,
    codes=(
        Code("psu.missing", (Remedy.TRIAGE,), "fewer power supplies of the profile's model than `parts.psu.count`"),
        Code("psu.faulty", (Remedy.TRIAGE,), "a power supply reports Warning or Critical"),
        Code("psu.no_input", (Remedy.TRIAGE,), "a power supply gets 0 V at its input"),
    ),
    source="The profile's `parts.psu`; DMTF's Redfish schemas Power and PowerSupply: Status.Health, LineInputVoltage,"
    " LineInputStatus, and PowerSupplyRedundancy for supplies that report no health of themselves.",
)
