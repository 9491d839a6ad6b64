"""Did the node's memory, or a processor, make errors that ask for something?

Corrected errors are normal, many a day are not; an uncorrected one has cost somebody's data or the whole node.
"""

import re
from collections.abc import Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import edac, files, meminfo
from fleet_runner.core.checks.parsers.edac import Counted
from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.shared import counter_growth, kernel_messages
from fleet_runner.core.checks.shared.counter_growth import DAY, Growth
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import section

NAME = "memory_errors"

MEMINFO = "/proc/meminfo"

KIB = 1024

_HARDWARE = r"(?:mce: )?(?:\{\d{1,6}\})?\[Hardware Error\]: {1,4}"
_BANK = r"(?P<what>CPU ?\d{1,5}): Machine Check(?: Exception)?: {1,2}[0-9a-f]{1,16} Bank \d{1,3}: "

READ_SEL = (
    "Look at the BMC's event log: it names the processor or the memory slot.",
    "Reseat what it names; if errors come back, replace it.",
)

_UNCORRECTED = "a processor had an uncorrectable error"

_LOST = "memory lost its data"

LOGGED = (
    Known(
        # A bank's status is valid by its bit 63, and was not corrected by its bit 61 (Intel's SDM, IA32_MCi_STATUS).
        Rule("cpu.machine_check", "Machine Check", re.compile(_HARDWARE + _BANK + r"(?P<why>[abef][0-9a-f]{15})\b")),
        Remedy.TRIAGE,
        _UNCORRECTED,
        steps=READ_SEL,
    ),
    Known(
        Rule(
            "memory.lost",
            "Uncorrected hardware memory error",
            re.compile(r"mce: Uncorrected hardware memory error in "),
        ),
        Remedy.TRIAGE,
        _LOST,
        "memory {}",
        READ_SEL,
    ),
    Known(
        Rule(
            "memory.lost", "Memory failure: 0x", re.compile(r"Memory failure: 0x[0-9a-f]{1,16}: recovery action for ")
        ),
        Remedy.TRIAGE,
        _LOST,
    ),
    Known(
        Rule("memory.lost", " UE ", re.compile(r"EDAC MC\d{1,3}: [1-9]\d{0,8} UE .{0,80}?on (?P<what>[^\s(]{1,60})")),
        Remedy.TRIAGE,
        _LOST,
    ),
    Known(
        Rule("platform.fatal", "event severity: fatal", re.compile(_HARDWARE + "event severity: fatal")),
        Remedy.TRIAGE,
        "the firmware reported a fatal error",
        "platform",
        READ_SEL,
    ),
    Known(
        Rule("platform.recoverable", "event severity: rec", re.compile(_HARDWARE + "event severity: recoverable")),
        Remedy.WATCH,
        "the firmware reported an error that was not corrected",
        "platform",
    ),
    Known(
        Rule("platform.corrected", "event severity: corrected", re.compile(_HARDWARE + "event severity: corrected")),
        Remedy.RECORD,
        "the firmware reported an error that was corrected",
        "platform",
    ),
    Known(
        Rule(
            "cpu.hot",
            "temperature above threshold",
            re.compile(r"(?:mce: )?(?P<what>CPU\d{1,5}): (?:Core|Package) temperature above threshold"),
        ),
        Remedy.WATCH,
        "it was too hot and throttled",
    ),
    Known(
        Rule(
            "cpu.logged", "Machine check events", re.compile(r"mce: \[Hardware Error\]: Machine check events logged")
        ),
        Remedy.RECORD,
        "machine checks were logged, corrected ones among them",
        "CPUs",
    ),
)
"""What the kernel logs about errors of memory and processors; Meta's GCM looks for machine checks likewise."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Blame the module that EDAC blames; what EDAC does not count, the kernel's log may still tell."""
    wanted = section(expected.profile, NAME)
    modules = edac.counted(files.parse(text_of(readings["edac"])))
    findings = list(kernel_messages.findings(readings["dmesg"], LOGGED, expected))
    if not modules and not findings:
        raise EvidenceError("no EDAC driver counts memory errors; is one loaded for this processor?")
    counts = {each.key: each.corrected for each in modules if each.corrected is not None}
    growth = counter_growth.growth(NAME, counts, readings["edac"], expected)
    most = wanted.number("corrected_per_day_max")
    findings += [finding for each in modules for finding in _findings(each, growth, most, expected.node)]
    unread = [f"EDAC does not report the errors of {each.component}" for each in modules if _untold(each)]
    if not modules:
        unread.append("no EDAC driver counts memory errors; is one loaded for this processor?")
    poisoned = _poisoned(readings)
    if wanted.has("poisoned_kib_max"):
        limit = wanted.number("poisoned_kib_max")
        if poisoned is None:
            unread.append(f"{MEMINFO} was not read; how much memory the kernel took out of use is unknown")
        elif poisoned > limit * KIB:
            findings.append(_given_up(poisoned, limit, expected.node))
    observed = {
        "modules": len(modules),
        "corrected": sum(each.corrected or 0 for each in modules),
        "uncorrected": sum(each.uncorrected or 0 for each in modules),
        "by_module": {
            each.component: {"corrected": each.corrected, "uncorrected": each.uncorrected} for each in modules
        },
        "poisoned_kib": None if poisoned is None else poisoned // KIB,
        "looks": growth.looks,
    }
    passed = f"{observed['corrected']} corrected errors since the boot, none uncorrected"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _untold(each: Counted) -> bool:
    return each.corrected is None or each.uncorrected is None


def _poisoned(readings: Readings) -> int | None:
    reading = readings.get("meminfo")
    text = files.parse(text_of(reading)).get(MEMINFO) if reading is not None else None
    return None if text is None else meminfo.parse(text).get("HardwareCorrupted")


def _findings(each: Counted, growth: Growth, most: float, node: str) -> Iterator[Finding]:
    where = f"{each.component} ({each.location})" if each.location else each.component
    steps = (
        f"Find the module that the kernel calls {each.label or each.key} ({each.location or 'place unknown'}).",
        "Look at the BMC's event log for the slot's name on the board.",
        "Power the node off, reseat the module and clean its contacts; if errors come back, replace it.",
    )
    if each.uncorrected:
        yield about(node, "memory.uncorrected", each.component)(
            message=f"{where} made {each.uncorrected} uncorrected errors since the boot, expected 0",
            remedy=Remedy.TRIAGE,
            steps=steps,
        )
    more = growth.grown.get(each.key, 0)
    days = max(1.0, growth.seconds / DAY)
    if more > most * days:
        yield about(node, "memory.corrected", each.component)(
            message=f"{where} made {more} corrected errors within {growth.hours}, expected at most {most:g} a day",
            remedy=Remedy.TRIAGE,
            steps=steps,
        )
    elif more:
        yield about(node, "memory.corrected", each.component)(
            message=f"{where} made {more} corrected errors within {growth.hours}", remedy=Remedy.RECORD
        )


def _given_up(poisoned: int, limit: float, node: str) -> Finding:
    return about(node, "memory.poisoned", "memory")(
        message=f"the kernel took {poisoned // KIB} KiB of memory out of use after errors, "
        f"expected at most {limit:g}",
        remedy=Remedy.WATCH,
    )


CHECK = Check(
    name=NAME,
    question="Did memory or a processor make errors that could not be corrected, or too many that could?",
    reads=("edac", "dmesg"),
    also=("meminfo",),
    judge=judge,
    remembers=True,
    section=NAME,
    codes=(
        Code("memory.uncorrected", (Remedy.TRIAGE,), "a module made an error that could not be corrected"),
        Code(
            "memory.corrected",
            (Remedy.TRIAGE, Remedy.RECORD),
            "more corrected errors within a day than `memory_errors.corrected_per_day_max`; fewer are recorded",
        ),
        Code("memory.lost", (Remedy.TRIAGE,), "the kernel logged that memory lost its data"),
        Code(
            "memory.poisoned",
            (Remedy.WATCH,),
            "the kernel took more memory out of use than `memory_errors.poisoned_kib_max`",
        ),
        Code("cpu.machine_check", (Remedy.TRIAGE,), "a processor had an uncorrectable error"),
        Code("cpu.hot", (Remedy.WATCH,), "a processor was too hot and throttled"),
        Code("cpu.logged", (Remedy.RECORD,), "machine checks were logged"),
        Code("platform.fatal", (Remedy.TRIAGE,), "the firmware reported a fatal error (GHES)"),
        Code("platform.recoverable", (Remedy.WATCH,), "the firmware reported an error that was not corrected"),
        Code("platform.corrected", (Remedy.RECORD,), "the firmware reported an error that was corrected"),
    ),
    source="The kernel's EDAC counters; Intel's SDM for machine checks. mcelog's defaults call 10 corrected errors of"
    " a module and 100 of a socket within 24 hours too many.",
)
