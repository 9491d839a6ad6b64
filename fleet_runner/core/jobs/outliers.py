"""Which of several values that should be alike is the odd one: by their median, and by how far the others spread."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

FEWEST = 4
"""Values without which nobody knows who is the odd one."""

SPREADS = 5.0
"""Standard deviations from the median from which on a value is odd."""

TO_DEVIATION = 1.4826
"""Times the median distance from the median is a standard deviation, of values that are normally distributed."""

MOST = 4
"""Of so many values one may be odd, of twice as many two: where more are, they are of two kinds."""


@dataclass(frozen=True, slots=True)
class Floor:
    """What a difference has to be at least to mean anything: a share of the median, and an amount in the unit.

    `is_low` says that small values are the bad ones.
    """

    share: float
    amount: float
    is_low: bool = False


@dataclass(frozen=True, slots=True)
class Odd:
    """The odd ones, the worst first, and the median of the others."""

    names: tuple[str, ...]
    others: float


def odd(values: Mapping[str, float], floor: Floor) -> Odd | None:
    """Return the odd ones of some values by name; None where there is none, or it cannot be told."""
    if len(values) < FEWEST:
        return None
    middle = median(values.values())
    spread = TO_DEVIATION * median(abs(each - middle) for each in values.values())
    least = max(floor.amount, floor.share * abs(middle), SPREADS * spread)
    worse = {name: (middle - each if floor.is_low else each - middle) for name, each in values.items()}
    found = sorted((name for name, by in worse.items() if by >= least), key=lambda name: (-worse[name], name))
    if not found or len(found) > len(values) // MOST:
        return None
    return Odd(tuple(found), median(each for name, each in values.items() if name not in found))
