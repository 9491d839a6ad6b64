"""What changed among many series, without chance: all are scanned, the suspicious ones are looked at again."""

from typing import NamedTuple

import numpy as np

from fleet_runner.core.trends.drift import LEAST_NOISE, differing, scan
from fleet_runner.core.trends.exact import Change, Noise, look
from fleet_runner.core.trends.lasting import Lasting
from fleet_runner.core.trends.likeness import NEW, likeness
from fleet_runner.core.trends.panel import Numbers, Window

CHANCE = 1e-8
"""How likely noise may make a series be told, a night and search, if it is as noise is thought to be."""

LASTING = 3e-8
"""The same of a metric whose noise lasts: there what is new on a day is known better, and wild days count less."""

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
        lasts = Lasting(day, scanned.inflation, like, known.middle, known.varies) if known.middle else None
        noise = Noise(day, scanned.inflation, scanned.pooled, bell, lasts)
        change = look(columns[there], alone[row][there].astype(np.float64), noise)
        if change.clear and change.chance <= (LASTING if lasts else CHANCE):
            seen.append(Seen(row, tuple(np.nonzero(there)[0].tolist()), change))
    return Searched(tuple(seen), crowd)


def scatter(window: Window, alone: Numbers, least: float) -> tuple[Numbers, Numbers]:
    """Return how far each day's numbers scatter, in the metric's unit as a standard deviation, and its logarithm.

    Within the day, and from the day before: one without the other is what a metric that is told once a day has. No
    scatter is told smaller than a fourth of what matters, so that none is infinitely larger than another.
    """
    there = ~np.isnan(alone)
    within = np.where(window.count >= FEWEST_OF_A_DAY, np.nan_to_num(window.spread) / NORMAL, np.float32(0))
    _, steps = differing(alone, there, LEAST_NOISE)
    between = np.concatenate([np.full((len(alone), 1), np.nan, np.float32), steps], axis=1) / np.sqrt(2)
    both = np.sqrt(within**2 + np.nan_to_num(between) ** 2)
    both = np.where(there & ~np.isnan(between), both, np.float32(np.nan)).astype(np.float32)
    return both, np.log(both + np.float32(max(least / 4, LEAST_NOISE)))
