"""Is every BIOS setting as the profile of the device type says?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.fields import shown
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.firmware import bios, bios_jobs, bios_messages
from fleet_runner.core.firmware.bios_jobs import Queue
from fleet_runner.core.firmware.bios_text import GOING_ON, Report, SettingStatus, parse
from fleet_runner.core.firmware.bios_values import Value, same

NAME = "bios_settings"
READ, FUTURE, JOBS, PROGRESS = "redfish_bios", "redfish_bios_future", "redfish_bios_jobs", "bios_progress"

BASEBOARD = "Baseboard"
"""In the URI of a computer that is none: the board of the GPUs."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Compare each setting in the BMC's own type; what waits for a reset, or is not shown at all, is UNKNOWN.

    After the task that sets them, in the same play, it also rests on what that task says: a setting that was in force
    before the boot and is not after it has not been tried yet, so it is UNKNOWN, and tried in the next run.
    """
    wanted = bios.read(expected.profile)
    body = _computer(text_of(readings[READ]))
    if not wanted:
        return conclude(NAME, [], "the profile asks for none", {"attributes": {}})
    report = parse(text_of(readings[PROGRESS]), PROGRESS) if PROGRESS in readings else None
    if report and report.stand not in GOING_ON | {SettingStatus.FAILED}:
        working = {"working": True} if report.stand is SettingStatus.BUSY else {}
        return Result(NAME, Verdict.UNKNOWN, report.message, (), working)
    jobs = _jobs(readings)
    if jobs is None:
        return Result(
            NAME, Verdict.UNKNOWN, "the BMC's jobs cannot be read, one of which may be at the BIOS settings"
        )
    if job := jobs.running:
        why = f"{job.told} is at the BIOS settings: what the BMC shows of them is certain once it has ended"
        return Result(NAME, Verdict.UNKNOWN, why, (), {"working": True})
    now = _attributes(body)
    wrong = [name for name, value in wanted.items() if not same(now.get(name), value)]
    unclear = _unclear(wrong, wanted, _future(body, readings), report) if wrong else {}
    failed = report is not None and report.stand is SettingStatus.FAILED
    unclear |= {
        name: f"the BMC shows no {name}" for name in wrong if now.get(name) is None and not (failed and name in now)
    }
    observed = {"attributes": {name: now[name] for name in wanted if name in now}}
    findings = [_wrong(name, wanted[name], body, expected.node) for name in wrong if name not in unclear]
    passed = f"BIOS settings are as the profile says: {len(wanted)}"
    result = unless_unread(conclude(NAME, findings, passed, observed), [*unclear.values()])
    goes_on = report is not None and not set(report.later).isdisjoint(unclear) and result.verdict is Verdict.UNKNOWN
    return replace(result, observed={**result.observed, "working": True}) if goes_on else result


def _computer(text: str) -> Mapping[str, Any]:
    """Return the BIOS of the computer itself; {} where no resource has any settings."""
    found = json_object(text, "the BIOS settings")
    able = {uri: body for uri, body in found.items() if isinstance(body, dict) and body.get("Attributes")}
    whole = {uri: body for uri, body in able.items() if BASEBOARD not in uri} or able
    if len(whole) > 1:
        raise EvidenceError(f"several computers have BIOS settings ({', '.join(whole)}), expected one")
    return next(iter(whole.values()), {})


def _attributes(body: Mapping[str, Any]) -> Mapping[str, Any]:
    found = body.get("Attributes")
    if not isinstance(found, Mapping):
        raise EvidenceError("the BMC shows no BIOS settings yet; it shows them once the host has booted: check again")
    return found


def _future(body: Mapping[str, Any], readings: Readings) -> Mapping[str, Any] | None:
    """Return the settings that wait for a reset; None where the BMC has a place for them that was not read."""
    said = body.get("@Redfish.Settings")
    link = said.get("SettingsObject") if isinstance(said, Mapping) else None
    if not isinstance(link, Mapping):
        return {}
    found = _waiting(readings)
    only = next(iter(found.values())) if len(found) == 1 else None  # however the link is written
    there = found.get(str(link.get("@odata.id")), only)
    return bios.pending(_attributes(body), there.get("Attributes")) if isinstance(there, Mapping) else None


def _unclear(
    wrong: Sequence[str], wanted: Mapping[str, Value], future: Mapping[str, Any] | None, report: Report | None
) -> dict[str, str]:
    """Say why nothing follows yet from a setting that is not in force, where that is so."""
    if report and report.stand is SettingStatus.FAILED:
        return {}
    if report and report.stand is SettingStatus.SETTLED:
        return {
            name: f"{name} was right before the boot and is not now; the next run sets it again" for name in wrong
        }
    later = {name for name in wrong if report and name in report.later}
    why = "is set in the next run: the BMC takes it once those are in force that were sent before it"
    unclear = {name: f"{name} {why}" for name in wrong if name in later}
    wrong = [name for name in wrong if name not in later]
    if future is None:
        return unclear | {name: f"{name} is not in force, and the pending settings cannot be read" for name in wrong}
    waiting = {name for name in wrong if same(future.get(name), wanted[name])}
    return unclear | {
        name: f"{name} is pending: the next reset of the host sets it to {shown(wanted[name])}"
        for name in wrong
        if name in waiting
    }


def _wrong(name: str, value: Value, body: Mapping[str, Any], node: str) -> Finding:
    said = bios_messages.about(name, bios_messages.complaints(body))
    return about(node, "bios.setting", name)(
        message=f"{name} is {shown(_attributes(body)[name])}, expected {shown(value)}"
        + (said and f"; the BMC says: {said}"),
        remedy=Remedy.REFLASH,
        steps=(
            f"Set {name} of {node} in the BIOS setup, or find out there why it cannot be set.",
            f"Correct the profile of the device type if it is wrong; then: fleet-runner retry {node}.",
        ),
    )


def _waiting(readings: Readings) -> Mapping[str, Any]:
    """Return what the settings object was read as, by its URI; {} where it was not."""
    return json_object(text_of(readings[FUTURE]), "the pending BIOS settings") if FUTURE in readings else {}


def _jobs(readings: Readings) -> Queue | None:
    """Return the jobs that bring settings into force; None where the BMC links to such and one was not read."""
    found = json_object(text_of(readings[JOBS]), "the BIOS jobs") if JOBS in readings else None
    if (found is None or None in found.values()) and any(map(_links_to_jobs, _waiting(readings).values())):
        return None
    return Queue(jobs=bios_jobs.read(body for body in (found or {}).values() if isinstance(body, Mapping)))


def _links_to_jobs(body: object) -> bool:
    for name in ("Oem", "Dell", "Jobs"):
        body = body.get(name) if isinstance(body, Mapping) else None
    return isinstance(body, Mapping)


CHECK = Check(
    name=NAME,
    question="Is every BIOS setting as the profile says?",
    reads=(READ,),
    judge=judge,
    also=(FUTURE, JOBS, PROGRESS),
    section=bios.SECTION,
    codes=(
        Code(
            "bios.setting",
            (Remedy.REFLASH,),
            "a setting differs from the profile's `bios`, and no reset changes it",
        ),
    ),
    source="The profile's own `bios`; DMTF's Redfish specification (DSP0266) for settings that wait for a reset.",
)
