"""A second, slow look at one series: did it jump, or does it drift; since when; by how much; and is it chance.

A step and a line that begins on some day are fitted to it and the better one is taken. How large it is, is told by
estimates that a few wild numbers do not move: Hodges and Lehmann's shift ("Estimates of location based on rank
tests", Annals of Mathematical Statistics 34, 1963) and the Theil-Sen slope with Sen's interval ("Estimates of the
regression coefficient based on Kendall's tau", Journal of the American Statistical Association 63, 1968). Chance is
the tail of Student's t, times the number of days on which the change could have begun (Bonferroni); of series that
mostly repeat one number and of scatter, whose noise has no bell's shape, that of Fisher's exact test, too. The noise
that it is held against is the larger one of the fleet's (`core.reliability.trends.drift`) and of what the fit leaves,
made larger by what each day has of the one before, with Kendall's correction of that ("Note on bias in the estimation
of autocorrelation", Biometrika 41, 1954) and one standard error. Where the fleet knows how much that is, what is new
on each day is looked at instead (`core.reliability.trends.autocorrelated`).
"""

from dataclasses import dataclass
from math import comb, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fleet_runner.core.reliability.trends import autocorrelated as lasting
from fleet_runner.core.reliability.trends import slopes
from fleet_runner.core.reliability.trends.autocorrelated import Autocorrelation, fitted
from fleet_runner.core.reliability.trends.drift import FEWEST_SINCE

Floats = NDArray[np.float64]

SEPARATE = 0.85
"""How often a number since a jump must lie beyond one before it, of all pairs: half is chance."""

STEADY = 0.4
"""The least of Kendall's tau between days and numbers of a drift."""

MOST_LIKE_BEFORE = 0.95
"""The most that a day is taken to have of the one before."""

OWN = 1.1
"""From how many times the fleet's noise on a series is believed to be of a kind of its own."""

LIKE_FLEET = 0.6
"""Degrees of freedom for each day where noise is taken from differences (Von Neumann's ratio has two thirds)."""

TESTS = 4
"""What could have been found on each day: a step or a line, up or down."""

SURE = 0.95
"""Of the intervals."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the scan knows of a series' noise: that of a day, and how much larger it is for levels, if `pooled`.

    Logarithms of scatter have no `bell`: where a few wild days are far out, a run of them is no change. Where noise
    is `lasting`, that is what counts of it.
    """

    day: float
    inflation: float
    pooled: bool
    bell: bool = True
    lasting: Autocorrelation | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a series: it jumped (`slope` is None), or drifts by so much a day, since the number at `since`.

    `change` is in the series' unit: of a drift, what it came to until now. `chance` is at most how likely noise alone
    does as much to one series; `noise` is the standard error of a level that rests on one independent day. `clear` is
    whether numbers before and since are as far apart, or go as steadily, as it takes for a person to see it, too.
    """

    since: int
    change: float
    score: float
    chance: float
    noise: float
    clear: bool
    slope: float | None = None
    slope_low: float = 0.0
    slope_high: float = 0.0


def look(days: Floats, values: Floats, noise: Noise) -> Change:
    """Look at one series of at least `FEWEST_BEFORE` + `FEWEST_SINCE` numbers, days ascending."""
    fit = fitted(days, _smooth(values), noise.lasting.like if noise.lasting else 0.0)
    return _drift(days, values, fit.line, noise) if fit.is_line else _jump(days, values, fit.step, noise)


def _smooth(values: Floats) -> Floats:
    """Return the median of each three neighbours: what is seen once decides about no shape."""
    one, two, three = values[:-2], values[1:-1], values[2:]
    inner = np.maximum(np.minimum(one, two), np.minimum(np.maximum(one, two), three))
    return np.concatenate([values[:1], inner, values[-1:]])


def _ramp(days: Floats, since: int) -> Floats:
    """Return the days since then, less their mean over all days."""
    ramp = np.maximum(days - days[since], 0)
    return np.asarray(ramp - ramp.sum() / len(ramp), np.float64)


def _jump(days: Floats, values: Floats, since: int, noise: Noise) -> Change:
    """Tell a jump's size and chance."""
    before, after = values[:since], values[since:]
    low, high = _median(before), _median(after)
    pairs = np.sort((after[:, None] - before[None, :]).ravel())
    change = _middle(pairs)
    rest = np.concatenate([before - low, after - high])
    less, more = np.searchsorted(pairs, 0), len(pairs) - np.searchsorted(pairs, 0, side="right")
    beyond = 0.5 + 0.5 * float(more - less) / len(pairs) * float(np.sign(change))
    width = sqrt(1 / len(before) + 1 / len(after))
    shape = np.where(np.arange(len(values)) >= since, change, 0.0)
    score, chance, error = _chance(days, rest, shape, (change / width, noise))
    chance = max(chance, _free(values, since, noise))
    stays = (_median(after[-FEWEST_SINCE + 1 :]) - low) * np.sign(change) > abs(change) / 2
    return Change(since, change, score, chance, error, beyond >= SEPARATE and bool(stays))


def _drift(days: Floats, values: Floats, since: int, noise: Noise) -> Change:
    """Tell a drift's slope, with its interval, and its chance."""
    slope, low, high, tau = slopes.slope(days[since:], values[since:], SURE)
    ramp = _ramp(days, since)
    rest = _joined(values, slope * ramp) if noise.lasting else _apart(values, slope * days, since)
    size = slope * sqrt(float(ramp @ ramp))
    score, chance, error = _chance(days, rest, slope * ramp, (size, noise))
    chance = max(chance, _free(values, since or len(values) // 2, noise))
    wider = max(1.0, error / max(_deviation(rest), 1e-12))  # Sen's interval is one of independent days
    change = slope * float(days[-1] - days[since])
    clear = abs(tau) >= STEADY
    bounds = (slope + (low - slope) * wider, slope + (high - slope) * wider)
    return Change(since, change, score, chance, error, clear, slope, *bounds)


def _apart(values: Floats, line: Floats, since: int) -> Floats:
    """Return what is left of a level and, since then, a line wherever it lies."""
    before, going = values[:since], values[since:] - line[since:]
    return np.concatenate([before - _median(before) if since else before, going - _median(going)])


def _joined(values: Floats, line: Floats) -> Floats:
    """Return what is left of a line that goes on from the level before: what lasts may go down and up as well."""
    rest = values - line
    return rest - _median(rest)


def _free(values: Floats, since: int, noise: Noise) -> float:
    """Return how likely so many since then lie beyond the middle, whatever shape noise has; 0 if it is a bell."""
    if noise.bell and 2 * np.count_nonzero(values[1:] != values[:-1]) >= len(values) - 1:
        return 0.0
    before, after = _median(values[:since]), _median(values[since:])
    beyond = (values - (before + after) / 2) * np.sign(after - before) > 0
    sure = _fisher(int(beyond[since:].sum()), int(beyond.sum()), len(values) - since, len(values))
    return min(1.0, sure * TESTS * len(values))


def _fisher(found: int, marked: int, drawn: int, every: int) -> float:
    """Return how likely at least so many of those marked are found among some that are drawn."""
    likely = range(found, min(marked, drawn) + 1)
    return sum(comb(marked, each) * comb(every - marked, drawn - each) for each in likely) / comb(every, drawn)


def _error(rest: Floats, noise: Noise) -> tuple[float, float]:
    """Return the noise of a level for each independent day, and the degrees of freedom with which that is known."""
    count = len(rest)
    far = 4 * _deviation(rest)
    near = np.minimum(np.maximum(rest, -far), far)
    squares = float(near @ near)
    like = float(near[1:] @ near[:-1]) / squares if squares else 0.0
    like = min(max(like + (1 + 4 * like) / count + sqrt((1 - like * like) / count), 0.0), MOST_LIKE_BEFORE)
    larger = (1 + like) / (1 - like)
    own = sqrt(squares / (count - 3) * larger)
    fleet = noise.day * noise.inflation
    if noise.pooled and own <= OWN * fleet:
        return max(own, fleet), LIKE_FLEET * count
    return max(own, fleet), max(count / larger - 3, 1.0)


def _deviation(rest: Floats) -> float:
    """Return the standard deviation by the mean distance from zero."""
    return float(np.abs(rest).sum()) / len(rest) * sqrt(pi / 2)


def _median(values: Floats) -> float:
    """Return the middle; numpy's own takes ten times as long to find out what it was given."""
    return _middle(np.sort(values))


def _middle(ordered: Floats) -> float:
    """Return the middle of numbers in their order."""
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _chance(days: Floats, rest: Floats, shape: Floats, found: tuple[float, Noise]) -> tuple[float, float, float]:
    """Return how many standard errors a change is, a bound on how likely noise comes to it, and a level's error.

    `shape` is the change as it was fitted, `rest` what that leaves; `found` is its size for an independent day.
    """
    size, noise = found
    if noise.lasting:
        size, error, freedom, level = lasting.weighed(days, rest, shape, noise.lasting)
    else:
        error, freedom = _error(rest, noise)
        level = error
    score = abs(size) / error
    return score, min(1.0, float(special.stdtr(freedom, -score)) * TESTS * len(rest)), level
