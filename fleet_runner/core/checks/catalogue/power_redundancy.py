"""Could the node lose a power supply, and does it get all the power that it asks for?"""

from collections.abc import Iterator, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish, redfish_power
from fleet_runner.core.checks.parsers.redfish import Gathered, rows_in, status_of
from fleet_runner.core.checks.parsers.redfish_power import Control, Group
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "power_redundancy", "power"

HELD = 0.95
"""Share of a limit that a node draws once the limit holds it back; far above it, the limit is not in force."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the groups of supplies, and limits of power that are in force.

    A group that lost its redundancy because a supply failed has its ticket from `power_supplies`. A limit counts as
    in force only while the node draws about as much: BMCs show limits that nobody switched on.
    """
    wanted = profile.section(expected.profile, SECTION)
    found = _found(readings)
    groups, controls = redfish_power.groups(found), redfish_power.controls(found)
    faulty = _faulty(found)
    findings = [finding for group in groups for finding in _lost(group, faulty, expected.node)]
    findings += [finding for each in controls for finding in _held(each, wanted, expected.node)]
    unread = found.told()
    told = [group for group in groups if group.health]
    if wanted.has("redundancy") and wanted.flag("redundancy") and not told:
        unread.append("the BMC reports for no group of power supplies whether it is redundant")
    observed = {
        "groups": {group.name: group.health for group in groups},
        "faulty": faulty,
        "drawn_watts": {each.name: each.drawn_watts for each in controls},
        "limit_watts": {each.name: each.limit_watts for each in controls},
    }
    redundant = "group of power supplies is" if len(told) == 1 else "groups of power supplies are"
    passed = f"{len(told)} {redundant} redundant, no power limit slows the node"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _found(readings: Readings) -> Gathered:
    """Return the chassis' Power and PowerSubsystem together; a BMC may have only one of them."""
    power = redfish.resources(text_of(readings["redfish_power"]), "the chassis' power") if _any(readings) else {}
    try:
        units = redfish.gathered(text_of(readings["redfish_supplies"]), "the power supplies")
    except EvidenceError:
        if not power or readings["redfish_supplies"].text.strip() != "{}":
            raise
        units = Gathered({}, ())
    return Gathered({**power, **units.bodies}, units.unread)


def _any(readings: Readings) -> bool:
    return text_of(readings["redfish_power"]).strip() != "{}"


def _faulty(found: Gathered) -> list[str]:
    """Return the supplies that are not well or not there, which are `power_supplies`' matter."""
    rows = [row for body in found.bodies.values() for row in rows_in(body, "PowerSupplies")]
    rows += found.of("PowerSupply").values()
    return sorted(
        redfish.text_in(row, "Name")
        for row in rows
        if not status_of(row).there
        or status_of(row).health in {"Warning", "Critical"}
        or row.get("LineInputVoltage") == 0
        or redfish.text_in(row, "LineInputStatus") == redfish_power.LOST_INPUT
    )


def _lost(group: Group, faulty: Sequence[str], node: str) -> Iterator[Finding]:
    if group.health in {"Warning", "Critical"}:
        why = f"; not OK: {', '.join(faulty[:4])}" if faulty else "; every supply reports OK"
        yield about(node, "power.redundancy_lost", group.name)(
            message=f"{group.name} is {group.health}, expected OK: the node would not survive another failure{why}",
            remedy=Remedy.RECORD if faulty else Remedy.TRIAGE,
            steps=()
            if faulty
            else (
                "Look whether both feeds of the rack have power, and whether each supply's cord is on its own feed.",
            ),
        )


def _held(control: Control, wanted: Section, node: str) -> Iterator[Finding]:
    least = wanted.number("limit_watts_min")
    drawn, limit = control.drawn_watts, control.limit_watts
    if drawn is None or limit is None or not 0 < limit < least:
        return
    if HELD * limit <= drawn <= limit / HELD:
        yield about(node, "power.capped", control.name)(
            message=f"{control.name} is limited to {limit:g} W and draws {drawn:g} W, expected a limit of at least"
            f" {least:g} W; lift the BMC's power limit",
            remedy=Remedy.REFLASH,
        )


CHECK = Check(
    name=NAME,
    question="Would the node survive the loss of a power supply, and does no power limit slow it?",
    reads=("redfish_power", "redfish_supplies"),
    judge=judge,
    section=SECTION,
    codes=(
        Code(
            "power.redundancy_lost",
            (Remedy.TRIAGE, Remedy.RECORD),
            "a group of supplies is not redundant; where one of them is not OK, `power_supplies` decides",
        ),
        Code("power.capped", (Remedy.REFLASH,), "a limit below `power.limit_watts_min` slows the node"),
    ),
    source="DMTF's Redfish schemas Power (Redundancy, PowerControl) and PowerSubsystem (PowerSupplyRedundancy); the"
    " profile's `power`.",
)
