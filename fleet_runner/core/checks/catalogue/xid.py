"""Did the driver log an Xid (or an NVSwitch an SXid) since the node booted that asks for something?"""

from collections import Counter
from collections.abc import Sequence

from fleet_runner.core.checks.answers import about, conclude, fault_key, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import xid as parser
from fleet_runner.core.checks.parsers.kernel_lines import readable
from fleet_runner.core.checks.parsers.xid import KernelLog, SxidLine, XidLine
from fleet_runner.core.checks.shared.treated_faults import TREATED, untreated
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.faults import nvlink5, sxid
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
    findings = [*_xids(log, expected.node, paired=paired), *switches]
    counts = Counter(line.code for line in log.xids)
    observed = {
        "xids": {str(code): count for code, count in sorted(counts.items())},
        "sxids": {str(code): count for code, count in sorted(Counter(line.code for line in log.sxids).items())},
    }
    seen = f"; recorded only: {', '.join(f'Xid {code}' for code in sorted(counts))}" if counts else ""
    return conclude("xid", findings, f"no Xid since boot asks for anything{seen}", observed)


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
    if code == NVLINK and paired:
        return Remedy.RESET
    if code in NVLINK5:
        return max((_nvlink5(line) for line in lines), key=list(Remedy).index)
    return row(code).remedy


def _nvlink5(line: XidLine) -> Remedy:
    decoded = nvlink5.decode(line.code, line.text)
    if decoded is not None:
        return decoded.remedy
    return row(line.code).remedy if line.fatal else Remedy.RECORD


def _units(lines: Sequence[XidLine]) -> str:
    """Say which units of which links NVLink 5 errors are about, and where to look."""
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


CHECK = Check(
    name="xid",
    question="Did the GPUs' driver log an error since boot that asks for more than to be recorded?",
    reads=("dmesg",),
    judge=judge,
    codes=(
        Code("xid.*", tuple(Remedy)[: tuple(Remedy).index(Remedy.RMA)], "an Xid of this number, as its row says"),
        Code(
            "sxid.*",
            (Remedy.RECORD, Remedy.WATCH, Remedy.RESET, Remedy.REBOOT),
            "an NVSwitch error of this number: its line's severity, or NVIDIA's tables where it names none",
        ),
    ),
    source="NVIDIA's Xid catalogue (172 codes, and its table of bits for 144 to 150) and its Fabric Manager guide",
)
