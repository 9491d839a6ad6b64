"""Do the disks themselves, or the kernel that uses them, say that one is failing?"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files, nvme_files, smart
from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.parsers.smart import Health, Warnings
from fleet_runner.core.checks.shared import counter_growth, kernel_messages
from fleet_runner.core.checks.shared.counter_growth import Growth
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "disk_health"

WORN_OUT = 100
"""Percent of its endurance that a drive has used, by its vendor's own estimate (NVM Express Base Specification)."""

_CONTROLLER = re.compile(r"nvme\d{1,4}", re.ASCII)
_NVME = r"nvme (?P<what>nvme\d{1,4}): "
_DISK = r"(?P<what>(?:nvme\d{1,4}(?:c\d{1,4})?n\d{1,6}|sd[a-z]{1,3}))"

FIND = (
    "Find the disk behind {} by its serial number: lsblk -o NAME,SERIAL,MODEL.",
    "Reseat it; if the kernel says so again, replace it.",
)

LOGGED = (
    Known(
        Rule(
            "disk.gone", "nvme nvme", re.compile(_NVME + r"(?:Disabling device|Removing) after (?:reset|probe) fail")
        ),
        Remedy.REBOOT,
        "the kernel can no longer reach it",
    ),
    Known(
        Rule("disk.gone", "no available path", re.compile(rf"block {_DISK}: no available path - failing I/O")),
        Remedy.REBOOT,
        "the kernel can no longer reach it",
    ),
    Known(
        Rule(
            "disk.resets",
            "nvme nvme",
            re.compile(_NVME + r"(?:I/O .{1,120}timeout, |controller is down; will )reset"),
        ),
        Remedy.WATCH,
        "its controller was reset because it did not answer",
    ),
    Known(
        Rule(
            "disk.medium",
            "critical medium error, dev",
            re.compile(rf"(?:blk_update_request: )?critical medium error, dev {_DISK}[ ,]"),
        ),
        Remedy.TRIAGE,
        "its data cannot be read",
        steps=FIND,
    ),
    Known(
        Rule(
            "disk.io",
            " error, dev ",
            re.compile(rf"(?:blk_update_request: |print_req_error: )?(?:critical target|I/O) error, dev {_DISK}[ ,]"),
        ),
        Remedy.WATCH,
        "reading or writing failed",
    ),
    Known(
        Rule(
            "disk.io",
            "Buffer I/O error on dev",
            re.compile(r"Buffer I/O error on dev(?:ice)? (?P<what>[\w.-]{1,40}), logical block"),
        ),
        Remedy.WATCH,
        "reading or writing failed",
    ),
    Known(
        Rule(
            "disk.array",
            "Disk failure on ",
            re.compile(r"md/raid[0-9a-z]{0,4}:(?P<what>md\w{1,30}): (?P<why>Disk failure on \w{1,30})"),
        ),
        Remedy.TRIAGE,
        "the array lost a disk",
        steps=FIND,
    ),
)
"""What the kernel logs about disks; gpud looks for the same."""

BITS: tuple[tuple[Warnings, str, Remedy, str], ...] = (
    (Warnings.DEGRADED, "disk.degraded", Remedy.RMA, "says that it has become unreliable"),
    (Warnings.READ_ONLY, "disk.read_only", Remedy.RMA, "has become read-only"),
    (Warnings.BACKUP, "disk.backup", Remedy.RMA, "says that the backup power of its cache has failed"),
    (Warnings.PERSISTENT_MEMORY, "disk.read_only", Remedy.RMA, "says that its persistent memory is read-only"),
    (Warnings.TEMPERATURE, "disk.hot", Remedy.WATCH, "says that it is outside of its range of temperatures"),
)


Names = Mapping[str, tuple[str, str]]
"""How findings and people name a disk, by the kernel's name for its controller ("/dev/nvme0")."""


class Disk(NamedTuple):
    """A disk, how findings name it, and how people find it."""

    component: str
    which: str
    health: Health


def judge(readings: Readings, expected: Expected) -> Result:
    """Take each disk's own word, then what it counted since the last look, then the kernel's log."""
    wanted = section(expected.profile, NAME)
    known = _known(readings)
    disks, unread = _disks(readings, wanted, known)
    counts = {
        f"{disk.component} {name}": count
        for disk in disks
        for name, count in (
            ("media errors", disk.health.media_errors),
            ("reallocated sectors", disk.health.reallocated),
            ("unsafe shutdowns", disk.health.unsafe_shutdowns),
        )
        if count is not None
    }
    growth = counter_growth.growth(NAME, counts, readings["nvme_smart"], expected)
    findings = [finding for disk in disks for finding in _findings(disk, wanted, growth, expected.node)]
    findings += kernel_messages.findings(readings["dmesg"], LOGGED, expected, lambda name: _stable(name, known))
    observed = {
        "disks": len(disks),
        "used_percent": {disk.component: disk.health.used for disk in disks},
        "celsius": {disk.component: disk.health.celsius for disk in disks},
        "counted": {disk.component: _told(disk.health) for disk in disks},
        "looks": growth.looks,
    }
    return unless_unread(conclude(NAME, findings, f"{len(disks)} disks report good health", observed), unread)


def _told(health: Health) -> dict[str, float]:
    """Return what tells a disk's age: its spare blocks, and what it counts for life."""
    told = {
        "spare_percent": health.spare,
        "media_errors": health.media_errors,
        "reallocated": health.reallocated,
        "unsafe_shutdowns": health.unsafe_shutdowns,
    }
    return {name: value for name, value in told.items() if value is not None}


def _disks(readings: Readings, wanted: Section, known: Names) -> tuple[list[Disk], list[str]]:
    """Return the disks that told their health, and why others did not."""
    answers: dict[str, Health | None] = smart.parse(text_of(readings["nvme_smart"]))
    told = set(answers)
    unread = [
        f"{name} does not report its health; {_why(readings, 'nvme_smart')}" for name in sorted(known.keys() - told)
    ]
    if wanted.has("ata") and wanted.flag("ata"):
        reading = readings.get("ata_smart")
        others = smart.parse(text_of(reading)) if reading is not None else {}
        answers |= others
        if not others:
            unread.append("no SATA disk reports its health; is smartctl on the node?")
    if not answers and not known:
        raise EvidenceError("no disk reports its health; are nvme-cli and the driver installed?")
    disks: list[Disk] = []
    for name, health in sorted(answers.items()):
        if health is None:
            asked = "nvme_smart" if name in told else "ata_smart"
            unread.append(f"{name} does not report its health; {_why(readings, asked)}")
            continue
        component, which = known.get(name) or _named(name, health)
        disks.append(Disk(component, which, health))
    return disks, unread


def _why(readings: Readings, name: str) -> str:
    said = readings[name].error.strip().splitlines()
    return f"the tool printed: {said[-1]:.120}" if said else "its answer is incomplete"


def _known(readings: Readings) -> Names:
    """Return how the NVMe drives of the node are named: their logs do not say who they are."""
    drives = nvme_files.controllers(files.parse(text_of(readings["nvme_controllers"])))
    return {
        f"/dev/{drive.name}": (
            drive.component,
            f"{drive.component} ({drive.model or 'model unknown'}, serial {drive.serial or 'unknown'})",
        )
        for drive in drives
    }


def _stable(name: str, known: Names) -> str:
    """Return the name that no reboot changes of "nvme4" and of its namespaces; of others, the kernel's."""
    controller = _CONTROLLER.match(name)
    return known.get(f"/dev/{controller[0]}", (name, name))[0] if controller else name


def _named(name: str, health: Health) -> tuple[str, str]:
    component = f"disk {health.serial}" if health.serial else f"disk {name}"
    return component, f"{component} ({name}, {health.model or 'model unknown'})"


def _findings(disk: Disk, wanted: Section, growth: Growth, node: str) -> Iterator[Finding]:
    health = disk.health
    bits = health.warnings or Warnings(0)
    for bit, code, remedy, said in BITS:
        if bits & bit:
            warm = f" ({health.celsius:g} C)" if bit is Warnings.TEMPERATURE and health.celsius is not None else ""
            yield _finding(disk, code, remedy, f"{said}{warm}", node)
    if health.failing and not bits:
        yield _finding(disk, "disk.failing", Remedy.RMA, "says that it is failing (SMART overall health)", node)
    if Warnings.SPARE & bits or (
        health.spare is not None and health.spare_least is not None and health.spare < health.spare_least
    ):
        left = f"{health.spare:g} %" if health.spare is not None else "an unknown share"
        least = f"{health.spare_least:g} %" if health.spare_least is not None else "its own limit"
        yield _finding(disk, "disk.spare", Remedy.RMA, f"has {left} of its spare blocks left, expected {least}", node)
    yield from _worn(disk, wanted, node)
    for each in health.contradictions:
        yield _finding(disk, "disk.implausible", Remedy.WATCH, f"reports impossible counts: {each}", node)
    if health.pending:
        told = f"has {health.pending} sectors that it cannot read"
        yield _finding(disk, "disk.medium", Remedy.TRIAGE, told, node)
    yield from _counted(disk, growth, node)


def _worn(disk: Disk, wanted: Section, node: str) -> Iterator[Finding]:
    used, celsius = disk.health.used, disk.health.celsius
    if used is not None and used >= WORN_OUT:
        told = f"has used {used:g} % of its endurance, by its own estimate"
        yield _finding(disk, "disk.worn_out", Remedy.TRIAGE, told, node)
    elif used is not None and wanted.has("used_percent_max") and used > wanted.number("used_percent_max"):
        told = f"has used {used:g} % of its endurance, expected at most {wanted.number('used_percent_max'):g} %"
        yield _finding(disk, "disk.worn", Remedy.WATCH, told, node)
    hot = (disk.health.warnings or Warnings(0)) & Warnings.TEMPERATURE
    if celsius is not None and not hot and wanted.has("celsius_max") and celsius > wanted.number("celsius_max"):
        told = f"is at {celsius:g} C, expected at most {wanted.number('celsius_max'):g}"
        yield _finding(disk, "disk.hot", Remedy.WATCH, told, node)


COUNTED: Mapping[str, tuple[str, Remedy]] = {
    "media errors": ("disk.media_errors", Remedy.TRIAGE),
    "reallocated sectors": ("disk.reallocated", Remedy.TRIAGE),
    "unsafe shutdowns": ("disk.unsafe_shutdowns", Remedy.RECORD),
}
"""What may not grow: a disk keeps these counts for life, so what it counted before anybody looked says little."""


def _counted(disk: Disk, growth: Growth, node: str) -> Iterator[Finding]:
    for what, (code, remedy) in COUNTED.items():
        more = growth.grown.get(f"{disk.component} {what}")
        if more:
            yield _finding(disk, code, remedy, f"counted {more} more {what} within {growth.hours}", node)


def _finding(disk: Disk, code: str, remedy: Remedy, said: str, node: str) -> Finding:
    steps = (
        f"Check that nothing on {disk.which} is still needed, and light its bay: ledctl locate, or the BMC.",
        "Put another disk of the same kind into its bay, and write its serial into the source of truth.",
    )
    return about(node, code, disk.component)(
        message=f"{disk.which} {said}",
        remedy=remedy,
        steps=steps if remedy in {Remedy.TRIAGE, Remedy.RMA} else (),
    )


CHECK = Check(
    name=NAME,
    question="Do the disks, and the kernel that uses them, report no fault?",
    reads=("nvme_smart", "nvme_controllers", "dmesg"),
    also=("ata_smart",),
    judge=judge,
    remembers=True,
    section=NAME,
    codes=(
        Code("disk.failing", (Remedy.RMA,), "SMART's overall health failed"),
        Code("disk.degraded", (Remedy.RMA,), "critical warning: the drive has become unreliable"),
        Code("disk.read_only", (Remedy.RMA,), "critical warning: the drive, or its persistent memory, is read-only"),
        Code("disk.backup", (Remedy.RMA,), "critical warning: the backup power of its cache has failed"),
        Code("disk.spare", (Remedy.RMA,), "fewer spare blocks than the drive's own threshold"),
        Code("disk.hot", (Remedy.WATCH,), "critical warning for temperature, or over `disk_health.celsius_max`"),
        Code("disk.worn_out", (Remedy.TRIAGE,), "all of its endurance used, by its vendor's estimate"),
        Code("disk.worn", (Remedy.WATCH,), "more of its endurance used than `disk_health.used_percent_max`"),
        Code("disk.medium", (Remedy.TRIAGE,), "unreadable sectors, as the disk or the kernel reports"),
        Code("disk.media_errors", (Remedy.TRIAGE,), "media errors grew since an earlier look"),
        Code("disk.reallocated", (Remedy.TRIAGE,), "reallocated sectors grew since an earlier look"),
        Code("disk.unsafe_shutdowns", (Remedy.RECORD,), "the drive lost its power without warning"),
        Code("disk.implausible", (Remedy.WATCH,), "counts of the drive that contradict each other"),
        Code("disk.gone", (Remedy.REBOOT,), "the kernel no longer uses the drive, or no path leads to it"),
        Code("disk.resets", (Remedy.WATCH,), "its controller was reset because it did not answer"),
        Code("disk.io", (Remedy.WATCH,), "the kernel logged failed reads or writes"),
        Code("disk.array", (Remedy.TRIAGE,), "an array lost a disk"),
    ),
    source="NVM Express Base Specification (SMART / Health Information); the limits of `disk_health`; Meta's GCM"
    " calls 80 % of the endurance low and 100 % exceeded; the log's messages are those that gpud looks for.",
)
