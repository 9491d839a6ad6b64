"""Which of many series deserve a second look: one pass over all of them at once.

Each series is cut in two on every day that leaves enough on both sides, and what lies between the means of both is
held against the series' own noise (the likelihood ratio of a change at an unknown time: Hinkley, "Inference about the
change-point in a sequence of random variables", Biometrika 57, 1970). A line is found so, too: a
step in its middle has 87 % of the line's own score. Noise is taken from differences between neighbours, which a
change of level touches once; numbers far out count no more than those at `FAR`, so that no single one decides.

What the fleet does as a whole says what chance alone makes of it: if the scores of all series of a metric are
larger than those of independent noise, because each day resembles the one before, then all are divided by as much
("genomic control": Devlin and Roeder, "Genomic control for association studies", Biometrics 55, 1999; and the
"empirical null" of Efron, Journal of the American Statistical Association 99, 2004).
"""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.trends.autocorrelation import NEW, Likeness, after_gaps, without
from fleet_runner.core.reliability.trends.medians import pieces
from fleet_runner.core.reliability.trends.panel import Numbers

FEWEST_BEFORE = 10
"""Days with numbers before a change."""

FEWEST_SINCE = 6
"""Days with numbers since a change."""

FAR = 4.0
"""What lies further out than so many deviations counts as that far."""

SUSPICIOUS = 4.5
"""The score from which a series is looked at again: of independent normal noise one in some 10,000."""

MOST_SUSPECTS = 2_000
"""Series of one metric that are looked at again, the most suspicious first: where more are, it is no part's fault."""

FEWEST_FOR_CHANCE = 50
"""Series that say what chance makes of a metric; fewer have nothing but their own noise."""

MOST_JUMP = 6.0
"""How many times the mean difference one of them may count."""

LEAST_NOISE = 1e-9

EXPECTED: dict[int, tuple[float, float]] = {
    20: (1.13, 2.16), 30: (1.46, 2.43), 45: (1.63, 2.56), 60: (1.73, 2.66), 90: (1.83, 2.71), 180: (1.97, 2.81),
    400: (2.08, 2.90),
}  # fmt: skip
"""Of independent normal noise over so many days, the median of the scores and what nine in ten stay below (20,000
series each)."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Of each series its score (already divided by `inflation`), its noise, and whether it could be judged.

    `noise` is what a day differs from the next by, as a standard deviation of independent noise. `inflation` is how
    much more than that the level of many days is uncertain in this metric; `pooled` is whether that is known. `like`
    is what each series' days have of the one before: where it is more than nothing, `noise` is what is new on a day.
    """

    score: Numbers
    noise: Numbers
    like: Numbers
    inflation: float
    pooled: bool

    def suspects(self) -> tuple[NDArray[np.intp], int]:
        """Return the rows to look at again, the most suspicious first, and how many more there would be."""
        rows = np.nonzero(self.score >= SUSPICIOUS)[0]
        rows = rows[np.argsort(-self.score[rows], kind="stable")]
        return rows[:MOST_SUSPECTS], max(0, len(rows) - MOST_SUSPECTS)


def scan(alone: Numbers, least: float, known: Likeness = NEW) -> Scan:
    """Score each series; `least` is the smallest change that matters, and a fourth of it the least noise there is."""
    nothing = np.empty((4, 0), np.float32)
    found = [_scan(alone[piece], least / 4, known) for piece in pieces(alone)]
    score, noise, told, like = np.concatenate([nothing, *found], axis=1)
    judged = score > 0
    pooled = int(judged.sum()) >= FEWEST_FOR_CHANCE
    inflation = _inflation(score[judged], float(np.median(told[judged]))) if pooled else 1.0
    return Scan(score / np.float32(inflation), noise, like, inflation, pooled)


def _scan(told: Numbers, floor: float, known: Likeness) -> Numbers:
    """Return scores, noise, how many days were told and how much alike these are, of a piece: a row of each."""
    there = ~np.isnan(told)
    like = known.of(told)
    alone = without(told, like)
    noise, _ = differing(alone, there, floor)
    scaled = alone / noise[:, None]
    np.clip(scaled, -FAR, FAR, out=scaled)
    scaled[~there] = 0
    before = np.cumsum(scaled, axis=1)[:, :-1]
    days = np.cumsum(there, axis=1, dtype=np.float32)
    all_days, total = days[:, -1:], before[:, -1:] + scaled[:, -1:]
    since = all_days - days[:, :-1]
    good = (days[:, :-1] >= FEWEST_BEFORE) & (since >= FEWEST_SINCE)
    # between both means, over the standard error of that difference, in as few operations as can be
    apart = np.abs(before * all_days - total * days[:, :-1])
    width = np.sqrt(np.maximum(days[:, :-1] * since * all_days, 1))
    score = np.where(good, apart / width, np.float32(0)).max(axis=1, initial=0)
    return np.stack([score, noise, days[:, -1], like]).astype(np.float32)


def differing(alone: Numbers, there: NDArray[np.bool_], floor: float) -> tuple[Numbers, Numbers]:
    """Return the noise of each series, from how much each number differs from the one told before it, and that.

    Of normal noise such a difference is 2/sqrt(pi) standard deviations in the mean.
    """
    step = np.full_like(alone, np.nan)
    np.subtract(alone[:, 1:], alone[:, :-1], out=step[:, 1:])
    at, before = after_gaps(there)
    np.put(step, at, np.take(alone, at) - np.take(alone, before))
    np.abs(step, out=step)
    near = ~np.isnan(step)
    told = np.maximum(near.sum(axis=1, dtype=np.float32), 1)
    counted = np.where(near, step, np.float32(0))
    mean = counted.sum(axis=1) / told
    # one jump among many days adds little to a mean of differences, and less when it counts no more than some of them
    mean = np.minimum(counted, MOST_JUMP * mean[:, None], out=counted).sum(axis=1) / told
    return np.maximum(mean * (sqrt(pi) / 2), max(floor, LEAST_NOISE)), step


def _inflation(scores: Numbers, days: float) -> float:
    """Return by how much these scores are larger than chance makes them of independent noise; 1 at the least."""
    known = sorted(EXPECTED)
    half = np.interp(days, known, [EXPECTED[each][0] for each in known])
    most = np.interp(days, known, [EXPECTED[each][1] for each in known])
    return float(max(1.0, np.quantile(scores, 0.5) / half, np.quantile(scores, 0.9) / most))
