"""An exception in a job's output, from the head of its traceback to the words after its type."""

import re
from dataclasses import dataclass, field

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.event import Area, Role
from fleet_runner.core.jobs.lines import Line

HEAD = "Traceback (most recent"

_EXCEPTION = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,120})(?:: (?P<words>.*))?\s*", re.ASCII)

AFTER = 6
"""Lines after an exception's first one that may say what it is about."""

LAUNCHERS = ("ChildFailedError", "CalledProcessError", "ProcessRaisedException", "SystemExit")
"""Exceptions that only tell that another process failed."""

HANDLED = ("Exception ignored in", "--- Logging error")
"""What Python says before the traceback of an exception that ends nothing."""

ORIGINAL = "Original Traceback"
"""What PyTorch says where an exception only repeats that of a process that loads data."""

_BODY = " \t│╭╰"
"""What lines of a traceback begin with, those that rich draws among them."""

_RAYS = "ray.exceptions.RayTaskError("
"""How Ray names an exception of another process, whose own traceback follows."""

ENDED_WITH, WENT_ON = "the program ended with", "the program went on after"


@dataclass
class Traceback:
    """An exception whose words are not over yet.

    It began after the moment `since` (epoch seconds) and before `until`, None where no line tells, when the program
    had made so many steps. `kind` is the exception's type, "" before its line came.
    """

    first: Line
    since: float | None
    made: int
    until: float | None = None
    kind: str = ""
    words: list[str] = field(default_factory=list[str])

    def begun(self, line: Line, before: float | None) -> bool:
        """Take a line of the traceback, or the exception's own; False where it is none of it."""
        if not line.text or line.text[0] in _BODY or line.text.startswith(_RAYS):
            return True
        found = _EXCEPTION.fullmatch(line.text)
        if found is None:
            return False
        self.kind = found["type"].rpartition(".")[2]
        self.first = line._replace(at=line.at or self.first.at)
        self.since = before
        self.words.append(found["words"] or "")
        return True

    def said(self) -> tuple[str, tuple[Area, Role], str] | None:
        """Return the code, kind and message of its event; None where it is none."""
        if not self.kind or self.kind in LAUNCHERS:
            return None
        said = complaints.of(f"{self.kind}: {' '.join(self.words)}")
        if said is not None:
            return said.code, (said.area, said.role), said.message
        head = self.words[0][:160]
        message = f"{ENDED_WITH} {self.kind}{f': {head}' if head else ''}"
        return complaints.EXCEPTION, (Area.SOFTWARE, Role.CAUSE), message
