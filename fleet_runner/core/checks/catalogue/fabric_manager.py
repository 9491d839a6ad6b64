"""Does Fabric Manager run, in the driver's own version, and without errors since it was started?"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.answers import about, conclude, fault_key, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import fabric_manager, systemctl
from fleet_runner.core.checks.parsers.systemctl import Unit
from fleet_runner.core.checks.shared.gpus import presence, settling
from fleet_runner.core.checks.shared.treated_faults import untreated
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "fabric_manager", "fabric_manager"

PART = "Fabric Manager"

PASSING = frozenset({"activating", "reloading", "deactivating", "maintenance"})
"""States of a unit in which nothing is decided yet."""


class Kind(NamedTuple):
    """A kind of error in the log: its code, what it means, words that only it has, and what should follow."""

    code: str
    meaning: str
    words: re.Pattern[str]
    remedy: Remedy
    steps: tuple[str, ...] = ()


SWITCHES = ("Look at the NVSwitches in the BMC's inventory, and at `lspci -d 10de:`; one that is missing is faulty.",)

KINDS = (
    Kind(
        "fabric_manager.topology",
        "it found a number of NVSwitches that no system has",
        re.compile(r"number of NVSwitches don't match with any supported"),
        Remedy.TRIAGE,
        SWITCHES,
    ),
    Kind(
        "fabric_manager.no_nvswitch",
        "it found no NVSwitch at all",
        re.compile(r"NV_WARN_NOTHING_TO_DO"),
        Remedy.TRIAGE,
        SWITCHES,
    ),
    Kind(
        "fabric_manager.nvswitch_fatal",
        "an NVSwitch had a fatal error",
        re.compile(r"detected NVSwitch fatal error \d"),
        Remedy.RESET,
    ),
    Kind(
        "fabric_manager.nvswitch_error",
        "an NVSwitch had a non-fatal error",
        re.compile(r"detected NVSwitch non-fatal error \d"),
        Remedy.RECORD,
    ),
    Kind(
        "fabric_manager.multicast",
        "a GPU was missing when a multicast team was created",
        re.compile(r"failed to find the GPU handle \d{1,20} in the multicast team"),
        Remedy.WATCH,
    ),
    Kind("fabric_manager.log_error", "any other error in its log", re.compile(r""), Remedy.RECORD),
)
"""Errors by what they say, first come first served; the last is any other. Fatal errors of a switch also lie in the
kernel's log, where the check xid tells them apart by their codes."""

MISMATCH = re.compile(r"don't match with driver version")

_ZONE = re.compile(r"^\d{4}-\d\d-\d\dT[\d:,.]{8,16}([+-]\d\d:\d\d) ", re.MULTILINE)
"""How dmesg begins a line: the end of its time is the node's offset from UTC, which Fabric Manager's log lacks."""

ZONED = 20_000
"""Characters at the end of the kernel's log in which the offset of now is looked for."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the unit, its version against the driver that is loaded, and what it logged since it was started."""
    section = profile.section(expected.profile, SECTION)
    restarts_max = section.whole("restarts_max")
    unit = systemctl.one(text_of(readings["fabric_manager_unit"]))
    if unit.load != "loaded":
        raise EvidenceError(
            f"nvidia-fabricmanager is {unit.load} on {expected.node}, expected a loaded unit; put it into"
            " the image, or take fabric_manager out of the profile"
        )
    if unit.active in PASSING and settling(readings):
        raise EvidenceError(f"Fabric Manager of {expected.node} is {unit.active} since the boot; check again")
    driver, found = presence(readings).driver, _version(readings)
    logged, unread = _logged(readings, unit)
    findings = [*_state(unit, restarts_max, expected), *_errors(_news(logged, readings, expected), expected)]
    mismatch = any(MISMATCH.search(each.words) for each in logged)
    if (found is not None and driver is not None and found != driver) or mismatch:
        findings.append(_mismatch(expected, (found, driver), running=unit.active == "active"))
    unread += [] if found is not None or "fabric_manager_version" not in readings else ["its version is not reported"]
    unread += [] if unit.restarts is not None else ["systemctl does not report how often it was restarted"]
    observed = {"state": unit.active, "version": found, "driver": driver, "errors": len(logged)}
    runs = f"Fabric Manager {found} runs" if found else "Fabric Manager runs"
    return unless_unread(conclude(NAME, findings, runs, observed), unread)


def _version(readings: Readings) -> str | None:
    reading = readings.get("fabric_manager_version")
    return fabric_manager.version(reading.text) if reading is not None and reading.rc == 0 else None


def _logged(readings: Readings, unit: Unit) -> tuple[list[fabric_manager.LogError], list[str]]:
    """Return what was logged since the unit was started, both in the node's own time, and what could not be told."""
    reading = readings.get("fabric_manager_log")
    found = fabric_manager.errors(reading.text) if reading is not None and reading.rc == 0 else ()
    if found and not unit.since:
        return [], ["systemctl does not report when it was started, so its log's errors have no age"]
    return [each for each in found if each.at >= unit.since], []


def _news(
    logged: list[fabric_manager.LogError], readings: Readings, expected: Expected
) -> list[fabric_manager.LogError]:
    """Leave out what was logged of a fault before its last treatment: a reset leaves Fabric Manager running."""
    kernel = readings.get("dmesg")
    zone = (_ZONE.findall(kernel.text[-ZONED:]) if kernel is not None else [])[-1:]
    read_at = readings["fabric_manager_log"].at if logged else 0.0

    def is_news(error: fabric_manager.LogError) -> bool:
        fault = fault_key(expected.node, _kind(error).code, PART)
        return bool(untreated([replace(error, at=f"{error.at}{''.join(zone)}")], fault, expected, read_at))

    return [each for each in logged if is_news(each)]


def _kind(error: fabric_manager.LogError) -> Kind:
    return next(kind for kind in KINDS if kind.words.search(error.words))


def _state(unit: Unit, restarts_max: int, expected: Expected) -> Iterator[Finding]:
    state = unit.active
    why = f" ({unit.result})" if unit.result not in {"", "success"} else ""
    if state in PASSING:
        yield about(expected.node, "fabric_manager.starting", PART)(
            message=f"Fabric Manager of {expected.node} is {state}{why}, expected active; check again",
            remedy=Remedy.WATCH,
        )
    elif state != "active":
        yield about(expected.node, "fabric_manager.down", PART)(
            message=f"Fabric Manager of {expected.node} is {state}{why}, expected active; without it no GPU"
            " reaches another over NVLink",
            remedy=Remedy.REBOOT,
        )
    if unit.restarts is not None and unit.restarts > restarts_max:
        yield about(expected.node, "fabric_manager.restarts", PART)(
            message=f"systemd restarted Fabric Manager of {expected.node} {unit.restarts} times, expected at most"
            f" {restarts_max}; read its journal",
            remedy=Remedy.WATCH,
        )


def _mismatch(expected: Expected, versions: tuple[str | None, str | None], *, running: bool) -> Finding:
    """While it runs it runs on, but it will not start again; a reboot loads the driver that lies beside it."""
    found, driver = versions
    return about(expected.node, "fabric_manager.version", PART)(
        message=f"Fabric Manager of {expected.node} has version {found or 'unknown'}, expected the driver's"
        f" {driver or 'unknown'}; was only one of the two updated?",
        remedy=Remedy.WATCH if running else Remedy.REBOOT,
    )


def _errors(logged: list[fabric_manager.LogError], expected: Expected) -> Iterator[Finding]:
    kinds = [_kind(each) for each in logged]
    count, last = Counter(kind.code for kind in kinds), dict(zip((kind.code for kind in kinds), logged, strict=True))
    for kind in KINDS:
        if kind.code in last:
            yield about(expected.node, kind.code, PART)(
                message=f"Fabric Manager of {expected.node} logged {counted(count[kind.code], 'time')} since its"
                f" start, last at {last[kind.code].at}: {last[kind.code].words:.200}",
                remedy=kind.remedy,
                steps=kind.steps,
            )


CHECK = Check(
    name=NAME,
    question="Does Fabric Manager run, in the driver's version and without errors?",
    reads=("nvidia_smi", "fabric_manager_unit"),
    judge=judge,
    also=("fabric_manager_version", "fabric_manager_log", "uptime", "dmesg"),
    section=SECTION,
    codes=(
        Code("fabric_manager.down", (Remedy.REBOOT,), "the unit is not active"),
        Code("fabric_manager.starting", (Remedy.WATCH,), "the unit is about to start or to stop"),
        Code("fabric_manager.restarts", (Remedy.WATCH,), "systemd restarted it more often than the profile allows"),
        Code(
            "fabric_manager.version", (Remedy.WATCH, Remedy.REBOOT), "another version than the driver's; it is down"
        ),
        *(Code(kind.code, (kind.remedy,), f"{kind.meaning}, since its start") for kind in KINDS),
    ),
    source="NVIDIA's Fabric Manager guide (its version must be the driver's own); gpud's catalogue of its log.",
)
