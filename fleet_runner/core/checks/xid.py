"""Did the driver log an Xid (or an NVSwitch an SXid) since the node booted that asks for something?"""

from collections import Counter
from collections.abc import Sequence

from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import xid as parser
from fleet_runner.core.parsers.xid import KernelLog, SxidLine, XidLine
from fleet_runner.core.verdicts import Finding, Remedy, Result
from fleet_runner.core.xids import NVLINK, NVLINK5, RECOVERY, RECOVERY_ACTION, SXID_ALWAYS_FATAL, row


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding per GPU and code, however often it was logged; what only concerns applications is recorded."""
    log = parser.parse(text_of(readings["dmesg"]))
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


def _xids(log: KernelLog, node: str, *, paired: bool) -> list[Finding]:
    by_fault: dict[tuple[str, int], list[XidLine]] = {}
    for line in log.xids:
        by_fault.setdefault((line.pci, line.code), []).append(line)
    return [_finding(lines, node, paired=paired) for lines in by_fault.values()]


def _finding(lines: Sequence[XidLine], node: str, *, paired: bool) -> Finding:
    last = lines[-1]
    known = row(last.code)
    name = f" ({known.mnemonic})" if known.mnemonic else ""
    when = f", last at {last.at}" if last.at else ""
    times = f"{len(lines)} times" if len(lines) > 1 else "once"
    said = f"; the driver asks for: {last.action}" if last.action else ""
    return about(node, f"xid.{last.code}", f"GPU {last.pci}")(
        message=f"GPU {last.pci}: Xid {last.code}{name}, {known.meaning}; logged {times}{when}{said}",
        remedy=remedy(lines, paired=paired),
    )


def remedy(lines: Sequence[XidLine], *, paired: bool) -> Remedy:
    """Return what the lines of one GPU and code ask for; `paired` says that an NVSwitch reported a fatal error too.

    Xid 154 announces a state: only its last word counts. NVLink 5 codes name their severity line by line, and their
    bits are not decoded here: the Xid 154 that follows a fatal one carries the driver's own decision.
    """
    code = lines[-1].code
    if code == RECOVERY_ACTION:
        return RECOVERY.get(lines[-1].action or "", row(code).remedy)
    if code == NVLINK and paired:
        return Remedy.RESET
    if code in NVLINK5 and not any(line.fatal for line in lines):
        return Remedy.RECORD
    return row(code).remedy


def _sxids(log: KernelLog, node: str) -> list[Finding]:
    by_fault: dict[tuple[str, int], list[SxidLine]] = {}
    for line in log.sxids:
        by_fault.setdefault((line.pci, line.code), []).append(line)
    return [_sxid(lines, node) for lines in by_fault.values()]


def _sxid(lines: Sequence[SxidLine], node: str) -> Finding:
    first = lines[0]
    follows = Remedy.RESET if any(line.fatal for line in lines) else Remedy.RECORD
    if first.code in SXID_ALWAYS_FATAL:
        follows = Remedy.REBOOT
    component = f"NVSwitch {first.pci}"
    return about(node, f"sxid.{first.code}", component)(
        message=f"{component}: SXid {first.code}, {first.text:.120}", remedy=follows
    )


CHECK = Check(
    name="xid",
    question="Did the GPUs' driver log an error since boot that asks for more than to be recorded?",
    reads=("dmesg",),
    judge=judge,
)
