"""One series whose noise lasts from day to day: what a step or a line in it comes to, beside what is new on each day.

Taking out of each day what is left of the day before leaves noise that does not last, and of a step its first day
nearly whole: there noise has had one day to come so far, and not many ("generalised least squares": Aitken,
Proceedings of the Royal Society of Edinburgh 55, 1935; Cochrane and Orcutt, Journal of the American Statistical
Association 44, 1949). What lies far out counts as far as that, once (Bickel, "One-step Huber estimates in the linear
model", Journal of the American Statistical Association 70, 1975).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.trends.drift import FEWEST_BEFORE, FEWEST_SINCE

Floats = NDArray[np.float64]

FAR = 4.0
"""Standard deviations of a day's news from which it counts as that far."""

FEWEST_SLOPE = 14
"""Days with numbers that a slope is told from."""

MOST = 0.95
"""The most that a day is taken to have of the one before."""

ODD = 3.0
"""Standard errors by which a series' days are more alike than its metric's, and are believed to be."""


class Lasting(NamedTuple):
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


class Weight(NamedTuple):
    """What a shape comes to, its standard error, with how many degrees of freedom; and that of a level in one day."""

    size: float
    error: float
    freedom: float
    level: float


def news(days: Floats, rows: Floats, like: float) -> Floats:
    """Return what is new on each day: of noise that lasts, independent numbers of equal spread."""
    kept = like ** np.diff(days)
    new = np.sqrt(1 - like**2)
    rest = (rows[..., 1:] - kept * rows[..., :-1]) * (new / np.sqrt(1 - kept**2))
    return np.concatenate([rows[..., :1] * new, rest], axis=-1)


def fitted(days: Floats, values: Floats, noise: Lasting) -> Fitted:
    """Fit a step and a line that begin on any day, to numbers without what is seen once."""
    count = len(values)
    steps = np.arange(FEWEST_BEFORE, count - FEWEST_SINCE + 1)
    lines = np.arange(0, count - FEWEST_SLOPE + 1)
    shapes = np.concatenate([
        (np.arange(count)[None, :] >= steps[:, None]).astype(np.float64),
        np.maximum(days[None, :] - days[lines][:, None], 0),
    ])  # fmt: skip
    told = news(days, values - np.median(values), noise.like)
    shaped = _beside_level(days, news(days, shapes, noise.like), noise.like)
    gained = (shaped @ told) ** 2 / (shaped**2).sum(axis=1)
    step, line = int(np.argmax(gained[: len(steps)])), int(np.argmax(gained[len(steps) :]))
    return Fitted(int(steps[step]), int(lines[line]), bool(gained[len(steps) + line] > gained[step]))


def weighed(days: Floats, rest: Floats, shape: Floats, noise: Lasting) -> Weight:
    """Return what a shape comes to that was fitted and left `rest`, in the noise of a day."""
    like = _likeness(rest, noise)
    left = news(days, rest, like)
    far = FAR * float(np.abs(left).mean() * np.sqrt(np.pi / 2))
    left = np.clip(left, -far, far)
    shaped = _beside_level(days, news(days, shape[None, :], like), like)[0]
    width = float(np.sqrt((shaped**2).sum()))
    own = float(np.sqrt((left**2).sum() / (len(rest) - 3)))
    error = max(own, noise.news) * noise.inflation
    return Weight(width + float(left @ shaped) / width, error, len(rest) - 4.0, error / (1 - like))


def _beside_level(days: Floats, shaped: Floats, like: float) -> Floats:
    """Take out of shapes what a level has in common with them: that is not known, either."""
    level = news(days, np.ones((1, len(days))), like)[0]
    return shaped - np.outer(shaped @ level / (level @ level), level)


def _likeness(rest: Floats, noise: Lasting) -> float:
    """Return how alike days are: as the metric's, as far as series of it are alike; or as here, if that is odd."""
    count = len(rest)
    squares = float((rest**2).sum())
    own = float((rest[1:] * rest[:-1]).sum()) / squares if squares else 0.0
    own = min(max(own + (1 + 4 * own) / count, 0.0), MOST)  # Kendall's correction
    errs = (1 - own**2) / count
    if own > noise.middle + ODD * np.sqrt(errs + noise.varies):
        return min(own + float(np.sqrt(errs)), MOST)
    share = noise.varies / (noise.varies + errs)
    return min(noise.middle + share * (own - noise.middle) + float(np.sqrt(share * errs)), MOST)
