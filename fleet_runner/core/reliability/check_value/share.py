"""How well a share is known: 2 of 40 is 5 %, and may as well be 17 %."""

from math import sqrt
from typing import NamedTuple

NORMAL_95 = 1.959964
"""Standard deviations between which 95 % of a normal distribution lie."""


class Share(NamedTuple):
    """A share, and between what it lies with 95 % certainty."""

    value: float
    low: float
    high: float


def share(part: float, whole: float) -> Share:
    """Return Wilson's interval of a share (JASA 22, 1927); `part` may be an expectation.

    Of nothing, nothing is known. It holds at 0 and at 1, where the usual interval has no width.
    """
    if whole <= 0:
        return Share(0.0, 0.0, 1.0)
    value, squared = min(1.0, max(0.0, part / whole)), NORMAL_95**2
    middle = (value + squared / (2 * whole)) / (1 + squared / whole)
    half = NORMAL_95 / (1 + squared / whole) * sqrt(value * (1 - value) / whole + squared / (4 * whole**2))
    return Share(value, max(0.0, middle - half) if value else 0.0, min(1.0, middle + half) if value < 1 else 1.0)
