"""How often things happen, and how long they take, with the interval that 95 of 100 times holds the truth.

Events that come by chance alone scatter as Poisson says. A fleet's do not: a few bad nodes have most of them. So the
scatter between nodes is measured, and widens the intervals (quasi-Poisson; McCullagh and Nelder, Generalized Linear
Models, 1989, section 6.2). The interval of a count is Garwood's exact one (Biometrika 28, 1936).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

TAIL = 0.025
"""The chance that the truth lies below an interval, and above it."""

WIDE = float(special.ndtri(1 - TAIL))


@dataclass(frozen=True, slots=True)
class Between:
    """A number, and the interval in which it lies; an end that the data does not give is None."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happens in a unit of time. `dispersion` is its scatter, 1 where it is by chance alone."""

    events: int
    time: float
    each: Between
    dispersion: float

    @property
    def between(self) -> Between:
        """Return the time from one to the next; its upper end is None where none was seen."""
        low = 1 / self.each.high if self.each.high else 0.0
        high = 1 / self.each.low if self.each.low else None
        return Between(self.time / self.events if self.events else math.inf, low, high)


def rate(events: Sequence[int], times: Sequence[float]) -> Rate | None:
    """Return how often things happened to nodes or parts, each watched for a time; None where none was watched."""
    counts, watched = np.asarray(events, float), np.asarray(times, float)
    time, count = float(watched.sum()), float(counts.sum())
    if time <= 0:
        return None
    expected = count / time * watched
    freedom = (len(counts) - 1) / len(counts)
    scatter = float(((counts - expected) ** 2).sum()) / count / freedom if count and freedom else 1.0
    spread = max(1.0, scatter)
    real = count / spread
    low = float(special.gammaincinv(real, TAIL)) * spread / time if count else 0.0
    high = float(special.gammaincinv(real + 1, 1 - TAIL)) * spread / time
    return Rate(int(count), time, Between(count / time, low, high), spread)


def ratio(one: Rate, other: Rate) -> Between | None:
    """Return how many times as often as another something happens; None where nothing was seen of either.

    Given how many there were of both, those of one are drawn from them (Clopper and Pearson's exact interval).
    """
    if not (one.events and other.events):
        return None
    spread = max(one.dispersion, other.dispersion)
    first, second = one.events / spread, other.events / spread
    low = float(special.betaincinv(first, second + 1, TAIL))
    high = float(special.betaincinv(first + 1, second, 1 - TAIL))
    longer = other.time / one.time
    return Between(one.each.value / other.each.value, low / (1 - low) * longer, high / (1 - high) * longer)


def per_end(times: Sequence[float], ended: Sequence[bool]) -> Between | None:
    """Return how long something lasts on average, of which some still lasts; None unless two have ended.

    All time over all ends: what still lasts has its time counted, and no end. The interval is that of a ratio, on the
    logarithm's scale, and asks nothing of how the times are distributed.
    """
    lasted, ends = np.asarray(times, float), np.asarray(ended, float)
    count, whole = float(ends.sum()), float(lasted.sum())
    if count < 2 or whole <= 0:  # noqa: PLR2004  one has no spread
        return None
    mean, size = whole / count, len(lasted)
    error = math.sqrt(float(((lasted - mean * ends) ** 2).sum()) * size / (size - 1)) / count
    apart = math.exp(float(special.stdtrit(size - 1, 1 - TAIL)) * error / mean)
    return Between(mean, mean / apart, mean * apart)


def share(parts: Sequence[float], wholes: Sequence[float]) -> Between | None:
    """Return a share of time, each node with its own; None where there was no time."""
    mine, whole = np.asarray(parts, float), np.asarray(wholes, float)
    if whole.sum() <= 0:
        return None
    value, size = float(mine.sum() / whole.sum()), len(whole)
    if not 0 < value < 1 or size == 1:
        return Between(value, None, None)
    error = math.sqrt(float(((mine - value * whole) ** 2).sum()) * size / (size - 1)) / float(whole.sum())
    odds, wide = math.log(value / (1 - value)), WIDE * error / (value * (1 - value))
    return Between(value, 1 / (1 + math.exp(wide - odds)), 1 / (1 + math.exp(-wide - odds)))
