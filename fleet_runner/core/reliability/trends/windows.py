"""Panels of days beside each other: what the analyses of a metric look at."""

from collections.abc import Iterable, Sequence

import numpy as np

from fleet_runner.core.reliability.trends.panel import Panel, Window


def over(metric: str, days: Sequence[int], panels: Iterable[Panel]) -> Window:
    """Return a metric over days that follow each other: a row for each stay that told a number on any of them.

    Panels of other days are left out; a day without one is as if nobody had told anything.
    """
    mine = [panel for panel in panels if panel.day in frozenset(days)]
    stays = np.unique(np.concatenate([panel.stays for panel in mine])) if mine else np.empty(0, np.uint32)
    shape = (len(stays), len(days))
    count = np.zeros(shape, np.uint32)
    middle, spread = np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32)
    for panel in mine:
        row, column = np.searchsorted(stays, panel.stays), panel.day - days[0]
        count[row, column] = panel.count
        middle[row, column] = panel.middle
        spread[row, column] = panel.spread
    return Window(metric, np.asarray(days, np.int32), stays, count, middle, spread)
