"""Numbers and intervals in words: three digits are as many as the data carries."""

from fleet_runner.core.base.plural import counted

DAY = 86_400.0
YEAR = 365.25
"""Days."""

ENOUGH = 30.0
"""Node-days of service below which nobody says how often nodes drop out: of minutes everything follows."""

ENOUGH_OF_PARTS = YEAR
"""The same of parts, in days of all together: they are many, and fail less often."""

NEVER = "no end"
"""In place of the upper end of an interval that the data does not give."""


def amount(value: float) -> str:
    """Return a number as people read it: "12,300", "123", "12.3", "1.23", "0.0123"."""
    if abs(value) >= 999.5:  # noqa: PLR2004  three digits of it are a thousand, and from there on they are grouped
        digits = 10 ** (len(str(round(abs(value)))) - 3)
        return f"{round(value / digits) * digits:,}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share in percent, where it is close to all or none of it with the digits that tell it from that."""
    digits, left = 1, min(share, 1 - share)
    while digits < 4 and 0 < left < 0.5 * 10 ** (-digits - 1):  # noqa: PLR2004  more digits say nothing
        digits += 1
    return f"{100 * share:.{digits}f} %"


def days(value: float) -> str:
    """Return days in the unit in which people say so many."""
    if value >= 2 * YEAR:
        return f"{amount(value / YEAR)} years"
    return f"{amount(value)} d" if value >= 2 else f"{amount(value * 24)} h"  # noqa: PLR2004  as people say it


def too_short(value: float, whose: str = "node") -> str:
    """Say that so many days of service are too few for a rate."""
    return f"not enough service observed yet ({counted(amount(value * 24), f'{whose}-hour')})"


def none_of(what: str, seen: int, needed: int) -> str:
    """Say that there is too little to say anything, and how much would do."""
    return f"Not enough data for {what}: {seen} failed, at least {needed} are needed."
