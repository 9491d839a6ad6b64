"""When something happened, by a clock that may be wrong: a sender's is believed within a range, else ours counts."""

from datetime import UTC, datetime

LATE = 2 * 86_400.0
"""Seconds for which a log shipper may have kept what it sends; an older time is that of a clock never set."""

AHEAD = 300.0
"""Seconds by which a sender's clock may run ahead of ours."""

EPOCH_YEAR = 2001
"""A clock that shows an earlier year was not set."""

_LEAST = 1e9
"""Seconds since the epoch of any time that is told (September 2001); a number below is none."""

_UNITS = (1.0, 1e3, 1e6, 1e9)
"""Parts of a second that numbers of shippers count: seconds, milli-, micro- and nanoseconds."""


def settled(at: float | None, heard: float) -> float:
    """Return when it happened (epoch seconds): the sender's word where it is believable, else when it was heard."""
    return at if at is not None and believable(at, heard) else heard


def believable(at: float, heard: float) -> bool:
    """Whether a sender's time can be true: not over LATE before it was heard, nor over AHEAD after."""
    return heard - LATE <= at <= heard + AHEAD


def moment(told: object) -> float | None:
    """Return a time in epoch seconds: ISO 8601 (UTC where it names no zone), or a number of any usual unit.

    None for anything else. A number may stand as text, as journald writes its microseconds.
    """
    if isinstance(told, str):
        return _number(told) if told[:1].isdigit() and "-" not in told else _iso(told)
    return _scaled(float(told)) if isinstance(told, int | float) and not isinstance(told, bool) else None


def _number(text: str) -> float | None:
    try:
        return _scaled(float(text[:40]))
    except ValueError:
        return None


def _scaled(number: float) -> float | None:
    """Seconds are told with ten digits until the year 2286, so the size of a number tells its unit."""
    return next((number / unit for unit in _UNITS if _LEAST <= number / unit < 10 * _LEAST), None)


def _iso(text: str) -> float | None:
    try:
        found = datetime.fromisoformat(text[:40].replace(",", "."))
        stamp = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return stamp if found.year >= EPOCH_YEAR else None
