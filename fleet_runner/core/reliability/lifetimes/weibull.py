"""Weibull's law, fitted to lives: do parts fail more often while they are young, or the older they get?

Maximum likelihood with left truncation and right censoring; the interval of the shape is where the likelihood, at its
best for each shape, is within half of chi-square's 95 % of its best (Meeker and Escobar, Statistical Methods for
Reliability Data, 1998, chapters 8 and 11).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fleet_runner.core.reliability.lifetimes.rates import WIDE, Between
from fleet_runner.core.reliability.lifetimes.survival import Sample

FEWEST = 10
"""Failures that a fit needs."""

BOUNDS = (math.log(0.02), math.log(50.0))
"""Of the logarithm of a shape: what lies beyond is no law of wear, but too little data."""

FURTHEST = 1.0
"""Times the greatest age seen up to which the law is used to say anything."""

NEAR = 1e-7
"""Of the logarithm of a shape: how close it and the ends of its interval are found."""

STEP = 1e-3
"""Of the logarithm of a shape, for the slope of an age over it."""


@dataclass(frozen=True, slots=True)
class Weibull:
    """The fit: `shape` below 1 is infant mortality, 1 chance, above 1 wear; `scale` in the unit of the ages.

    `tenth` is the age by which a tenth has failed, None where that lies beyond what was seen.
    """

    shape: Between
    scale: float
    tenth: Between | None


def fit(lives: Sample) -> Weibull | None:
    """Fit Weibull's law; None where there are too few failures, or where they lie so that no law fits."""
    if lives.failures < FEWEST:
        return None
    oldest = float(lives.exit.max())

    def depth(log_shape: float) -> float:
        return -_likelihood(lives, oldest, log_shape)

    at = _lowest(depth, *BOUNDS)
    line = depth(at) + WIDE**2 / 2
    if depth(BOUNDS[0]) <= line or depth(BOUNDS[1]) <= line:
        return None
    ends = [_crossing(lambda where: depth(where) - line, at, end) for end in BOUNDS]
    shape = Between(*(math.exp(each) for each in (at, *ends)))
    return Weibull(shape, _scale(lives, oldest, at), _tenth(lives, oldest, at, ends))


def _lowest(depth: Callable[[float], float], low: float, high: float) -> float:
    """Return where a depth that falls and then rises is lowest."""
    while high - low > NEAR:
        third = (high - low) / 3
        low, high = (low, high - third) if depth(low + third) < depth(high - third) else (low + third, high)
    return (low + high) / 2


def _crossing(depth: Callable[[float], float], inside: float, outside: float) -> float:
    """Return where a depth that is below zero inside and above it outside is zero."""
    while abs(outside - inside) > NEAR:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if depth(middle) < 0 else (inside, middle)
    return inside


def _tenth(lives: Sample, oldest: float, at: float, ends: list[float]) -> Between | None:
    """Return the age by which a tenth fails; its error is the shape's, and the scale's given the shape."""

    def log_age(log_shape: float) -> float:
        return math.log(_scale(lives, oldest, log_shape)) + math.log(-math.log(0.9)) / math.exp(log_shape)

    age = math.exp(log_age(at))
    if age > FURTHEST * oldest:
        return None
    slope = (log_age(at + STEP) - log_age(at - STEP)) / (2 * STEP)
    by_shape = slope * (ends[1] - ends[0]) / (2 * WIDE)
    by_scale = 1 / (math.exp(at) * math.sqrt(lives.failures))
    apart = math.exp(WIDE * math.hypot(by_shape, by_scale))
    return Between(age, age / apart, age * apart)


def _hazards(lives: Sample, oldest: float, log_shape: float) -> float:
    """Return what all lives together went through, but for the scale; ages as shares of the greatest."""
    shape = math.exp(log_shape)
    return float((lives.weight * ((lives.exit / oldest) ** shape - (lives.entry / oldest) ** shape)).sum())


def _scale(lives: Sample, oldest: float, log_shape: float) -> float:
    """Return the likeliest scale of a shape."""
    return oldest * math.pow(_hazards(lives, oldest, log_shape) / lives.failures, math.exp(-log_shape))


def _likelihood(lives: Sample, oldest: float, log_shape: float) -> float:
    """Return the logarithm of the likelihood of a shape with its likeliest scale, but for a constant."""
    count, shape = lives.failures, math.exp(log_shape)
    logs = float((lives.weight * np.log(np.where(lives.failed, lives.exit, oldest) / oldest)).sum())
    hazards = _hazards(lives, oldest, log_shape)
    return count * log_shape - count * math.log(hazards / count) + (shape - 1) * logs
