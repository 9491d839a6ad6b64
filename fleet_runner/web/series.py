"""The numbers of a few parts, day by day, out of panels that hold those of the whole fleet.

A day is read at a time: a window of all parts over months would hold a hundred megabytes for one picture.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import stored
from fleet_runner.core.reliability.trends.answers import Followed, Numbered
from fleet_runner.core.reliability.trends.drift_words import day_name
from fleet_runner.core.reliability.trends.metrics import BY_NAME

DAYS = 90
"""Days that a picture shows, up to the newest of which something is kept."""

LONG = 400
"""The same where something is foreseen of it that was looked at in weeks: it may have begun a year ago."""

PARTS = 32
"""Parts of a node whose numbers one answer has."""


class Series(NamedTuple):
    """A part, and what it told on each of the days; None where it told nothing."""

    stay: Stay
    own: tuple[float | None, ...]


def series(store: Store, metric: str, parts: Iterable[Stay], most: int = DAYS) -> tuple[range, tuple[Series, ...]]:
    """Return the days of which a metric is known, the newest `most`, and what each of these parts told on them.

    Days are counted since the epoch; a part that told nothing is left out.
    """
    kept = store.panel_days(metric)
    wanted = tuple(parts)
    if not kept or not wanted:
        return range(0), ()
    days = range(max(kept[0], kept[-1] - most + 1), kept[-1] + 1)
    found: dict[int, list[float | None]] = {each.id: [None] * len(days) for each in wanted}
    for day in kept:
        if day in days:
            _put(store, metric, day, found, day - days[0])
    told = (Series(each, tuple(found[each.id])) for each in wanted)
    return days, tuple(each for each in told if any(number is not None for number in each.own))


def followed(store: Store, node: Node, metric: str) -> Followed:
    """Return what the parts of a node told of a metric, and what their peers did."""
    days, found = series(store, metric, store.stays(node=node.name))
    heat = store.analysis("heat")
    peers = stored.band(stored.metric_of(heat.body if heat else None, metric), node.device_type, days)
    return Followed(
        metric,
        BY_NAME[metric].unit,
        day_name(days[0]) if found else "",
        tuple(_numbered(each, node.name) for each in found[:PARTS]),
        {name: tuple(getattr(peers, name)) for name in ("high", "middle", "low")} if found and peers else {},
        max(0, len(found) - PARTS),
    )


def _numbered(each: Series, node: str) -> Numbered:
    stay = each.stay
    return Numbered(stay.slot or stay.component or node, stay.component, stay.serial, each.own)


def _put(store: Store, metric: str, day: int, found: dict[int, list[float | None]], at: int) -> None:
    window = store.window(metric, day, day)
    for number, row in found.items():
        place = int(window.stays.searchsorted(number))
        if place < len(window.stays) and int(window.stays[place]) == number and int(window.count[place, 0]):
            row[at] = float(window.middle[place, 0])
