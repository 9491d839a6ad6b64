"""Which share of parts reaches an age, and whether cohorts differ in it by more than chance.

The curve is Kaplan and Meier's (1958) with its log-log interval, over those at risk at each age: a part counts from
the age at which it was first seen, not before (left truncation; Klein and Moeschberger, Survival Analysis, 2003,
chapter 4.6), which `scipy.stats.ecdf` does not know. Cohorts are held against each other by the log-rank test, and
one against the others by Cox's hazard ratio.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fleet_runner.core.reliability.lifetimes.rates import WIDE, Between

Array = NDArray[np.float64]

AT_RISK = 10
"""Parts that are watched at the least at every age that a curve shows: with fewer, one failure would say it all."""

FARTHEST = 12.0
"""Logarithm of a ratio beyond which there is none: all of one cohort failed before any of the other."""

TURNS = 50
"""Of Newton's method, which needs about five."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Lives: ages of entry and exit, whether each failed then, and how many such lives there were."""

    entry: Array
    exit: Array
    failed: NDArray[np.bool_]
    weight: Array

    @property
    def failures(self) -> int:
        """Return how many failed."""
        return int(self.weight[self.failed].sum())


@dataclass(frozen=True, slots=True)
class Curve:
    """The share that lives at each age, of those that lived at the first; steps down at each age and is flat between.

    The last age is that up to which enough parts are watched.
    """

    ages: Array
    share: Array
    low: Array
    high: Array

    def at(self, age: float) -> Between | None:
        """Return the share that reaches an age; None outside of the curve."""
        if not self.ages[0] <= age <= self.ages[-1]:
            return None
        place = int(np.searchsorted(self.ages, age, side="right")) - 1
        return Between(float(self.share[place]), float(self.low[place]), float(self.high[place]))

    def half(self) -> Between | None:
        """Return the age that half reach (Brookmeyer and Crowley's interval); None where more than half live on."""
        ages = [float(self.ages[under][0]) if (under := line <= 0.5).any() else None  # noqa: PLR2004  the median
                for line in (self.share, self.low, self.high)]  # fmt: skip
        return None if ages[0] is None else Between(ages[0], ages[1], ages[2])


def sample(rows: Iterable[tuple[float, float, bool]]) -> Sample:
    """Make a sample of lives: ages of entry and exit, and whether it failed; those without length say nothing."""
    kept = np.array([row for row in rows if row[1] > row[0]], float).reshape(-1, 3)
    return Sample(kept[:, 0], kept[:, 1], kept[:, 2] > 0, np.ones(len(kept)))


def curve(lives: Sample) -> Curve | None:
    """Return the curve over the stretch of ages in which enough are watched; None where there is none.

    Where there are several, with too few between them, it is the one in which most failed: one failure among a few
    would take the whole share away, and no later age could bring it back.
    """
    changes = np.unique(np.concatenate([lives.entry, lives.exit]))
    begin, last = _stretch(lives, changes, _at_risk(lives, np.nextafter(changes, np.inf)) >= AT_RISK)
    if begin == last:
        return None
    ages, failed = _failures(lives, begin)
    risk = _at_risk(lives, ages)
    shown = ages <= last
    ages, failed, risk = ages[shown], failed[shown], risk[shown]
    share = np.cumprod(1 - failed / risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.cumsum(failed / (risk * (risk - failed)))) / np.log(share)
        low, high = (share ** np.exp(sign * WIDE * -error) for sign in (1, -1))
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 1.0)
    first, ends = np.ones(1), np.array([last])
    if len(ages) and ages[-1] == last:
        ends = ends[:0]
    stops = len(ages) + 1 + len(ends)
    shares = [np.concatenate([first, each, each[-1:] if len(each) else first])[:stops].astype(np.float64)
              for each in (share, low, high)]  # fmt: skip
    return Curve(np.concatenate([np.array([begin]), ages, ends]), *shares)


def _stretch(lives: Sample, changes: Array, enough: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the ages between which enough are watched at every change, and most failed; nought twice without any."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], enough, [False]]).astype(int)))
    found = [(float(changes[begin]), float(changes[end])) for begin, end in edges.reshape(-1, 2)]
    ages, failed = _failures(lives, -np.inf)
    return max(found, key=lambda each: failed[(ages > each[0]) & (ages <= each[1])].sum(), default=(0.0, 0.0))


def logrank(cohorts: Sequence[Sample]) -> tuple[float, float] | None:
    """Return chi-square and p of the log-rank test between cohorts; None where nothing can be told apart."""
    ages, failed, risk = _together(cohorts)
    all_failed, all_risk = failed.sum(axis=0), risk.sum(axis=0)
    told = all_risk > 1
    part = risk[:, told] / all_risk[told]
    off = (failed[:, told] - all_failed[told] * part).sum(axis=1)[1:]
    wide = all_failed[told] * (all_risk[told] - all_failed[told]) / (all_risk[told] - 1)
    spread = np.diag((wide * part).sum(axis=1)) - (wide * part) @ part.T
    if len(cohorts) < 2 or not len(ages) or np.linalg.matrix_rank(spread[1:, 1:]) < len(cohorts) - 1:  # noqa: PLR2004  it takes two
        return None
    square = float(off @ np.linalg.solve(spread[1:, 1:], off))
    return square, float(special.chdtrc(len(cohorts) - 1, max(square, 0.0)))


def hazard_ratio(one: Sample, others: Sample) -> Between | None:
    """Return how many times as often as others of the same age one cohort fails; None where either has no failures.

    Cox's partial likelihood (1972) of one covariate, ties after Breslow, by Newton's method; Wald's interval.
    """
    if not (one.failures and others.failures):
        return None
    _, failed, risk = _together((one, others))
    both, effect, information = failed.sum(axis=0), 0.0, 1.0
    for _ in range(TURNS):
        mine = risk[0] * np.exp(effect)
        chance = mine / (mine + risk[1])
        information = float((both * chance * (1 - chance)).sum())
        if information <= 0 or abs(effect) > FARTHEST:
            return None
        step = float((failed[0] - both * chance).sum()) / information
        effect += float(np.clip(step, -1, 1))
    wide = WIDE / np.sqrt(information)
    return Between(*(float(np.exp(each)) for each in (effect, effect - wide, effect + wide)))


def _together(cohorts: Sequence[Sample]) -> tuple[Array, Array, Array]:
    """Return the ages at which anything failed, and of each cohort what failed and what was watched then."""
    ages = np.unique(np.concatenate([each.exit[each.failed] for each in cohorts]))
    failed = np.zeros((len(cohorts), len(ages)))
    for row, each in zip(failed, cohorts, strict=True):
        np.add.at(row, np.searchsorted(ages, each.exit[each.failed]), each.weight[each.failed])
    return ages, failed, np.array([_at_risk(each, ages) for each in cohorts])


def _failures(lives: Sample, after: float) -> tuple[Array, Array]:
    mine = lives.failed & (lives.exit > after)
    ages, place = np.unique(lives.exit[mine], return_inverse=True)
    return ages, np.bincount(place, weights=lives.weight[mine], minlength=len(ages)).astype(float)


def _at_risk(lives: Sample, ages: Array) -> Array:
    """Return how many are watched just before each age: those that entered before it, and did not leave before it."""
    return _before(lives.entry, lives.weight, ages) - _before(lives.exit, lives.weight, ages)


def _before(moments: Array, weight: Array, ages: Array) -> Array:
    order = np.argsort(moments, kind="stable")
    summed = np.concatenate([np.zeros(1), np.cumsum(weight[order])])
    found: Array = summed[np.searchsorted(moments[order], ages, side="left")]
    return found
