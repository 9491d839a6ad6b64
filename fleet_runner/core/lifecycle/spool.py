"""The spool: what a play tells the runner, one JSON object per line, appended while it runs.

The callback plugin writes it, the reconciler reads it; a torn last line (the writer died) is left for later.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from fleet_runner.core.checks.verdicts import Result


class PlayEnd(StrEnum):
    """How a play ended for one node."""

    OK = "ok"
    FAILED = "failed"  # a task failed: Ansible's word, not a verdict about hardware
    UNREACHABLE = "unreachable"
    OWN = "own"  # something of ours failed: the node and its BMC had no part in it


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` tasks are behind a node; `task` is the one it is at."""

    node: str
    at: float
    done: int
    total: int
    task: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A check's result for a node."""

    node: str
    at: float
    result: Result


@dataclass(frozen=True, slots=True)
class Evidence:
    """A text that results point to by its hash. `read` says what was read."""

    node: str
    at: float
    read: str
    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The play is over for a node."""

    node: str
    at: float
    end: PlayEnd
    message: str = ""


Line = Progress | Judged | Evidence | Ended


def encode(line: Line) -> str:
    """Return one line of the spool, newline included."""
    match line:
        case Progress(node, at, done, total, task):
            raw = {"kind": "progress", "node": node, "at": at, "done": done, "total": total, "task": task}
        case Judged(node, at, result):
            raw = {"kind": "result", "node": node, "at": at, "result": result.to_json()}
        case Evidence(node, at, read, digest, text):
            raw = {"kind": "evidence", "node": node, "at": at, "read": read, "hash": digest, "text": text}
        case Ended(node, at, end, message):  # pragma: no branch  the union ends here
            raw = {"kind": "end", "node": node, "at": at, "end": end.value, "message": message}
    return json.dumps(raw, separators=(",", ":")) + "\n"


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a stretch of the spool held. `used` bytes were consumed; `bad` whole lines could not be read."""

    lines: tuple[Line, ...]
    used: int
    bad: int

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Decode every whole line of `data`; what follows the last newline is left."""
        used = data.rfind(b"\n") + 1
        lines: list[Line] = []
        bad = 0
        for raw in data[:used].splitlines():
            try:
                lines.append(_line(json.loads(raw)))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                bad += 1
        return cls(tuple(lines), used, bad)


def _line(raw: Mapping[str, Any]) -> Line:
    node, at = str(raw["node"]), float(raw["at"])
    match raw["kind"]:
        case "progress":
            return Progress(node, at, int(raw["done"]), int(raw["total"]), str(raw["task"]))
        case "result":
            return Judged(node, at, Result.from_json(raw["result"]))
        case "evidence":
            return Evidence(node, at, str(raw["read"]), str(raw["hash"]), str(raw["text"]))
        case "end":
            return Ended(node, at, PlayEnd(raw["end"]), str(raw["message"]))
        case other:
            raise ValueError(f"unknown kind {other!r}")
