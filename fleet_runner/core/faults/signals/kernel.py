"""Lines of nodes' kernel logs as they arrive: the same codes, parts and remedies as the sweep's findings.

Lines of one push are judged together, as the driver logs some of them in company; each is a signal of its own. What
follows from company over several pushes is for the rules.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fleet_runner.core.checks.catalogue import (
    disk_health,
    file_systems,
    hca_events,
    kernel_log,
    memory_errors,
)
from fleet_runner.core.checks.catalogue import pcie_devices as pcie
from fleet_runner.core.checks.catalogue.xid import of_sxid, of_xid
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import xid
from fleet_runner.core.checks.parsers.xid import FALLEN_OFF_THE_BUS, SxidLine, XidLine
from fleet_runner.core.checks.shared import amdgpu_messages, driver_messages, kernel_messages
from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.faults.signals.clock import settled
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.core.faults.xid import RECOVERY_ACTION

MOST_LINES = 50_000
"""Lines of one push: a shipper that has more sends them in turn."""

LONGEST = 2000
"""Characters of a line that are looked at."""

TABLE = (
    *kernel_log.LOGGED, *hca_events.LOGGED, *memory_errors.LOGGED, *file_systems.LOGGED, *disk_health.LOGGED,
    *pcie.LOGGED, *driver_messages.LOGGED, *amdgpu_messages.LOGGED,
)  # fmt: skip
"""Every message of the kernel that a check looks for, but those with an Xid."""

_GPU = ("Xid (", "fallen off the bus")
_BEGINS = "NVRM: The NVIDIA GPU "
_FOLLOWS = ("Data {", "Severity ")
_WELL = "None"
_DRIVER = "NVRM: "


class Line(NamedTuple):
    """One line of a node's kernel log. `at` is its sender's time (epoch seconds), None where it names none.

    `told` is the time as it stood there: it tells lines apart whose clock cannot be believed.
    """

    host: str
    text: str
    at: float | None = None
    told: str = ""


def read(told: Iterable[Line], heard: float) -> tuple[Signal, ...]:
    """Return what lines of any nodes tell; lines that no check knows tell nothing."""
    hosts: dict[str, list[Line]] = defaultdict(list)
    for line in told:
        hosts[line.host].append(line)
    return tuple(signal for mine in hosts.values() for signal in _of_node(mine, heard))


def _of_node(mine: Sequence[Line], heard: float) -> Iterator[Signal]:
    whole = "\n".join(line.text for line in mine)
    numbered = list(_gpus(mine)) if any(mark in whole for mark in _GPU) else []
    told = [each.finding for each in numbered]
    table = [known for known in TABLE if known.rule.word in whole]
    if table:
        starts = _starts(mine)
        for line in mine:
            for finding in _logged(line, table):
                driver = finding.code in driver_messages.CODES
                again = driver and driver_messages.explained(finding.component, told)
                if not again and not starts.mismatched(finding):
                    yield _signal(line, finding, heard)
    yield from (_signal(each.line, each.finding, heard, ended=each.ended) for each in numbered)


def _starts(mine: Sequence[Line]) -> driver_messages.Starts:
    starts = driver_messages.Starts()
    for line in mine:
        if _DRIVER in line.text:
            starts.take(f"{line.text}\n")
    return starts


def _logged(line: Line, table: Sequence[kernel_messages.Known]) -> Iterator[Finding]:
    codes = {each.rule.code for each in table if each.rule.word in line.text}
    if codes:
        known = [each for each in TABLE if each.rule.code in codes]  # the first row of a code says what it means
        reading = Reading("line", ReadEnd.OK, f"{line.text}\n")
        yield from kernel_messages.findings(reading, known, Expected(line.host))


class _Numbered(NamedTuple):
    """What an Xid or SXid tells, and whether it tells that all is well again."""

    line: Line
    finding: Finding
    ended: bool = False


def _gpus(mine: Sequence[Line]) -> Iterator[_Numbered]:
    xids: list[tuple[Line, XidLine]] = []
    sxids: list[tuple[Line, SxidLine]] = []
    for index, line in enumerate(mine):
        if any(mark in line.text for mark in _GPU):
            log = xid.parse(f"{_begun(mine, index)}{line.text}\n")
            xids += [(line, each) for each in log.xids]
            # Those that follow only spell out the first one of their group.
            sxids += [(line, each) for each in log.sxids if not each.text.startswith(_FOLLOWS)]
    switches = [(line, of_sxid([each], line.host)) for line, each in sxids]
    paired = any(finding.remedy is not Remedy.RECORD for _, finding in switches)
    for line, each in _once(xids):
        well = each.code == RECOVERY_ACTION and each.action == _WELL
        yield _Numbered(line, of_xid([each], line.host, paired=paired), well)
    yield from (_Numbered(line, finding) for line, finding in switches)


def _begun(mine: Sequence[Line], index: int) -> str:
    """Return the line that begins what the driver says over three: that it lost a GPU when it was loaded."""
    before = mine[max(0, index - 2) : index]
    return "".join(f"{line.text}\n" for line in before if line.text.startswith(_BEGINS))


def _once(xids: Sequence[tuple[Line, XidLine]]) -> Iterator[tuple[Line, XidLine]]:
    """Leave out that a GPU fell off the bus where the driver also says so with an Xid's number."""
    numbered = {each.pci for line, each in xids if each.code == FALLEN_OFF_THE_BUS and "Xid (" in line.text}
    for line, each in xids:
        if each.code != FALLEN_OFF_THE_BUS or each.pci not in numbered or "Xid (" in line.text:
            yield line, each


def _signal(line: Line, finding: Finding, heard: float, *, ended: bool = False) -> Signal:
    key = f"{line.told}/{finding.code}/{line.text:.200}" if line.told and not ended else ""
    return Signal(
        line.host, finding.code, finding.component, settled(line.at, heard), Source.KERNEL, finding.message,
        finding.remedy, ended=ended, key=key,
    )  # fmt: skip
