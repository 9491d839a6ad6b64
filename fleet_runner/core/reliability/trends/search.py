"""What changed among many series, without chance: all are scanned, the suspicious ones are looked at again."""

from typing import NamedTuple

import numpy as np

from fleet_runner.core.reliability.trends.autocorrelated import Autocorrelation
from fleet_runner.core.reliability.trends.autocorrelation import NEW, likeness
from fleet_runner.core.reliability.trends.drift import LEAST_NOISE, differing, scan
from fleet_runner.core.reliability.trends.exact import Change, Noise, look
from fleet_runner.core.reliability.trends.medians import pieces
from fleet_runner.core.reliability.trends.panel import Ids, Numbers, Window

CHANCE = 1e-8
"""How likely noise may make a series be told, a night and search, if it is as noise is thought to be."""

FALSE_ALARMS = 1e-6
"""How often noise of any kind makes a series be told, a night: what is promised, and held by the benchmarks.

It is much more than `CHANCE`, because noise has heavier tails than it is thought to have.
"""

FEWEST_OF_A_DAY = 3
"""Numbers of a day whose own scatter counts."""

NORMAL = 0.6745
"""The median deviation of a normal distribution, in standard deviations."""


class Seen(NamedTuple):
    """One series that changed: its row, the columns of its days, and how it changed (`since` is one of `days`)."""

    row: int
    days: tuple[int, ...]
    change: Change

    @property
    def since(self) -> int:
        """Return the column of the first day of the change."""
        return self.days[self.change.since]


class Searched(NamedTuple):
    """What changed, by row, and how many series more were suspicious than are looked at."""

    seen: tuple[Seen, ...]
    crowd: int


def search(alone: Numbers, least: float, *, bell: bool = True) -> Searched:
    """Return the series that changed; `least` is the smallest change that matters, `bell` the shape of noise."""
    known = likeness(alone) if bell else NEW
    scanned = scan(alone, least, known)
    rows, crowd = scanned.suspects()
    columns = np.arange(alone.shape[1], dtype=np.float64)
    seen: list[Seen] = []
    for row in sorted(rows.tolist()):
        there = ~np.isnan(alone[row])
        day, like = float(scanned.noise[row]), float(scanned.like[row])
        lasts = Autocorrelation(day, scanned.inflation, like, known.middle, known.varies) if known.middle else None
        noise = Noise(day, scanned.inflation, scanned.pooled, bell, lasts)
        change = look(columns[there], alone[row][there].astype(np.float64), noise)
        if change.clear and change.chance <= CHANCE:
            seen.append(Seen(row, tuple(np.nonzero(there)[0].tolist()), change))
    return Searched(tuple(seen), crowd)


def scatter(window: Window, alone: Numbers, least: float) -> tuple[Numbers, Numbers]:
    """Return how far each day's numbers scatter, in the metric's unit as a standard deviation, and its logarithm.

    Within the day, and from the day before: one without the other is what a metric that is told once a day has. No
    scatter is told smaller than a fourth of what matters, so that none is infinitely larger than another.
    """
    wide, logarithm = np.empty_like(alone), np.empty_like(alone)
    for piece in pieces(alone):
        wide[piece] = _scatter(window.count[piece], window.spread[piece], alone[piece])
        np.log(wide[piece] + np.float32(max(least / 4, LEAST_NOISE)), out=logarithm[piece])
    return wide, logarithm


def _scatter(count: Ids, spread: Numbers, alone: Numbers) -> Numbers:
    """Return how far each day's numbers scatter, of a piece."""
    _, steps = differing(alone, ~np.isnan(alone), LEAST_NOISE)
    counts = (count >= FEWEST_OF_A_DAY) & ~np.isnan(spread)
    within = np.where(counts, spread, np.float32(0)) / NORMAL
    return np.asarray(np.sqrt(within * within + steps * steps / 2), np.float32)
