"""Are the NVMe drives in the node that were bought, are they the right ones, and do they run?"""

from collections.abc import Iterator, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files, nvme_files
from fleet_runner.core.checks.parsers.nvme_files import Controller
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section, section
from fleet_runner.core.inventory.records import Part

NAME = "parts_nvme"

LIVE, GONE = "live", frozenset({"dead", "deleting", "deleting (no IO)"})
"""States of a controller (the kernel's nvme driver): at work, and given up. Between them it resets or connects."""

GB = 1e9


def judge(readings: Readings, expected: Expected) -> Result:
    """Count the drives, hold them against the profile, and their serials against the source of truth."""
    wanted = section(expected.profile, "parts.nvme")
    found = files.parse(text_of(readings["nvme_controllers"]))
    drives = nvme_files.controllers(found)
    if not drives and not nvme_files.loaded(found):
        raise EvidenceError("the kernel lists no NVMe controller; is its driver loaded?")
    findings = [*_count(drives, wanted, expected), *_serials(drives, wanted, expected)]
    findings += [finding for drive in drives for finding in _drive(drive, wanted, expected.node)]
    unread = [text for drive in drives for text in _unread(drive, wanted)]
    observed = {
        "drives": len(drives),
        "expected": wanted.whole("count"),
        "serials": {drive.pci or drive.name: drive.serial for drive in drives},
        "firmware": {drive.pci or drive.name: drive.firmware for drive in drives},
    }
    passed = f"{len(drives)} of {wanted.whole('count')} NVMe drives are present"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _count(drives: Sequence[Controller], wanted: Section, expected: Expected) -> list[Finding]:
    short = wanted.whole("count") - len(drives)
    count = f"{len(drives)} of {wanted.whole('count')} NVMe drives are present"
    if short <= 0:
        surplus = about(expected.node, "nvme.surplus", "NVMe drives")
        return [surplus(message=f"{count}: more than the profile's", remedy=Remedy.WATCH)] if short else []
    absent = _absent(drives, expected)
    if len(absent) != short:
        absent = [Part("", "nvme", "")]
    return [_missing(part, count, drives, expected.node) for part in absent]


def _missing(part: Part, count: str, drives: Sequence[Controller], node: str) -> Finding:
    which = f"{part.slot or 'slot unknown'}, serial {part.serial or 'unknown'}"
    seen = ", ".join(f"{drive.pci or drive.name} ({drive.serial})" for drive in drives) or "none"
    return about(node, "nvme.missing", f"NVMe {part.slot}" if part.slot else "NVMe drives")(
        message=f"{count}; missing: {which}",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Find the drive that is missing ({which}) and reseat it. Drives that are there: {seen}.",
            "If it is still missing, try another bay: this shows whether the drive or the bay is faulty.",
        ),
    )


def _absent(drives: Sequence[Controller], expected: Expected) -> list[Part]:
    """Return the parts whose serial no drive has; none while any drive keeps its serial to itself."""
    seen = {drive.serial for drive in drives}
    if "" in seen:
        return []
    return [part for part in profile.device_parts(expected.device, "nvme") if part.serial and part.serial not in seen]


def _serials(drives: Sequence[Controller], wanted: Section, expected: Expected) -> list[Finding]:
    """A drive nobody wrote down: the record or the node is wrong, and neither makes the node unfit to serve."""
    if len(drives) < wanted.whole("count"):
        return []
    known = {part.serial for part in profile.device_parts(expected.device, "nvme")}
    strangers = ", ".join(sorted({drive.serial for drive in drives} - known)) or "none"
    return [
        about(expected.node, "nvme.serial", f"NVMe {part.slot or part.serial}")(
            message=f"NVMe {part.slot or 'of unknown slot'} should have serial {part.serial}, which no drive of the"
            f" node has; there but not in the source of truth: {strangers}",
            remedy=Remedy.WATCH,
        )
        for part in _absent(drives, expected)
    ]


def _drive(drive: Controller, wanted: Section, node: str) -> Iterator[Finding]:
    name = f"{drive.component} ({drive.model or 'model unknown'}, serial {drive.serial or 'unknown'})"
    if drive.state in GONE:
        yield about(node, "nvme.dead", drive.component)(
            message=f"the kernel no longer uses {name}: it is {drive.state}, expected {LIVE}", remedy=Remedy.REBOOT
        )
        return
    models = wanted.texts("models") if wanted.has("models") else ()
    if models and drive.model and drive.model not in models:
        yield about(node, "nvme.model", drive.component)(
            message=f"{name} is none of {', '.join(models)}",
            remedy=Remedy.TRIAGE,
            steps=(f"Compare the drive at {drive.pci or drive.name} with the order.",),
        )
    if wanted.has("gigabytes_min") and drive.bytes is not None and drive.bytes < wanted.number("gigabytes_min") * GB:
        yield about(node, "nvme.size", drive.component)(
            message=f"{name} has {drive.bytes / GB:.0f} GB, expected at least {wanted.number('gigabytes_min'):g}",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Compare the drive at {drive.pci or drive.name} with the order.",
                "If it is the right one, look at its namespaces: nvme id-ctrl shows its whole capacity (tnvmcap).",
            ),
        )
    pins = wanted.texts("firmware") if wanted.has("firmware") else ()
    if pins and drive.firmware and drive.firmware not in pins:
        yield about(node, "nvme.firmware", drive.component)(
            message=f"{name} runs firmware {drive.firmware}, expected {' or '.join(pins)}", remedy=Remedy.REFLASH
        )


def _unread(drive: Controller, wanted: Section) -> Iterator[str]:
    if drive.state in GONE:
        return
    if drive.state != LIVE:
        yield f"{drive.component} is {drive.state or 'in an unknown state'}; check again once it is {LIVE}"
    told = {"models": drive.model, "firmware": drive.firmware, "gigabytes_min": drive.bytes}
    for name, value in told.items():
        if wanted.has(name) and not value and value != 0:
            yield f"the kernel does not report what the profile's {name} needs of {drive.component}"


CHECK = Check(
    name=NAME,
    question="Are all NVMe drives that were bought in the node, are they the right ones, and do they run?",
    reads=("nvme_controllers",),
    judge=judge,
    section="parts.nvme",
    codes=(
        Code("nvme.missing", (Remedy.TRIAGE,), "fewer drives than `parts.nvme.count`; named by slot and serial"),
        Code("nvme.dead", (Remedy.REBOOT,), "the kernel no longer uses a controller"),
        Code("nvme.model", (Remedy.TRIAGE,), "a drive that is none of `parts.nvme.models`"),
        Code("nvme.size", (Remedy.TRIAGE,), "a drive smaller than `parts.nvme.gigabytes_min`"),
        Code("nvme.firmware", (Remedy.REFLASH,), "a firmware that is none of `parts.nvme.firmware`"),
        Code("nvme.surplus", (Remedy.WATCH,), "more drives than the profile's"),
        Code("nvme.serial", (Remedy.WATCH,), "a serial number of the source of truth that no drive has"),
    ),
    source="The profile's `parts.nvme` and the source of truth; Azure's node health checks count the drives.",
)
