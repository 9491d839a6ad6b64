"""One series whose noise lasts from day to day: what a step or a line in it comes to, beside what is new on each day.

Taking out of each day what is left of the day before leaves noise that does not last, and of a step its first day
nearly whole: there noise has had one day to come so far, and not many ("generalised least squares": Aitken,
Proceedings of the Royal Society of Edinburgh 55, 1935; Cochrane and Orcutt, Journal of the American Statistical
Association 44, 1949). What lies far out counts as far as that, once (Bickel, "One-step Huber estimates in the linear
model", Journal of the American Statistical Association 70, 1975).
"""

from math import pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.trends.drift import FEWEST_BEFORE, FEWEST_SINCE

Floats = NDArray[np.float64]

FAR = 4.0
"""Standard deviations of a day's news from which it counts as that far."""

MOST_OF_A_DAY = 5.0
"""Standard deviations that a change is believed of a single day: one wild day, and what lasts of it, is no jump."""

FEWEST_SLOPE = 14
"""Days with numbers that a slope is told from."""

MOST = 0.95
"""The most that a day is taken to have of the one before."""

ODD = 3.0
"""Standard errors by which a series' days are more alike than its metric's, and are believed to be."""


class Autocorrelation(NamedTuple):
    """What is new on a day, how much larger that is for levels in this metric, and how much a day has of the last.

    `middle` is how much days have of the last one in this metric, `varies` the variance by which its series differ.
    """

    news: float
    inflation: float
    like: float
    middle: float
    varies: float = 0.0


class Fitted(NamedTuple):
    """The best step and the best line: since which number each is, and which of the two fits better."""

    step: int
    line: int
    is_line: bool


class _Sums(NamedTuple):
    """Of each of many shapes, its product with what was told, with a level and with itself."""

    told: Floats
    level: Floats
    own: Floats


class Significance(NamedTuple):
    """What a shape comes to, its standard error, with how many degrees of freedom; and that of a level in one day."""

    size: float
    error: float
    freedom: float
    level: float


def news(days: Floats, rows: Floats, like: float) -> Floats:
    """Return what is new on each day: of noise that lasts, independent numbers of equal spread."""
    kept, first = _kept(days, like)
    rest = (rows[..., 1:] - kept * rows[..., :-1]) * first
    return np.concatenate([rows[..., :1] * sqrt(1 - like**2), rest], axis=-1)


def _kept(days: Floats, like: float) -> tuple[Floats, Floats]:
    """Return, of each day but the first, what is left of the one before it, and what counts of a step's first day."""
    kept = like ** (days[1:] - days[:-1])
    return kept, np.sqrt((1 - like**2) / (1 - kept**2))


def fitted(days: Floats, values: Floats, like: float) -> Fitted:
    """Fit a step and a line that begin on any day, to numbers without what is seen once.

    Of either, what is new on its later days is what is new in a level or in the days themselves: sums over the days
    after each one give what all of them come to.
    """
    count = len(values)
    steps, lines = np.arange(FEWEST_BEFORE, count - FEWEST_SINCE + 1), np.arange(0, count - FEWEST_SLOPE + 1)
    ago = days - days[0]
    told, level, going = news(days, np.stack([values - np.median(values), np.ones(count), ago]), like)
    first, since = _kept(days, like)[1][steps - 1], ago[lines]  # on its first day, a step is all news
    with_told, with_level = _after(told * level), _after(level * level)
    step = _Sums(
        first * told[steps] + with_told[steps],
        first * level[steps] + with_level[steps],
        first * first + with_level[steps],
    )
    also = _after(going * level)[lines]
    line = _Sums(
        _after(going * told)[lines] - since * with_told[lines],
        also - since * with_level[lines],
        _after(going * going)[lines] - since * (2 * also - since * with_level[lines]),
    )
    stepped, lined = (_gained(each, float(told @ level), float(level @ level)) for each in (step, line))
    best, other = int(np.argmax(stepped)), int(np.argmax(lined))
    return Fitted(int(steps[best]), int(lines[other]), bool(lined[other] > stepped[best]))


def _after(values: Floats) -> Floats:
    """Return the sum over the days after each one."""
    return np.asarray(values.sum() - values.cumsum(), np.float64)


def _gained(shapes: _Sums, told: float, whole: float) -> Floats:
    """Return by how much each shape makes what is left smaller, beside a level; both are given of the level, too."""
    return (shapes.told - shapes.level * told / whole) ** 2 / (shapes.own - shapes.level**2 / whole)


def weighed(days: Floats, rest: Floats, shape: Floats, noise: Autocorrelation) -> Significance:
    """Return what a shape comes to that was fitted and left `rest`, in the noise of a day."""
    like = _likeness(rest, noise)
    left, put, level = news(days, np.stack([rest, shape, np.ones(len(rest))]), like)
    day = float(np.abs(left).sum()) / len(left) * sqrt(pi / 2)
    most = MOST_OF_A_DAY * max(day, noise.news)
    told, put, left = _within(left + put, most), _within(put, most), _within(left, FAR * day)
    shaped = put - float(put @ level / (level @ level)) * level
    width = sqrt(float(shaped @ shaped))
    own = sqrt(float(left @ left) / (len(rest) - 3))
    error = max(own, noise.news) * noise.inflation
    return Significance(float(told @ shaped) / width, error, len(rest) - 4.0, error / (1 - like))


def _within(values: Floats, far: float) -> Floats:
    """Return numbers of which those further out than this count as that far."""
    return np.minimum(np.maximum(values, -far), far)


def _likeness(rest: Floats, noise: Autocorrelation) -> float:
    """Return how alike days are: as the metric's, as far as series of it are alike; or as here, if that is odd."""
    count = len(rest)
    squares = float(rest @ rest)
    own = float(rest[1:] @ rest[:-1]) / squares if squares else 0.0
    own = min(max(own + (1 + 4 * own) / count, 0.0), MOST)  # Kendall's correction
    errs = (1 - own**2) / count
    if own > noise.middle + ODD * sqrt(errs + noise.varies):
        return min(own + sqrt(errs), MOST)
    share = noise.varies / (noise.varies + errs)
    return min(noise.middle + share * (own - noise.middle) + sqrt(share * errs), MOST)
