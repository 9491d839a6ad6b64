"""Is Secure Boot, and what boots first, as the profile of the device type says?"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.fields import shown
from fleet_runner.core.boot import boot_interface
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.firmware import bios_jobs, boot_settings
from fleet_runner.core.firmware.bios_jobs import Job, Queue
from fleet_runner.core.firmware.bios_text import GOING_ON, SettingStatus, parse
from fleet_runner.core.firmware.bios_values import Value

NAME = "boot_settings"
READ, JOBS, PROGRESS = "redfish_boot", "redfish_bios_jobs", "bios_progress"


def judge(readings: Readings, expected: Expected) -> Result:
    """Compare both; what waits for a reset, or is not shown, is UNKNOWN.

    A Dell's Secure Boot waits in a job for its BIOS settings.
    """
    wanted = boot_settings.read(expected.profile)
    bodies = json_object(text_of(readings[READ]), "the boot settings")
    seen = boot_settings.shown(bodies, boot_interface.chosen(expected.profile, expected.device))
    report = parse(text_of(readings[PROGRESS]), PROGRESS) if PROGRESS in readings else None
    if report and report.stand not in GOING_ON | {SettingStatus.FAILED}:
        working = {"working": True} if report.stand is SettingStatus.BUSY else {}
        return Result(NAME, Verdict.UNKNOWN, report.message, (), working)
    now = boot_settings.in_force(seen)
    plan = boot_settings.plan(wanted, seen)
    why = dict(each.split(": ", 1) for each in plan.refused)
    unclear = [f"{name}: {why[name]}" for name in wanted if name not in now]
    jobs = json_object(text_of(readings[JOBS]), "the BIOS jobs") if JOBS in readings else {}
    if plan.changes and (job := _job(jobs)):
        return Result(
            NAME, Verdict.UNKNOWN, f"{job.told} is not over, which may change Secure Boot", (), {"working": True}
        )
    if None in (*bodies.values(), *jobs.values()):
        unclear += [f"{name} is not as it should be, and what waits cannot be read" for name in plan.changes]
    unclear += [f"{name} is pending: the next reset of the host sets it" for name in plan.waiting]
    if report and report.stand is SettingStatus.SETTLED:
        unclear += [f"{name} was right before the boot and is not now; the next run sets it" for name in plan.changes]
    findings = [
        _wrong(name, (now[name], wanted[name]), why.get(name, ""), expected.node)
        for name in plan.wrong
        if name in now and name not in plan.waiting and not any(each.startswith(f"{name} ") for each in unclear)
    ]
    mode = seen.secure.get(boot_settings.MODE)
    observed = {"attributes": now, **({"secure_boot_mode": mode} if mode in boot_settings.MODES else {})}
    passed = ", ".join(f"{name} is {shown(value)}" for name, value in wanted.items()) or "the profile asks for none"
    return unless_unread(conclude(NAME, findings, passed, observed), unclear)


def _job(jobs: Mapping[str, Any]) -> Job | None:
    """Return the job for BIOS settings that is at work, or waits for a reset."""
    queue = Queue(jobs=bios_jobs.read(body for body in jobs.values() if isinstance(body, Mapping)))
    return queue.running or queue.scheduled


def _wrong(name: str, values: tuple[Value, Value], why: str, node: str) -> Finding:
    found, wanted = values
    return about(node, "boot.setting", name)(
        message=f"{name} is {shown(found)}, expected {shown(wanted)}" + (why and f"; {why}"),
        remedy=Remedy.REFLASH,
        steps=(
            f"Set {name} of {node} in the BIOS setup, or find out there why it cannot be set.",
            f"Correct boot_settings of the device type if it is wrong; then: fleet-runner retry {node}.",
        ),
    )


CHECK = Check(
    name=NAME,
    question="Is Secure Boot, and what boots first, as the profile says?",
    reads=(READ,),
    judge=judge,
    also=(JOBS, PROGRESS),
    section=boot_settings.SECTION,
    codes=(
        Code(
            "boot.setting",
            (Remedy.REFLASH,),
            "one differs from the profile's `boot_settings`, and no reset changes it",
        ),
    ),
    source="The profile's own `boot_settings`; the UEFI specification for Secure Boot's modes and device paths.",
)
