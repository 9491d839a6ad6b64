"""What comes too seldom for days is looked at in weeks: of which device types that holds, and how weeks are made.

A test that comes once a week tells on 13 of 90 days, and no change can be told from so few numbers. In weeks, of
which a year is kept, it has a number in each column as any other metric has in days. Weeks are the calendar's, from
Monday to Sunday, so that a night looks at the same ones as the night before; the newest may not be over yet.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import daily, windows
from fleet_runner.core.reliability.trends.panel import WEEK, Ids, Panel, Window
from fleet_runner.core.reliability.trends.peers import Location
from fleet_runner.core.reliability.trends.silence import FEWEST_TOLD

MOST = 57
"""Weeks that are looked at: as many as 400 days are sure to hold."""

MONDAY = 3
"""Days before the epoch, a Thursday, on which its week began."""

STILL = 1.5
"""How many times as often must be told what was looked at in weeks the night before, to be looked at in days."""


@dataclass(frozen=True, slots=True)
class WeeklyWindow:
    """A window of days without what comes too seldom: of that the stays, and how many there are by device type."""

    often: Window
    seldom: Ids
    device_types: Mapping[str, int]


def parted(
    window: Window, stays: Mapping[int, Stay], places: Mapping[str, Location], before: Collection[str] = ()
) -> WeeklyWindow:
    """Take out of a window of days what is to be looked at in weeks.

    It is so for all parts of a device type or for none, for these are compared, and have their tests in common: where
    at the rate of its middle series the window never holds enough. `before` are the device types of which it was so
    the night before; there it takes more than enough, or what lies near to that would be looked at by turns.
    """
    mine = (stays.get(each) for each in window.stays.tolist())
    where = (places.get(stay.node) if stay else None for stay in mine)
    names, of = np.unique([place.device_type if place else "" for place in where], return_inverse=True)
    there = window.count > 0
    columns = there.shape[1]
    rate = there.sum(axis=1) / np.maximum(columns - there.argmax(axis=1), 1)
    seldom = np.zeros(len(rate), bool)
    counts: dict[str, int] = {}
    for label, name in enumerate(names.tolist()):
        rows = of == label
        if name and np.median(rate[rows]) * columns < FEWEST_TOLD * (STILL if name in before else 1):
            seldom |= rows
            counts[name] = int(rows.sum())
    return WeeklyWindow(_without(window, seldom) if counts else window, window.stays[seldom], counts)


def _without(window: Window, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Window:
    """Leave out rows of a window."""
    kept = ~rows
    told = (window.stays[kept], window.count[kept], window.middle[kept], window.spread[kept])
    return Window(window.metric, window.days, *told, step=window.step)


def first_day(until_day: int) -> int:
    """Return the first day of the weeks that are looked at on the day after this one."""
    return (_week(until_day) - MOST + 1) * WEEK - MONDAY


def over(metric: str, until_day: int, panels: Iterable[Panel], wanted: Ids) -> Window:
    """Return what these stays told in each week from the first panel's on, up to a day; panels by ascending days.

    A week has the median of what was told on its days, and the median deviation of these from it. No more days are
    held at once than a week has.
    """
    by_week = groupby(panels, lambda each: _week(each.day))
    told = [_summed_up(metric, week, list(mine), wanted) for week, mine in by_week]
    weeks = range(told[0].day, _week(until_day) + 1) if told else range(0)
    window = windows.over(metric, weeks, told)
    ends = np.minimum((window.days + 1) * WEEK - MONDAY - 1, until_day)
    return replace(window, days=ends.astype(np.int32), step=WEEK)


def _week(day: int) -> int:
    """Return the number of a day's week."""
    return (day + MONDAY) // WEEK


def _summed_up(metric: str, week: int, days: list[Panel], wanted: Ids) -> Panel:
    """Return what was told in a week; the number of the week stands for its day."""
    stays, middle = (np.concatenate(each) for each in ([day.stays for day in days], [day.middle for day in days]))
    mine = np.isin(stays, wanted)
    return Panel(metric, week, *daily.summed_up(stays[mine], middle[mine].astype(np.float64)))
