"""The numbers of a few parts, day by day, out of panels that hold those of the whole fleet.

A day is read at a time: a window of all parts over months would hold a hundred megabytes for one picture.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.parts.stay import Stay

DAYS = 90
"""Days that a picture shows, up to the newest of which something is kept."""


class Series(NamedTuple):
    """A part, and what it told on each of the days; None where it told nothing."""

    stay: Stay
    own: tuple[float | None, ...]


def series(store: Store, metric: str, parts: Iterable[Stay]) -> tuple[range, tuple[Series, ...]]:
    """Return the days of which a metric is known, and what each of these parts told on them.

    Days are counted since the epoch; a part that told nothing is left out.
    """
    kept = store.panel_days(metric)
    wanted = tuple(parts)
    if not kept or not wanted:
        return range(0), ()
    days = range(max(kept[0], kept[-1] - DAYS + 1), kept[-1] + 1)
    found: dict[int, list[float | None]] = {each.id: [None] * len(days) for each in wanted}
    for day in kept:
        if day in days:
            _put(store, metric, day, found, day - days[0])
    told = (Series(each, tuple(found[each.id])) for each in wanted)
    return days, tuple(each for each in told if any(number is not None for number in each.own))


def _put(store: Store, metric: str, day: int, found: dict[int, list[float | None]], at: int) -> None:
    window = store.window(metric, day, day)
    for number, row in found.items():
        place = int(window.stays.searchsorted(number))
        if place < len(window.stays) and int(window.stays[place]) == number and int(window.count[place, 0]):
            row[at] = float(window.middle[place, 0])
