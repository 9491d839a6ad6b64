"""Times as logs write them, in seconds that can be compared within one log; zones and years are often not told."""

import re
from datetime import UTC, datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = r"(\d\d):(\d\d):(\d\d)(?:[.,]\d{1,9})?"
_CTIME = re.compile(rf"[A-Z][a-z]{{2}} ([A-Z][a-z]{{2}}) {{1,2}}(\d{{1,2}}) {_CLOCK} (\d{{4}})", re.ASCII)
_SYSLOG = re.compile(rf"([A-Z][a-z]{{2}}) {{1,2}}(\d{{1,2}}) {_CLOCK}", re.ASCII)
_FULL = re.compile(rf"[A-Z][a-z]{{2}} (\d{{4}})-(\d\d)-(\d\d) {_CLOCK} [A-Z0-9+-]{{1,6}}", re.ASCII)
_NUMBER = re.compile(r"\d{1,11}\.\d{1,9}", re.ASCII)

LEAP = 2000
"""The year of times without one: it has a 29th of February."""

SINCE_BOOT = 1e8
"""Seconds below which a number counts from the boot: three years."""


def moment(at: str) -> float | None:
    """Return the seconds of a time as it stands in a log; None for one that cannot be read."""
    try:
        return _read(at)
    except (ValueError, OverflowError):
        return None


def _read(at: str) -> float | None:
    if found := _CTIME.fullmatch(at):
        month, day, hour, minute, second, year = found.groups()
        return _seconds(year, _MONTHS.index(month) + 1, day, hour, minute, second)
    if found := _SYSLOG.fullmatch(at):
        month, day, hour, minute, second = found.groups()
        return _seconds(LEAP, _MONTHS.index(month) + 1, day, hour, minute, second)
    if found := _FULL.fullmatch(at):
        return _seconds(*found.groups())
    if _NUMBER.fullmatch(at):
        return float(at)
    told = datetime.fromisoformat(at.replace(",", "."))
    return (told if told.tzinfo is not None else told.replace(tzinfo=UTC)).timestamp()


def _seconds(*parts: str | int) -> float:
    year, month, day, hour, minute, second = map(int, parts)
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
