"""A day of numbers as one: medians of what was told, growth of what counts, and days that are told in pieces."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.trends.panel import DAY, Ids, Numbers, Panel

Floats = NDArray[np.float64]

GAP = 2.0 * DAY
"""Seconds between two looks beyond which nobody knows on which day a counter grew."""


class Summary(NamedTuple):
    """Of each stay, in the order of their ids: how many numbers, their median, the median deviation from it."""

    stays: Ids
    counts: Ids
    middle: Numbers
    spread: Numbers


class Last(NamedTuple):
    """What counters said last, by stay in the order of their ids, and when."""

    stays: Ids
    values: Floats
    at: Floats


NO_LAST = Last(np.empty(0, np.uint32), np.empty(0), np.empty(0))


def days(at: Floats) -> NDArray[np.int64]:
    """Return the day of each moment."""
    return np.floor_divide(at, DAY).astype(np.int64)


def summed_up(stays: NDArray[Any], values: Floats) -> Summary:
    """Sum up numbers that were told, in whichever order."""
    order = np.lexsort((values, stays))
    mine, told = stays[order], values[order]
    begins = _begins(mine)
    counts = np.diff(np.append(begins, len(mine)))
    middle = _medians(told, begins, counts)
    away = np.abs(told - np.repeat(middle, counts))
    away = away[np.lexsort((away, mine))]
    return Summary(
        mine[begins].astype(np.uint32),
        counts.astype(np.uint32),
        middle.astype(np.float32),
        _medians(away, begins, counts).astype(np.float32),
    )


def grown(stays: NDArray[Any], at: Floats, values: Floats, before: Last) -> tuple[dict[int, Summary], Last]:
    """Return how much counters grew on each day, and what they say now.

    One that fell was cleared, and counts from nought. The first number of a stay says nothing, for nobody knows since
    when it counts; nor does one after a gap of days, and one that is older than what is known is left out.
    """
    order = np.lexsort((at, stays))
    mine, when, told = _news(stays[order].astype(np.uint32), at[order], values[order], before)
    if not len(mine):
        return {}, before
    begins = _begins(mine)
    there, place = _among(mine[begins], before.stays)
    earlier, since = np.roll(told, 1), np.roll(when, 1)
    earlier[begins] = np.where(there, before.values[place] if len(before.values) else 0.0, np.nan)
    since[begins] = np.where(there, before.at[place] if len(before.at) else 0.0, np.nan)
    growth = np.where(told >= earlier, told - earlier, told)
    known = (when > since) & (when - since <= GAP)
    day = days(when)
    found: dict[int, Summary] = {}
    for each in np.unique(day[known]):
        these = known & (day == each)
        found[int(each)] = _added(mine[these], growth[these])
    ends = np.append(begins[1:], len(mine)) - 1
    return found, _replaced(before, Last(mine[ends], told[ends], when[ends]))


def merged(one: Panel, more: Summary, *, counts: bool) -> Panel:
    """Return a day with what was told of it later.

    Growth is added up. Of medians, each piece stands for as many numbers as it had, a third of them at its median and
    a third a deviation to each side; what comes out is exact where both agree, and between the two where not.
    """
    stays = np.union1d(one.stays, more.stays)
    first = _spread_out(stays, Summary(one.stays, one.count, one.middle, one.spread))
    second = _spread_out(stays, more)
    count = first.counts + second.counts
    if counts:
        middle, spread = first.middle + second.middle, np.zeros(len(stays), np.float32)
    else:
        middle, spread = _between(first, second)
    return Panel(one.metric, one.day, stays.astype(np.uint32), count, middle, spread)


def together(summaries: list[Summary]) -> Summary:
    """Return summaries of different stays as one, in the order of their ids."""
    columns = [np.concatenate(column) for column in zip(*summaries, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Summary(*(column[order] for column in columns))


def _begins(ordered: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each run of equal numbers begins."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])


def _medians(ordered: Floats, begins: NDArray[Any], counts: NDArray[Any]) -> Floats:
    medians: Floats = (ordered[begins + (counts - 1) // 2] + ordered[begins + counts // 2]) / 2
    return medians


def _added(stays: Ids, growth: Floats) -> Summary:
    begins = _begins(stays)
    counts = np.diff(np.append(begins, len(stays)))
    total = np.add.reduceat(growth, begins).astype(np.float32)
    return Summary(stays[begins], counts.astype(np.uint32), total, np.zeros(len(begins), np.float32))


def _among(wanted: Ids, known: Ids) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which of some ids are among others, and where; of those that are not, any place."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_), np.zeros(len(wanted), np.int64)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return known[place] == wanted, place


def _replaced(before: Last, now: Last) -> Last:
    kept = ~_among(before.stays, now.stays)[0]
    stays = np.concatenate([before.stays[kept], now.stays])
    values, at = np.concatenate([before.values[kept], now.values]), np.concatenate([before.at[kept], now.at])
    order = np.argsort(stays, kind="stable")
    return Last(stays[order], values[order], at[order])


def _news(stays: Ids, at: Floats, values: Floats, before: Last) -> tuple[Ids, Floats, Floats]:
    """Leave out what is not newer than what is known: the growth until then is counted already."""
    there, place = _among(stays, before.stays)
    news = ~there | (at > before.at[place]) if len(before.at) else ~there
    return stays[news], at[news], values[news]


def _spread_out(stays: NDArray[Any], summary: Summary) -> Summary:
    """Return a summary over more stays; of those that it does not know, there are no numbers."""
    there, place = _among(stays, summary.stays)
    count = np.where(there, summary.counts[place], np.uint32(0)).astype(np.uint32)
    middle, spread = (
        np.where(there, each[place], np.float32(0)).astype(np.float32) for each in (summary.middle, summary.spread)
    )
    return Summary(stays, count, middle, spread)


def _between(first: Summary, second: Summary) -> tuple[Numbers, Numbers]:
    """Return the weighted median of what two pieces stand for, and the median deviation from it."""
    points = np.stack(
        [each.middle + sign * each.spread for each in (first, second) for sign in (-1, 0, 1)], axis=1
    ).astype(np.float64)
    weights = np.repeat(np.stack([first.counts, second.counts], axis=1).astype(np.int64), 3, axis=1)
    middle = _weighted(points, weights)
    return middle.astype(np.float32), _weighted(np.abs(points - middle[:, None]), weights).astype(np.float32)


def _weighted(points: Floats, weights: NDArray[np.int64]) -> Floats:
    order = np.argsort(points, axis=1, kind="stable")
    values, upto = np.take_along_axis(points, order, 1), 2 * np.cumsum(np.take_along_axis(weights, order, 1), axis=1)
    total = upto[:, -1:] // 2
    low, high = np.argmax(upto >= total, axis=1)[:, None], np.argmax(upto > total, axis=1)[:, None]
    return ((np.take_along_axis(values, low, 1) + np.take_along_axis(values, high, 1)) / 2)[:, 0]
