"""Were the GPUs reset, or was the service restarted, and is everything up again?

Whether the fault has gone is for the stage that follows to say: it asks the checks that see it. UNKNOWN is whatever
is no fault of the node's hardware: a GPU that somebody holds, a tool that is missing or may not be used.
"""

import re
from collections.abc import Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.catalogue.gpu_fabric import JOINING
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import systemctl
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared.gpus import presence
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.reset.progress import READ, Progress, parse

NAME = "resets"

UNAVAILABLE = {
    2: "it does not know the request",
    3: "this GPU cannot be reset by it",
    4: "no permission: it must be run by root",
    9: "the driver is not loaded",
    12: "the driver's library cannot be found",
    13: "the driver's library does not support it",
    127: "it is not on the node",
}
"""Exit statuses that are no news about the hardware (the manual of nvidia-smi, return value; 127 is the module's)."""

HELD = re.compile(r"in use by|being used by|used by some other process|is the primary GPU", re.IGNORECASE)
"""What nvidia-smi prints where somebody has the GPU open."""

SOON = frozenset({"activating", "reloading", "deactivating", "maintenance"})

NOTHING = frozenset({"None", "N/A"})


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge what the node's log of it says, and what is seen of the GPUs and of Fabric Manager now."""
    progress = parse(text_of(readings[READ]))
    if why := _undone(progress):
        return Result(NAME, Verdict.UNKNOWN, why, (), {"done": False})
    findings = [*_lost(progress, expected), *_failed(progress, expected), *_services(progress, expected)]
    unread = [f"{name} is {state}; check again" for name, state in progress.units if state in SOON]
    if progress.remedy is Remedy.RESET and not findings:
        found, open_ = _gpus(progress, readings, expected)
        findings += found
        unread += open_
    observed = {"done": True, "again": progress.again, "units": dict(progress.units), "gpus": list(progress.gpus)}
    return unless_unread(conclude(NAME, findings, _done(progress), observed), unread)


def _undone(progress: Progress) -> str:
    """Say why nothing was done that can be judged; "" where something was, or never can be."""
    if progress.trouble or progress.gone:
        return progress.trouble
    if progress.check:
        return f"check mode, nothing was done: {_what(progress)} would be {progress.because}"
    if progress.holders:
        return f"{', '.join(progress.holders[:3])} uses GPUs; nothing was reset, and no process was ended"
    return _refused(progress)


def _refused(progress: Progress) -> str:
    """Say why the command did nothing that is news about the hardware; "" where it is."""
    if progress.rc is None:
        return "the node's log does not show that it began; check again"
    if progress.remedy is Remedy.RESET and progress.rc in UNAVAILABLE:
        return f"nvidia-smi exited with {progress.rc}: {UNAVAILABLE[progress.rc]} ({progress.said})"
    if progress.rc and HELD.search(progress.said):
        return f"nvidia-smi says that the GPUs are in use; nothing was reset: {progress.said}"
    return ""


def _lost(progress: Progress, expected: Expected) -> Iterator[Finding]:
    for pci in progress.gone:
        yield about(expected.node, "reset.gpu_lost", f"GPU {pci}")(
            message=f"GPU {pci} was to be reset, but the driver cannot reach it; only a boot can bring it back",
            remedy=Remedy.REBOOT,
        )


def _failed(progress: Progress, expected: Expected) -> Iterator[Finding]:
    if progress.rc:
        code = "reset.failed" if progress.remedy is Remedy.RESET else "reset.service_down"
        yield about(expected.node, code, "node")(
            message=f"{_what(progress)} could not be {_did(progress)}: {progress.said or f'exit {progress.rc}'}",
            remedy=Remedy.REBOOT,
        )


def _services(progress: Progress, expected: Expected) -> Iterator[Finding]:
    for name, state in progress.units:
        if state not in {"active", *SOON}:
            yield about(expected.node, "reset.service_down", name)(
                message=f"{name} is {state or 'unknown'} after it was started, expected active;"
                f" journalctl -u {name} shows more",
                remedy=Remedy.REBOOT,
            )


def _gpus(progress: Progress, readings: Readings, expected: Expected) -> tuple[list[Finding], list[str]]:
    """Return what is wrong with the GPUs since, and what cannot be told yet."""
    if "nvidia_smi" not in readings:
        return [], ["nvidia-smi does not answer since; the state of the GPUs is unknown"]
    report = presence(readings)
    there = {gpu.pci: gpu for gpu in report.gpus if not gpu.lost}
    wanted = progress.gpus or tuple(gpu.pci for gpu in report.gpus)
    findings = [
        about(expected.node, "reset.gpu_lost", f"GPU {pci}")(
            message=f"GPU {pci} is missing since its reset; only a boot can bring it back", remedy=Remedy.REBOOT
        )
        for pci in (*wanted, *report.lost)
        if pci not in there
    ]
    mine = [there[pci] for pci in wanted if pci in there]
    findings += [_again(gpu, expected) for gpu in mine if gpu.recovery not in NOTHING]
    if not wanted:
        raise EvidenceError("nvidia-smi lists no GPU since the reset; look at the driver")
    joining = [component(gpu) for gpu in mine if gpu.fabric.state in JOINING]
    unread = [f"{', '.join(joining)}: still joining the NVLink fabric; check again"] if joining else []
    reading = readings.get("fabric_manager_unit")
    unit = systemctl.one(reading.text) if reading is not None and not reading.rc else None
    if unit is not None and unit.load == "loaded" and unit.active not in {"active", *SOON}:
        findings.append(
            about(expected.node, "reset.service_down", "Fabric Manager")(
                message=f"Fabric Manager of {expected.node} is {unit.active} after the reset, expected active",
                remedy=Remedy.REBOOT,
            )
        )
    return findings, unread


def _again(gpu: Gpu, expected: Expected) -> Finding:
    return about(expected.node, "reset.not_enough", component(gpu))(
        message=f"{component(gpu)} was reset, and its driver still asks for: {gpu.recovery}", remedy=Remedy.REBOOT
    )


def _what(progress: Progress) -> str:
    if progress.remedy is Remedy.RESTART:
        return "the service"
    return f"GPU {', '.join(progress.gpus)}" if progress.gpus else "all GPUs"


def _did(progress: Progress) -> str:
    return "restarted" if progress.remedy is Remedy.RESTART else "reset"


def _done(progress: Progress) -> str:
    before = ", already before" if progress.again else ""
    units = ", ".join(name for name, _ in progress.units)
    if progress.remedy is Remedy.RESTART:
        return f"{units or 'the service'} was restarted and runs{before}"
    return f"{_what(progress)}: reset{before}" + (f", and {units} runs again" if units else "")


CHECK = Check(
    name=NAME,
    question="Were the GPUs reset, or the service restarted, and is everything up again?",
    reads=(READ,),
    judge=judge,
    also=("nvidia_smi", "fabric_manager_unit"),
    codes=(
        Code("reset.gpu_lost", (Remedy.REBOOT,), "a GPU that the driver does not reach, before its reset or after"),
        Code("reset.failed", (Remedy.REBOOT,), "nvidia-smi could not reset GPUs that nobody held"),
        Code("reset.not_enough", (Remedy.REBOOT,), "the driver still asks for a recovery of a GPU that was reset"),
        Code("reset.service_down", (Remedy.REBOOT,), "a service does not run after it was started"),
    ),
    source="The manual of nvidia-smi (`--gpu-reset`, return value); see `docs/remedies.md`.",
)
