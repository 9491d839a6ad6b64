"""Xid and SXid lines of the kernel's log.

A line counts only if the driver begins it: other messages may quote one, and a process may be named like one. That a
GPU fell off the bus newer drivers may say without an Xid, in a line or in three; it counts as the Xid 79 that it is.
What was logged of a GPU before this product reset it is over: `plugins/modules/fleet_reset.py` logs that it did.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.kernel_lines import PREFIX, plain, time
from fleet_runner.core.faults.pci import canonical

MAX_LINES = 500_000
"""A kernel log longer than this is not a kernel's ring buffer."""

FALLEN_OFF_THE_BUS = 79

_MARK = "Xid ("
"""What every line of either kind holds."""

_FALLEN_MARK = "fallen off the bus"

_FALLEN_LINES = 3
"""Over so many lines the driver spreads that it cannot reach a GPU when it is loaded."""

RESET = "fleet-runner: reset of "
"""What is logged of a reset that succeeded, before the addresses of the GPUs, or ALL."""

ALL = "all GPUs"

_LONGEST = 2000
"""Characters of a line that are looked at, and of those before one that goes on from them."""

_WHERE = r"\((?:PCI:)?(?P<pci>[0-9A-Fa-f:.]{7,17})(?: [^)\n]{0,40})?\): "
# The code must be followed by something: the last line of a cut log may hold only the first digits of one.
_CODE = r"(?P<code>\d{1,5})(?=[,\s])(?P<rest>[^\n]{0,1000})"
_XID = re.compile(PREFIX + r"NVRM: Xid " + _WHERE + _CODE)
_SXID = re.compile(PREFIX + r"nvidia-nvswitch(?P<switch>\d{1,3}): SXid " + _WHERE + _CODE)
_ADDRESS = r"(?P<pci>(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?)"
_FALLEN = re.compile(PREFIX + r"NVRM: GPU " + _ADDRESS + r": GPU has fallen off the bus\b")
_FALLEN_GPU = re.compile(PREFIX + r"NVRM: The NVIDIA GPU " + _ADDRESS + r"\s*$")
_FALLEN_END = re.compile(PREFIX + r"NVRM: fallen off the bus and is not responding\b")
_ACTION = re.compile(r"recovery action changed from \S+ \([^)]*\) to \S+ \((?P<action>[^)]*)\)")
_RESET = re.compile(PREFIX + RESET + r"(?P<gpus>all GPUs|[0-9a-f:., ]{12,1000})\s*$")
_SEVERITY_MARK = "fatal"
_SEVERITY = re.compile(r"\b(Non-?fatal|Fatal)\b", re.IGNORECASE)


class XidLine(NamedTuple):
    """One Xid. `at` is the log's own time, as it stands there; `text` what follows the code.

    `fatal` is the severity that the line itself names, None where it names none; `action` is Xid 154's new recovery
    action, None for other codes or another wording.
    """

    at: str
    pci: str
    code: int
    text: str
    fatal: bool | None = None
    action: str | None = None


class SxidLine(NamedTuple):
    """One SXid line of an NVSwitch; they come in groups, of which only the first names the severity."""

    at: str
    pci: str
    switch: int
    code: int
    text: str
    fatal: bool | None = None


@dataclass(frozen=True, slots=True)
class KernelLog:
    """What the driver logged since the node booted, in order."""

    xids: tuple[XidLine, ...]
    sxids: tuple[SxidLine, ...]


def parse(text: str) -> KernelLog:
    """Read the log; EvidenceError for an empty one: a kernel that booted has logged something."""
    if not text or text.isspace():
        raise EvidenceError("the kernel log is empty, expected at least the boot's messages; was it cleared?")
    if text.count("\n") > MAX_LINES:
        raise EvidenceError(
            f"the kernel log has over {MAX_LINES} lines, which no ring buffer holds; look at the node"
        )
    if text[:100].lstrip()[:1] == "{":
        raise EvidenceError("the kernel log is JSON, expected the lines that dmesg prints")
    xids: list[XidLine] = []
    sxids: list[SxidLine] = []
    over = _resets(text)
    for begin, line in _candidates(text):
        if "NVRM: Xid" in line and (found := _xid(line)) is not None:
            if found.code == FALLEN_OFF_THE_BUS or begin > max(over.get(found.pci, -1), over.get(ALL, -1)):
                xids.append(found)
        elif "SXid" in line and (switch := _sxid(line)) is not None and begin > over.get(ALL, -1):
            sxids.append(switch)
    told = {line.pci for line in xids if line.code == FALLEN_OFF_THE_BUS}
    xids += [line for line in _fallen(text) if line.pci not in told]
    return KernelLog(tuple(xids), tuple(sxids))


def _resets(text: str) -> dict[str, int]:
    """Return where in the log each GPU's last reset stands, by its address; ALL is all of them, and the switches."""
    over: dict[str, int] = {}
    at = text.find(RESET)
    while at >= 0:
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        # A line without its end may name half an address.
        found = _RESET.match(plain(text[begin : min(end, begin + _LONGEST)])) if end >= 0 else None
        if found is not None:
            over |= dict.fromkeys([ALL] if found["gpus"] == ALL else found["gpus"].split(", "), begin)
        at = text.find(RESET, end) if end >= 0 else -1
    return over


def _candidates(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that can hold one, each with where it begins: most lines are others, and are only searched.

    Only the newline ends a line: a process may be named with any of the other characters that splitlines takes.
    """
    at = text.find(_MARK)
    while at >= 0:
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
        yield begin, plain(text[begin : min(end, begin + _LONGEST)])
        at = text.find(_MARK, end)


def _fallen(text: str) -> Iterator[XidLine]:
    """Yield the GPUs that fell off the bus by the driver's other words: each once, and by whole lines only."""
    at, seen = text.find(_FALLEN_MARK), set[str]()
    while at >= 0 and (end := text.find("\n", at)) >= 0:
        *before, last = plain(text[max(0, at - _LONGEST) : min(end, at + _LONGEST)]).split("\n")[-_FALLEN_LINES:]
        found = _FALLEN.match(last)
        if found is None and _FALLEN_END.match(last.lstrip()):
            found = next(filter(None, map(_FALLEN_GPU.match, before)), None)
        pci = _address(found["pci"]) if found is not None else None
        if found is not None and pci is not None and pci not in seen:
            seen.add(pci)
            yield XidLine(time(found), pci, FALLEN_OFF_THE_BUS, "GPU has fallen off the bus")
        at = text.find(_FALLEN_MARK, end)


def _address(told: str) -> str | None:
    """Return an address that may lack its domain."""
    return canonical(told) or canonical(f"0000:{told}")


def _xid(line: str) -> XidLine | None:
    found = _XID.match(line)
    pci = _gpu(found["pci"]) if found else None
    if found is None or pci is None:
        return None
    text = found["rest"].lstrip(", ").strip()
    action = _ACTION.search(text)
    return XidLine(
        time(found), pci, int(found["code"]), text, _severity(text), action["action"].strip() if action else None
    )


def _sxid(line: str) -> SxidLine | None:
    found = _SXID.match(line)
    pci = _gpu(found["pci"]) if found else None
    if found is None or pci is None:
        return None
    text = found["rest"].lstrip(", ").strip()
    return SxidLine(time(found), pci, int(found["switch"]), int(found["code"]), text, _severity(text))


def _severity(text: str) -> bool | None:
    found = _SEVERITY.search(text) if _SEVERITY_MARK in text.lower() else None
    return None if found is None else found[1].lower() == "fatal"


@lru_cache(maxsize=64)
def _gpu(told: str) -> str | None:
    """Return a GPU's address; a node has few, and a storm names one in each of its lines."""
    return canonical(told)
