"""When something happened, by a clock that may be wrong: a sender's is believed within a range, else ours counts."""

from datetime import UTC, datetime

LATE = 2 * 86_400.0
"""Seconds for which a log shipper may have kept what it sends; an older time is that of a clock never set."""

NEAR = 900.0
"""Seconds to which a time without a zone has to be near to when it was heard."""

EPOCH_YEAR = 2001
"""A clock that shows an earlier year was not set."""

_LEAST = 1e9
"""Seconds since the epoch of any time that is told (September 2001); a number below is none."""

_BEYOND = 1e20
"""JSON's whole numbers have no end."""

_UNITS = (1.0, 1e3, 1e6, 1e9)
"""Parts of a second that numbers of shippers count: seconds, milli-, micro- and nanoseconds."""


def settled(at: float | None, heard: float) -> float:
    """Return when it happened (epoch seconds), by the sender's clock where it may be right; never later than now."""
    return at if at is not None and heard - LATE <= at <= heard else heard


def moment(told: object, heard: float) -> float | None:
    """Return a time in epoch seconds: ISO 8601, syslog's without year, or a number of any usual unit; else None.

    A number may stand as text, as journald writes its microseconds. A time without a zone is taken for UTC, and for
    none unless it is near to when it was heard: it may as well be hours off.
    """
    if isinstance(told, int | float) and not isinstance(told, bool):
        return _scaled(float(told)) if abs(told) < _BEYOND else None
    if not isinstance(told, str):
        return None
    text = told[:40].strip()
    if text[:1].isalpha():
        return _yearless(text, heard)
    return _number(text) if "-" not in text else _iso(text, heard)


def _number(text: str) -> float | None:
    try:
        return _scaled(float(text))
    except ValueError:
        return None


def _scaled(number: float) -> float | None:
    """Seconds are told with ten digits until the year 2286, so the size of a number tells its unit."""
    return next((number / unit for unit in _UNITS if _LEAST <= number / unit < 10 * _LEAST), None)


def _iso(text: str, heard: float) -> float | None:
    try:
        found = datetime.fromisoformat(text.replace(",", "."))
        stamp = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    if found.tzinfo is None and abs(stamp - heard) > NEAR:
        return None
    return stamp if found.year >= EPOCH_YEAR else None


def _yearless(text: str, heard: float) -> float | None:
    """Of "Mar  1 09:40:00": the year is that of a moment near to when it was heard."""
    for near in (heard - NEAR, heard + NEAR):
        try:
            year = datetime.fromtimestamp(near, UTC).year
            found = datetime.strptime(f"{year} {text}", "%Y %b %d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
        if abs(found - heard) <= NEAR:
            return found
    return None
