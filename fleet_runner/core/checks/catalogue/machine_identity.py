"""Is the machine that answers the one of the source of truth?

Another machine at the same address is no broken one: a person finds out which of them is where, and nothing is done
to either meanwhile.
"""

from collections.abc import Iterator
from typing import Any

from fleet_runner.core.checks.answers import about, conclude
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.preflight import identity_sources
from fleet_runner.core.lifecycle.preflight.machine import (
    BMC,
    Designed,
    Identity,
    MachineReport,
    Match,
    designed,
    identify,
    strangers,
)

NAME = "machine_identity"

COMPONENTS = {BMC: "BMC"}
"""What a finding calls who tells of the machine; the other one is the system."""


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL where the BMC or the system is another machine's, PASS where one is this one's, else UNKNOWN."""
    known = designed(expected.device)
    found = identify(known, identity_sources.told(readings))
    findings = [*_others(found, expected.node), *_macs(known, found, expected.node)]
    observed = _observed(known, found)
    if findings or found.match is Match.SAME:
        return conclude(NAME, findings, found.sentence, observed)
    return Result(NAME, Verdict.UNKNOWN, found.sentence, (), observed)


def _others(found: Identity, node: str) -> Iterator[Finding]:
    for answer in found.answers:
        if answer.match is Match.OTHER:
            yield _finding(node, f"identity.{answer.by}", answer.told.who, answer.sentence)


def _macs(known: Designed, found: Identity, node: str) -> Iterator[Finding]:
    for answer in found.answers:
        strange = strangers(known, answer.told)
        if strange and answer.by == "serial" and answer.match is Match.SAME:
            yield _finding(node, "identity.mac", answer.told.who, strange)


def _finding(node: str, code: str, who: str, message: str) -> Finding:
    return about(node, code, COMPONENTS.get(who, "system"))(
        message=message,
        remedy=Remedy.RECABLE,
        steps=(
            f"Go to the place of {node}: compare the serial number on its label with that of the source of truth.",
            "If it is the right machine, correct the source of truth; if not, find where its cables lead.",
        ),
    )


def _observed(known: Designed, found: Identity) -> dict[str, Any]:
    by = next((answer.by for answer in found.answers if answer.match is found.match), "")
    told = {COMPONENTS.get(answer.told.who, "system"): _said(answer.told) for answer in found.answers}
    return {"serial": known.serial, "match": found.match.value, "by": by, "told": told}


def _said(told: MachineReport) -> dict[str, Any]:
    return {"serials": sorted({*told.serials, *told.boards}), "uuid": told.uuid, "macs": sorted(told.macs)[:100]}


CHECK = Check(
    name=NAME,
    question="Is the machine that answers the one of the source of truth?",
    reads=(),
    also=identity_sources.READS,
    judge=judge,
    codes=(
        Code(
            "identity.serial",
            (Remedy.RECABLE,),
            "the BMC or the system reports another serial number than the source of truth's",
        ),
        Code("identity.mac", (Remedy.RECABLE,), "none of the system's interfaces has a MAC address of the design"),
    ),
    source="The source of truth's serial number and MAC addresses; SMBIOS (DSP0134) and Redfish's ComputerSystem and"
    " Chassis. The serial number of a system and of its chassis are both accepted; what nobody filled in"
    ' ("Default string") is none, and a board\'s contradicts nothing.',
)
