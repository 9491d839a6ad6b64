"""Quiet hours: when a channel is left alone, by the clock on the wall of its people."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EVERY = "every"
"""Stands for each day of the week."""

DAY = 24 * 60
"""Minutes; the end of a window that lasts to midnight."""

_SPAN = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-(?:([01][0-9]|2[0-3]):([0-5][0-9])|(24):(00))")


@dataclass(frozen=True, slots=True)
class Window:
    """From a minute of the day to another; one that ends no later than it begins lasts into the next day."""

    begins: int
    ends: int


@dataclass(frozen=True, slots=True)
class Quiet:
    """The windows of each weekday, Monday first, in a time zone."""

    zone: str
    days: tuple[tuple[Window, ...], ...]


def window(text: str) -> Window:
    """Read "22:00-07:00"; ValueError for anything else."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    hours, minutes, until, rest, last, zero = found.groups()
    return Window(int(hours) * 60 + int(minutes), int(until or last) * 60 + int(rest or zero))


def quiet(zone: str, windows: Mapping[str, tuple[Window, ...]]) -> Quiet:
    """Return quiet hours from windows by the day on which they begin; `every` is on each."""
    return Quiet(zone, tuple(windows.get(EVERY, ()) + windows.get(day, ()) for day in DAYS))


def is_quiet(hours: Quiet | None, at: float) -> bool:
    """Whether a moment lies in quiet hours.

    The clock on the wall decides: an hour that it shows twice is quiet twice, one that it leaves out is not there.
    """
    if hours is None:
        return False
    local = datetime.fromtimestamp(at, ZoneInfo(hours.zone))
    minute = local.hour * 60 + local.minute
    today, yesterday = hours.days[local.weekday()], hours.days[local.weekday() - 1]
    return any(_covers(each, minute) for each in today) or any(
        _covers(each, minute + DAY) for each in yesterday if each.ends <= each.begins
    )


def _covers(each: Window, minute: int) -> bool:
    ends = each.ends if each.ends > each.begins else each.ends + DAY
    return each.begins <= minute < ends
