"""Kernel logs of any nodes, in one stream: their lines are searched for, and only those that matter are kept.

What they mean is said by the checks that read a node's own log (`xid`, `kernel_log`, `link_flaps` and their like).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.catalogue.xid import named, of_sxid, remedy, said
from fleet_runner.core.checks.parsers import kernel_log, link_events, xid
from fleet_runner.core.checks.parsers.kernel_lines import bare, readable
from fleet_runner.core.checks.parsers.xid import ALL, FALLEN_OFF_THE_BUS, RESET, SxidLine, XidLine
from fleet_runner.core.checks.pasted import lines
from fleet_runner.core.checks.pasted.flaps import Losses
from fleet_runner.core.checks.pasted.lines import Line
from fleet_runner.core.checks.pasted.moments import moment
from fleet_runner.core.checks.pasted.told import BOOT_CURES, THIS_NODE, Part, Told, by_rules
from fleet_runner.core.checks.shared import amdgpu_messages, driver_messages
from fleet_runner.core.checks.shared.kernel_messages import HANDS
from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.faults.signals.kernel import TABLE
from fleet_runner.core.faults.xid import APPLICATION, CLEANED_UP, OF_APPLICATIONS

BOOTED = "Linux version "
"""How the first message of a kernel begins."""

_WRAPPED = "NVRM: Xid"
_BEGUN = "NVRM: The NVIDIA GPU "
_FALLEN = "fallen off the bus"
_LOST = ("ink down", "ink Down", "ink is down", "ink is Down", "ink DOWN", "ost carrier")
_GPU = ("Xid (", _WRAPPED, "nvidia-nvswitch", _FALLEN)

WORDS = (*dict.fromkeys(known.rule.word for known in TABLE), *_GPU, _BEGUN, RESET, BOOTED, *_LOST)
"""A line that holds none of these is of no interest."""

_SPEAKERS = {
    "NVRM": frozenset(known.rule.word for known in driver_messages.LOGGED),
    "amdgpu": frozenset(known.rule.word for known in amdgpu_messages.LOGGED),
}
"""Words that only lines of one driver hold, which need not be looked for where it says nothing."""

MOST_NODES, MOST_FAULTS, MOST_WORDINGS = 5_000, 1_000, 64
"""Nodes of one text, faults of one node, and different lines of one fault that are kept: texts are hostile."""

BOOTED_SINCE = "the node has booted since, which is all that it asked for; if it comes again, it counts"
RESET_SINCE = "the GPU was reset since, which is all that it asked for; if it comes again, it counts"

FOLLOWS = ("Data {", "Severity ")
"""How the lines of an SXid begin that spell out the one before them."""

_CAUSE = re.compile(r"caused by previous Xid (\d{1,3})\b", re.ASCII)
"""What an Xid 45 of newer drivers says of the error that it cleans up after."""

_MARKS = (" kernel:", " kernel - - ", '"_TRANSPORT"')

SAMPLE = 50_000
"""Characters of a text in which lines of a kernel without a mark are looked for."""


@dataclass(slots=True)
class _Fault:
    """One fault of a node: its first line, when it was seen first and last, and where in the text that was."""

    line: str
    first: str
    last: str
    index: int
    count: int = 0
    over: str = ""
    xids: dict[str, XidLine] = field(default_factory=dict[str, XidLine])
    sxids: dict[str, SxidLine] = field(default_factory=dict[str, SxidLine])
    event: kernel_log.Event | None = None


@dataclass(slots=True)
class _Node:
    faults: dict[tuple[str, str], _Fault] = field(default_factory=dict[tuple[str, str], _Fault])
    carriers: dict[str, _Fault] = field(default_factory=dict[str, _Fault])
    losses: Losses = field(default_factory=Losses)
    starts: driver_messages.Starts = field(default_factory=driver_messages.Starts)
    begun: tuple[int, str] = (-10, "")
    booted: int = -1
    unread: int = 0
    unread_line: str = ""


class KernelLogs:
    """What was found so far. Feed it whole lines; the last piece may end without one."""

    def __init__(self, node: str = "") -> None:
        """Take the node that lines without a host are of, "" where nobody knows."""
        self._node = node or THIS_NODE
        self._nodes: dict[str, _Node] = {}
        self._index = 0
        self.matter = 0
        self.hosts: set[str] = set()
        self.kernel_lines = 0
        self._names: set[str] = set()

    def feed(self, text: str) -> None:
        """Look through a piece of the text; only lines with a word of the checks are taken apart."""
        self._look(text)
        spans: dict[int, int] = {}
        absent = {word for mark, words in _SPEAKERS.items() if mark not in text for word in words}
        for word in WORDS:
            if word in absent:
                continue
            at = text.find(word)
            while at >= 0:
                begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
                spans[begin] = end
                at = text.find(word, end)
        for begin, end in sorted(spans.items()):
            self._index += 1
            self._take(text[begin:end], text[end : text.find("\n", end) + 1 or len(text)])

    def end(self) -> Part | None:
        """Return what was found; None where no line was a kernel's, and none told of a fault."""
        told = [each for name, node in self._nodes.items() for each in _told(node, name)]
        unsure: list[str] = []
        for name, node in self._nodes.items():
            flapping, open_ = node.losses.told(name)
            unsure += [*open_, *_open(node, name)]
            for each in flapping:
                seen = node.carriers[each.interface]
                told.append(_seen(each.finding, seen, name))
        if not (self.kernel_lines or told or unsure):
            return None
        hosts = f" of {counted(len(self.hosts), 'host')}" if self.hosts else ""
        return Part(f"kernel log{hosts}", tuple(told), tuple(unsure), matter=self.matter)

    def _look(self, text: str) -> None:
        """Note who wrote the kernel's lines; each name is proven by one line of its own."""
        for mark in _MARKS:
            at = text.find(mark)
            while at >= 0 and len(self._names) < MOST_NODES:
                name = text[max(0, at - 64) : at].rpartition(" ")[2]
                if name not in self._names:
                    self._names.add(name)
                    self._note(lines.read(text[text.rfind("\n", 0, at) + 1 : text.find("\n", at) + 1 or len(text)]))
                at = text.find(mark, at + 1)
        if not self.kernel_lines:
            for line in text[:SAMPLE].split("\n"):
                self._note(lines.read(line))

    def _note(self, line: Line) -> None:
        if line.who == "kernel":
            self.kernel_lines += 1
            self.hosts |= {line.host} - {""}

    def _take(self, raw: str, following: str) -> None:
        line = lines.read(raw)
        end = "\n" if raw.endswith("\n") else ""
        name = line.host or self._node
        if name not in self._nodes and len(self._nodes) >= MOST_NODES:
            return
        node = self._nodes.setdefault(name, _Node())
        found = self._gpus(node, line, end) if any(word in line.text for word in _GPU) else False
        if not found and (_WRAPPED in line.text or "SXid" in line.text):
            found = self._rejoined(node, line, following)
        found = self._logged(node, line, end) or found
        found = self._lost(node, line, end) or found
        self._cures(node, line)
        if not found and bare(line.text)[1].startswith(f"{_WRAPPED} ("):
            node.unread, node.unread_line = node.unread + 1, node.unread_line or _shown(line.text)
        if _BEGUN in line.text:
            node.begun = (self._index, line.text)
        self.matter += found
        if found and line.host:
            self.hosts.add(line.host)

    def _gpus(self, node: _Node, line: Line, end: str) -> bool:
        begun = f"{node.begun[1]}\n" if self._index - node.begun[0] <= 2 and _FALLEN in line.text else ""  # noqa: PLR2004  the driver's three lines
        log = xid.parse(f"{begun}{line.text}{end}" or "\n-")
        for told in log.xids:
            unnumbered = told.code == FALLEN_OFF_THE_BUS and "Xid (" not in line.text
            key = (f"xid.{told.code}", told.pci)
            if not (unnumbered and key in node.faults):
                fault = self._fault(node, key, line, told.at)
                fault.xids.pop(told.text, None)
                fault.xids[told.text] = told
                if len(fault.xids) > MOST_WORDINGS:
                    del fault.xids[next(iter(fault.xids))]
        for switch in log.sxids:
            fault = self._fault(node, (f"sxid.{switch.code}", switch.pci), line, switch.at)
            if len(fault.sxids) < MOST_WORDINGS:
                fault.sxids[switch.text] = switch
        return bool(log.xids or log.sxids)

    def _rejoined(self, node: _Node, line: Line, following: str) -> bool:
        """A line that was broken to fit a window goes on in the next one, which then begins like none of a log."""
        more = lines.read(following)
        if not more.text or more.who or bare(more.text)[0]:
            return False
        return any(
            self._gpus(node, line._replace(text=f"{line.text}{blank}{more.text.lstrip()}"), "\n")
            for blank in (" ", "")
        )

    def _logged(self, node: _Node, line: Line, end: str) -> bool:
        rules = [known.rule for known in TABLE if known.rule.word in line.text]
        events = kernel_log.parse(f"{line.text}{end}", rules) if rules and line.text.strip() else ()
        if any(event.code in driver_messages.CODES for event in events):
            node.starts.take(f"{line.text}{end}")
        for event in events:
            self._fault(node, (event.code, event.component), line, event.at).event = event
        return bool(events)

    def _lost(self, node: _Node, line: Line, end: str) -> bool:
        if not any(word in line.text for word in _LOST):
            return False
        losses = link_events.parse(f"{line.text}{end}")
        for loss in losses:
            at = bare(line.text)[0]
            node.losses.lost(loss.interface, moment(at))
            fault = node.carriers.setdefault(loss.interface, _Fault(_shown(line.text), at, at, self._index))
            fault.count, fault.last = fault.count + 1, at
        return bool(losses)

    def _cures(self, node: _Node, line: Line) -> None:
        """Note a boot, and a reset that the product itself logged."""
        at, message = bare(line.text)
        if message.startswith(BOOTED):
            node.booted, node.starts = self._index, driver_messages.Starts()
            node.losses.boot(moment(at))
        elif message.startswith(RESET):
            gpus = message.removeprefix(RESET).strip()
            for (code, part), fault in node.faults.items():
                if code.startswith(("xid.", "sxid.")) and (gpus == ALL or part in gpus.split(", ")):
                    fault.over = RESET_SINCE if code != f"xid.{FALLEN_OFF_THE_BUS}" else ""

    def _fault(self, node: _Node, key: tuple[str, str], line: Line, at: str) -> _Fault:
        known = node.faults.get(key)
        if known is None:
            known = _Fault(_shown(line.text), at, at, self._index)
            if len(node.faults) < MOST_FAULTS:
                node.faults[key] = known
        known.count, known.last, known.index, known.over = known.count + 1, at, self._index, ""
        return known


def _told(node: _Node, name: str) -> Iterator[Told]:
    switches = [(fault, _of_sxid(list(fault.sxids.values()), name)) for fault in node.faults.values() if fault.sxids]
    paired = any(finding.remedy is not Remedy.RECORD for _, finding in switches)
    found = list(switches)
    for fault in node.faults.values():
        if fault.xids:
            found.append((fault, _of_xid(list(fault.xids.values()), name, paired=paired)))
        elif fault.event is not None:
            found.append((fault, _of_event(fault.event, name)))
    numbered = [finding for fault, finding in found if fault.xids or fault.sxids]
    found = [each for each in found if not _said_elsewhere(each[1], each[0], numbered)]
    found = [each for each in found if not node.starts.mismatched(each[1])]
    faulty = {finding.component for _, finding in found if finding.code not in OF_APPLICATIONS}
    for fault, finding in found:
        told = replace(_seen(by_rules(finding), fault, name), beside=finding.component in faulty)
        cured = fault.index < node.booted and told.finding.remedy in BOOT_CURES
        yield replace(told, over=told.over or (BOOTED_SINCE if cured else ""))


def _said_elsewhere(finding: Finding, fault: _Fault, numbered: list[Finding]) -> bool:
    """Whether an Xid or SXid says the same, or an Xid 45 names the error that it cleans up after."""
    if finding.code in driver_messages.CODES:
        return driver_messages.explained(finding.component, numbered)
    return bool(_causes(fault))


def _causes(fault: _Fault) -> set[int]:
    """Return the errors that Xids 45 of a GPU clean up after, but for those of an application."""
    told = (_CAUSE.search(text) for text, line in fault.xids.items() if line.code == CLEANED_UP)
    return {int(each[1]) for each in told if each is not None} - APPLICATION


def _open(node: _Node, name: str) -> Iterator[str]:
    """Yield what a log leaves open: errors that it only mentions, and Xids of no GPU."""
    for (_, pci), fault in node.faults.items():
        gone = sorted(code for code in _causes(fault) if (f"xid.{code}", pci) not in node.faults)
        if gone:
            codes = " and ".join(f"Xid {code}" for code in gone)
            yield f"{name}, GPU {pci}: Xid {CLEANED_UP} follows {codes}, which is not in this log; look further back"
    if node.unread:
        lines = counted(node.unread, "line")
        yield f"{name}: {lines} with an Xid cannot be read, expected a PCI address and a number: {node.unread_line}"


def _of_xid(seen: list[XidLine], node: str, *, paired: bool) -> Finding:
    last = seen[-1]
    return about(node, f"xid.{last.code}", f"GPU {last.pci}")(
        message=f"{named(last.code)}{said(seen)}", remedy=remedy(seen, paired=paired)
    )


def _of_sxid(seen: list[SxidLine], node: str) -> Finding:
    """What only spells out a group's first line says least, and is not quoted where there is any other."""
    first = sorted(seen, key=lambda each: each.text.startswith(FOLLOWS))
    found = of_sxid(first, node)
    return replace(found, message=found.message.removeprefix(f"{found.component}: "))


def _of_event(event: kernel_log.Event, node: str) -> Finding:
    known = next(each for each in TABLE if each.rule.code == event.code)
    part = known.part.format("" if event.component == event.code else event.component).strip()
    return about(node, event.code, part or event.code)(
        message=known.meaning,
        remedy=known.remedy,
        steps=tuple(step.format(part) for step in known.steps) if known.remedy in HANDS else (),
    )


def _seen(finding: Finding, fault: _Fault, node: str) -> Told:
    return Told(node, finding, fault.count, readable(fault.first), readable(fault.last), fault.line, over=fault.over)


def _shown(text: str) -> str:
    return printable(text).replace("\t", " ").strip()[:400]
