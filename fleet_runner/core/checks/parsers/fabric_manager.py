"""NVIDIA's Fabric Manager: its version, and the errors in its log."""

import re
from dataclasses import dataclass

MOST = 2_000
"""Errors of a log that are read, the newest."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_VERSION = re.compile(r"version is *: *(\d{1,4}(?:\.\d{1,4}){1,3})\s*\n", re.IGNORECASE)
_ERROR = re.compile(
    r"^\[([A-Z][a-z]{2}) +(\d{1,2}) (\d{4}) (\d{2}:\d{2}:\d{2})\]"
    r" \[(?:ERROR|CRITICAL)\] (?:\[tid \d{1,10}\] )?([^\n]*)\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class LogError:
    """An error of the log: "2025-02-27 15:10:02" in the node's own time, and its words."""

    at: str
    words: str


def version(text: str) -> str | None:
    """Return the version that `nv-fabricmanager --version` prints; None where a whole line does not tell it."""
    found = _VERSION.search(text)
    return found[1] if found else None


def errors(text: str) -> tuple[LogError, ...]:
    """Read the errors of a log; other lines, and a last one that is cut, say nothing."""
    found = [
        LogError(f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02} {clock}", words.strip()[:400])
        for month, day, year, clock, words in _ERROR.findall(text)
        if month in _MONTHS
    ]
    return tuple(found[-MOST:])
