"""Moments that come again: every so often, or as cron has them; none, where something is off.

Cron's moments are those of Debian's cron in a time zone: a moment that the clock leaves out comes right after, one
that it has twice comes once. `* *` and `*/2` in the hour go by what time really passes.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import Protocol
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}

LONGEST = 100
"""Characters that a schedule may have."""

EXPECTED = 'expected cron, such as "17 3 * * *", or "every 5min", or "never"'

_SPAN = re.compile(r"([0-9]{1,6}) ?(s|min|m|h|d|w)", re.ASCII)
_MEASURED = 64
"""Moments, from a leap year's first day on, between which the shortest pause is looked for."""

_LEAP = datetime(2024, 1, 1, tzinfo=UTC)
_FIELDS = 5


class Times(Protocol):
    """Moments that come again."""

    @property
    def pause(self) -> float:
        """Return the shortest time between two of them, in seconds."""
        ...

    def after(self, at: float) -> float:
        """Return the first one later than `at`; infinity where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """Every so many seconds, counted from 1970 on, so that all who count agree."""

    pause: float

    def after(self, at: float) -> float:
        """Return the first moment later than `at`."""
        return (at // self.pause + 1.0) * self.pause


@dataclass(frozen=True, slots=True)
class Cron:
    """As cron has it, in a time zone."""

    text: str
    zone: str
    pause: float

    def after(self, at: float) -> float:
        """Return the first moment later than `at`: what seems earlier, in an hour that comes twice, is over."""
        begin = datetime.fromtimestamp(math.floor(at), ZoneInfo(self.zone))
        found = (moment.timestamp() for moment in CronSim(self.text, begin))
        return next((each for each in found if each > at), math.inf)


@dataclass(frozen=True, slots=True)
class Never:
    """No moment at all."""

    pause: float = math.inf

    def after(self, at: float) -> float:
        """There is none."""
        del at
        return math.inf


def read(text: str, zone: str) -> Times:
    """Return the moments that a schedule means; ValueError says why it means none."""
    words = " ".join(text.split())
    if len(text) > LONGEST:
        raise ValueError(f"it has {len(text)} characters, at most {LONGEST} are read")
    if words.lower() == "never":
        return Never()
    if words.lower().startswith("every "):
        return Every(span(words.lower().removeprefix("every ")))
    check_zone(zone)
    if len(words.split()) != _FIELDS:
        raise ValueError(f"it has {len(words.split())} fields, not {_FIELDS}; {EXPECTED}")
    try:
        found = list(islice(CronSim(words, _LEAP), _MEASURED))
    except CronSimError as error:
        raise ValueError(f"{error}; {EXPECTED}") from None
    if len(found) < 2:  # noqa: PLR2004  a pause has two ends
        raise ValueError(f"that never comes, or once in 50 years; {EXPECTED}")
    return Cron(words, zone, min((late - early).total_seconds() for early, late in pairwise(found)))


def span(text: str) -> float:
    """Return the seconds of "30s", "5min", "4h" or "1d"; ValueError for anything else, and for none."""
    found = _SPAN.fullmatch(text.strip())
    seconds = float(found.group(1)) * UNITS[found.group(2)] if found else 0.0
    if seconds <= 0.0:
        raise ValueError(f"{text!r} is no span of time; expected one such as 30s, 5min, 4h or 1d")
    return seconds


def check_zone(name: str) -> None:
    """Refuse a name that is no time zone's."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{name!r:.80} is no time zone; expected one such as UTC or Europe/Berlin") from None
