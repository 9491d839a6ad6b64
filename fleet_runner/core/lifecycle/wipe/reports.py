"""What a node's own log says of one try to erase one device, and what that proves."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import nvme_tool
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.lifecycle.wipe.methods import WAYS, Method

BLANK = frozenset({"00", "ff"})
"""What a sampled block is called in which every byte is the same: there is nothing in it that could go."""

UNREADABLE = "error"
"""How the name of a sample begins that could not be read."""


class TryStatus(StrEnum):
    """How far a try is."""

    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"  # it is gone without an end: the node rebooted, or somebody killed it


@dataclass(frozen=True, slots=True)
class Command:
    """One command that was run, with the end of what it printed. Times are the node's clock."""

    argv: tuple[str, ...]
    rc: int
    output: str
    started: float
    ended: float


@dataclass(frozen=True, slots=True)
class Report:
    """One try. `before` and `after` name what sampled blocks held: a hash, "00", "ff", or "error: …".

    `error` says why it ended early; without any command it ended before the device was touched.
    """

    key: str
    number: int
    stand: TryStatus
    method: Method
    started: float
    ended: float | None = None
    commands: tuple[Command, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    error: str = ""

    @property
    def touched(self) -> bool:
        """Whether anything was done to the device."""
        return bool(self.commands)


def read(raw: object) -> Report:
    """Read one report as the module gives it; EvidenceError for anything else."""
    if not isinstance(raw, Mapping):
        raise EvidenceError(f"the node's log of a wipe: found {raw!r:.80}, expected a report")
    try:
        return Report(
            key=str(raw["key"]),
            number=int(raw["number"]),
            stand=TryStatus(raw["stand"]),
            method=Method(raw["method"]),
            started=number(raw["started"]) or 0.0,
            ended=number(raw.get("ended")),
            commands=tuple(_command(each) for each in raw.get("commands") or ()),
            before=_words(raw, "before"),
            after=_words(raw, "after"),
            error=str(raw.get("error") or ""),
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise EvidenceError(f"the node's log of a wipe: found {raw!r:.80}, which is no report ({error})") from error


def failure(report: Report) -> str:
    """Say why an ended try does not prove that the device was erased; "" where it does."""
    if report.error:
        return report.error
    wrong = next((each for each in report.commands if each.rc), None)
    if wrong is not None:
        last = wrong.output.strip().splitlines()
        return f"{' '.join(wrong.argv)} exited with {wrong.rc}{f': {last[-1]:.200}' if last else ''}"
    if not report.commands:
        return "nothing was done"
    return _log(report) or _samples(report)


def proof(report: Report) -> str:
    """Say what was seen afterwards, for whoever must be shown."""
    held = [was for was, _ in _pairs(report) if _holds(was)]
    zero = sum(now == "00" for now in report.after)
    if report.method is Method.TPM_CLEAR:
        return "its storage seed makes another key than before" if held else "its storage seed makes a key again"
    told = f"all {len(held)} sampled blocks that held data changed" if held else "no sampled block had held data"
    unread = _unread(report.before)
    told += f" ({unread} of {len(report.before)} could not be read before it)" if unread else ""
    log = "; its log says that the sanitize completed" if WAYS[report.method].poll else ""
    return f"{told}, {zero} of {len(report.after)} read as zero{log}"


def _log(report: Report) -> str:
    """Hold a sanitize against the device's own log, the last thing that was asked of it."""
    if not WAYS[report.method].poll:
        return ""
    try:
        log = nvme_tool.sanitize(report.commands[-1].output)
    except EvidenceError as error:
        return str(error)
    if log.state in {nvme_tool.Sanitized.DONE, nvme_tool.Sanitized.DONE_KEPT}:
        return ""
    return f"its sanitize log says {log.state.name}, expected DONE"


def _samples(report: Report) -> str:
    if not report.after or len(report.after) != len(report.before):
        return f"{len(report.before)} blocks were sampled before and {len(report.after)} after"
    same = [was for was, now in _pairs(report) if _holds(was) and was == now]
    if same:
        return f"{len(same)} of {len(report.before)} sampled blocks are unchanged"
    if report.method is Method.TPM_CLEAR:
        holds = _holds(report.after[-1])
        return "" if holds else f"the TPM makes no key after it was cleared ({report.after[-1]})"
    return _unreadable(report) or ("not every sampled block reads as zero" if _unblank(report) else "")


def _unreadable(report: Report) -> str:
    """Say which blocks tell nothing; of those before, only what has no other proof needs some."""
    unread, way = _unread(report.after), WAYS[report.method]
    if unread:
        return f"{unread} of {len(report.after)} sampled blocks cannot be read after it: their contents are unknown"
    if _unread(report.before) == len(report.before) and not (way.poll or way.zeroes):
        return f"none of {len(report.before)} sampled blocks could be read before it: a change cannot be proven"
    return ""


def _unblank(report: Report) -> bool:
    return WAYS[report.method].zeroes and set(report.after) != {"00"}


def _unread(samples: tuple[str, ...]) -> int:
    return sum(each.startswith(UNREADABLE) for each in samples)


def _pairs(report: Report) -> tuple[tuple[str, str], ...]:
    return tuple(zip(report.before, report.after, strict=False))


def _holds(sample: str) -> bool:
    return sample not in BLANK and not sample.startswith(UNREADABLE)


def _command(raw: Mapping[str, Any]) -> Command:
    return Command(
        argv=tuple(str(word) for word in raw["argv"]),
        rc=int(raw["rc"]),
        output=str(raw.get("output") or ""),
        started=number(raw["started"]) or 0.0,
        ended=number(raw["ended"]) or 0.0,
    )


def _words(raw: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = raw.get(name)
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
