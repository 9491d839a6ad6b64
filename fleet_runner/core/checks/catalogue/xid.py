"""Did the GPUs' driver log an Xid (an NVSwitch an SXid, amdgpu a message) since the boot that asks for something?"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, fault_key, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import xid as parser
from fleet_runner.core.checks.parsers.kernel_lines import readable
from fleet_runner.core.checks.parsers.xid import KernelLog, SxidLine, XidLine
from fleet_runner.core.checks.shared import amdgpu_messages, driver_messages, gpus, kernel_messages
from fleet_runner.core.checks.shared.driver_messages import NO_START
from fleet_runner.core.checks.shared.treated_faults import TREATED, untreated
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.faults import nvlink4, nvlink5, sxid
from fleet_runner.core.faults.xid import NVLINK, NVLINK5, RECOVERY, RECOVERY_ACTION, row

UNITS_SHOWN = 4
"""Units that a message names: eighteen links can fail at once."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding per GPU and code, however often it was logged; what only concerns applications is recorded.

    What was logged of a fault before its last treatment is no finding any more: a reset leaves the log as it is.
    """
    log = _news(parser.parse(text_of(readings["dmesg"])), expected, readings["dmesg"].at)
    switches = _sxids(log, expected.node)
    paired = any(finding.remedy is not Remedy.RECORD for finding in switches)
    xids = _xids(log, expected.node, paired=paired)
    findings = [*xids, *switches, *_unnumbered(readings, expected, [*xids, *switches])]
    findings += kernel_messages.findings(readings["dmesg"], amdgpu_messages.LOGGED, expected)
    counts = Counter(line.code for line in log.xids)
    observed = {
        "xids": {str(code): count for code, count in sorted(counts.items())},
        "sxids": {str(code): count for code, count in sorted(Counter(line.code for line in log.sxids).items())},
    }
    seen = f"; recorded only: {', '.join(f'Xid {code}' for code in sorted(counts))}" if counts else ""
    return conclude("xid", findings, f"no Xid since boot needs action{seen}", observed)


def _news(log: KernelLog, expected: Expected, read_at: float) -> KernelLog:
    if not expected.run.get(TREATED):
        return log

    def is_news(line: XidLine | SxidLine, code: str, component: str) -> bool:
        fault = fault_key(expected.node, f"{code}.{line.code}", f"{component} {line.pci}")
        return bool(untreated([line], fault, expected, read_at))

    return KernelLog(
        tuple(line for line in log.xids if is_news(line, "xid", "GPU")),
        tuple(line for line in log.sxids if is_news(line, "sxid", "NVSwitch")),
    )


def _xids(log: KernelLog, node: str, *, paired: bool) -> list[Finding]:
    by_fault: dict[tuple[str, int], list[XidLine]] = {}
    for line in log.xids:
        by_fault.setdefault((line.pci, line.code), []).append(line)
    return [of_xid(lines, node, paired=paired) for lines in by_fault.values()]


def _unnumbered(readings: Readings, expected: Expected, numbered: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what the driver says without an Xid, unless one has told the same; a GPU that is there is well again."""
    found = kernel_messages.findings(readings["dmesg"], driver_messages.LOGGED, expected)
    there = _answering(readings)
    starts = driver_messages.Starts()
    starts.take(text_of(readings["dmesg"]))
    for finding in found:
        if driver_messages.explained(finding.component, numbered) or starts.mismatched(finding):
            continue
        if finding.code == NO_START and finding.component.removeprefix("GPU ").lower() in there:
            message = f"{finding.message}; nvidia-smi sees it now"
            yield replace(finding, message=message, remedy=Remedy.RECORD)
        else:
            yield finding


def _answering(readings: Readings) -> frozenset[str]:
    """Return the addresses of the GPUs that nvidia-smi sees; none where it was not asked, or has no answer."""
    if "nvidia_smi" not in readings:
        return frozenset()
    try:
        return frozenset(gpu.pci for gpu in gpus.answering(readings))
    except EvidenceError:
        return frozenset()


def of_xid(lines: Sequence[XidLine], node: str, *, paired: bool) -> Finding:
    """Return what the lines of one GPU and code mean; `paired` as in `remedy`."""
    last = lines[-1]
    when = f", last at {readable(last.at)}" if last.at else ""
    times = f"{len(lines)} times" if len(lines) > 1 else "once"
    return about(node, f"xid.{last.code}", f"GPU {last.pci}")(
        message=f"GPU {last.pci}: {named(last.code)}; logged {times}{when}{said(lines)}",
        remedy=remedy(lines, paired=paired),
    )


def named(code: int) -> str:
    """Return a code with the driver's name for it and what it means."""
    known = row(code)
    return f"Xid {code}{f' ({known.mnemonic})' if known.mnemonic else ''}, {known.meaning}"


def said(lines: Sequence[XidLine]) -> str:
    """Return what the driver asks for, and which units of which links it names; "" where it says neither."""
    action = lines[-1].action
    return (f"; the driver asks for: {action}" if action else "") + _units(lines)


def remedy(lines: Sequence[XidLine], *, paired: bool) -> Remedy:
    """Return what the lines of one GPU and code ask for; `paired` says that an NVSwitch reported a fatal error too.

    Xid 154 announces a state: only its last word counts. NVLink 5 errors are decoded bit by bit; where that fails the
    line's own severity counts, and the Xid 154 that follows a fatal one carries the driver's own decision.
    """
    code = lines[-1].code
    if code == RECOVERY_ACTION:
        return RECOVERY.get(lines[-1].action or "", row(code).remedy)
    if code == NVLINK:
        return Remedy.RESET if paired else max(map(_nvlink4, lines), key=list(Remedy).index)
    if code in NVLINK5:
        return max(map(_nvlink5, lines), key=list(Remedy).index)
    return row(code).remedy


def _nvlink4(line: XidLine) -> Remedy:
    if not line.fatal:
        return row(line.code).remedy
    decoded = nvlink4.decode(line.text)
    return Remedy.RESET if decoded is None else decoded.remedy


def _nvlink5(line: XidLine) -> Remedy:
    decoded = nvlink5.decode(line.code, line.text)
    if decoded is not None:
        return decoded.remedy
    return row(line.code).remedy if line.fatal else Remedy.RECORD


def _units(lines: Sequence[XidLine]) -> str:
    """Say which links NVLink errors are about, for NVLink 5 which units of them, and where to look."""
    if lines[-1].code == NVLINK:
        older = [each for each in (nvlink4.decode(line.text) for line in lines) if each is not None]
        links = dict.fromkeys(f"link {each.link}" for each in older)
        meanings = dict.fromkeys(each.meaning for each in older if each.meaning)
        return "".join(f"; {each}" for each in (", ".join(list(links)[:UNITS_SHOWN]), *list(meanings)[:1]) if each)
    decoded = [found for line in lines if (found := nvlink5.decode(line.code, line.text)) is not None]
    where = dict.fromkeys(f"{each.unit} of link {each.link}" if each.link >= 0 else each.unit for each in decoded)
    look = dict.fromkeys(each.look for each in decoded if each.look)
    told = [", ".join(list(where)[:UNITS_SHOWN])] if where else []
    told += [f"look at {each}" for each in list(look)[:1]]
    return "".join(f"; {each}" for each in told)


def _sxids(log: KernelLog, node: str) -> list[Finding]:
    by_fault: dict[tuple[str, int], list[SxidLine]] = {}
    for line in log.sxids:
        by_fault.setdefault((line.pci, line.code), []).append(line)
    return [of_sxid(lines, node) for lines in by_fault.values()]


def of_sxid(lines: Sequence[SxidLine], node: str) -> Finding:
    """Return what the lines of one NVSwitch and code mean."""
    first = lines[0]
    component = f"NVSwitch {first.pci}"
    return about(node, f"sxid.{first.code}", component)(
        message=f"{component}: SXid {first.code}, {first.text:.120}", remedy=_of_sxid(lines)
    )


def _of_sxid(lines: Sequence[SxidLine]) -> Remedy:
    """Return what the lines of one switch and code ask for: their own severity, or that of NVIDIA's tables."""
    code = lines[0].code
    if code in sxid.ALWAYS_FATAL:
        return Remedy.REBOOT
    if code in sxid.COOLING:
        return Remedy.WATCH
    told = {line.fatal for line in lines} - {None}
    fatal = any(told) if told else code in sxid.FATAL
    return Remedy.RESET if fatal else Remedy.RECORD


def _first(code: str) -> Remedy:
    return next(each.remedy for each in amdgpu_messages.LOGGED if each.rule.code == code)


CHECK = Check(
    name="xid",
    question="Did the GPUs' driver log an error since boot that asks for more than to be recorded?",
    reads=("dmesg",),
    also=("nvidia_smi",),
    judge=judge,
    codes=(
        Code("xid.*", tuple(Remedy)[: tuple(Remedy).index(Remedy.RMA)], "an Xid of this number, as its row says"),
        Code(
            "sxid.*",
            (Remedy.RECORD, Remedy.WATCH, Remedy.RESET, Remedy.REBOOT),
            "an NVSwitch error of this number: its line's severity, or NVIDIA's tables where it names none",
        ),
        Code(
            driver_messages.STUCK,
            (Remedy.RESET,),
            "a GPU's system processor (GSP) does not answer, or the driver says that a GPU must be reset; without an"
            " Xid that says the same",
        ),
        Code(
            driver_messages.NO_START,
            (Remedy.RESET, Remedy.RECORD),
            "the driver could not start a GPU; recorded only once nvidia-smi sees it, and not told where"
            " `gpu.driver_mismatch` explains that its firmware was not found or was refused",
        ),
        Code(driver_messages.NVLINK, (Remedy.RESET,), "the driver could not find out which NVLinks are connected"),
        Code(
            driver_messages.NO_ADDRESS,
            (Remedy.WATCH,),
            "a GPU's memory got no address from the BIOS (decoding above 4 GB, its size) or the virtual machine",
        ),
        Code(
            driver_messages.MISMATCH,
            (Remedy.RECORD,),
            "a program's libraries or the GPU's firmware, and the kernel's module, are of two versions of the driver:"
            " updated without a reboot, or a container's own",
        ),
        *(
            Code(code, (_first(code),), f"the driver of AMD's GPUs: {meaning}")
            for code, meaning in amdgpu_messages.CODES.items()
        ),
    ),
    source="NVIDIA's Xid catalogue (172 codes, the bits of 74 and of 144 to 150), its Fabric Manager guide and open"
    " driver; the source of Linux's amdgpu and its documentation of RAS, AMD's notes on ROCm 6.2.1",
)
