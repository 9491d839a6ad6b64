"""What a log says of a fault from before it was treated is no news: a GPU's reset does not empty the kernel's log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.json_text import number

TREATED = "treated"
"""What a run is told: when (epoch seconds) which faults were last treated, by their keys."""


class Line(Protocol):
    """A line of a log, with the time that stands before it."""

    @property
    def at(self) -> str:
        """Return its time, as it stands there."""
        ...


L = TypeVar("L", bound=Line)


def untreated(lines: Sequence[L], fault: str, expected: Expected, read_at: float) -> list[L]:
    """Return the lines about a fault that are newer than its treatment; all where there was none.

    `read_at` is the node's own clock when the log was read: only how long ago the treatment was is told by ours. The
    log is read a moment after the run was opened, so that moment of the treatment counts as before it. A line whose
    time cannot be read is kept.
    """
    told, opened = expected.run.get(TREATED), number(expected.run.get("opened_at"))
    treated = number(told.get(fault)) if isinstance(told, dict) else None
    if treated is None or opened is None or not read_at:
        return list(lines)
    since = read_at - (opened - treated)
    return [line for line in lines if (at := _epoch(line.at)) is None or at > since]


def _epoch(text: str) -> float | None:
    """Return the epoch seconds of "2026-01-31T12:00:00,123456+00:00"; None for what names no offset."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None else None
