"""What changes together is told once: parts of one node, and racks and sites that move as a whole."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends.drift_words import (
    SeriesChange,
    day_name,
    numbers,
    sentence,
    short,
    since,
    with_unit,
)
from fleet_runner.core.reliability.trends.metrics import Metric
from fleet_runner.core.reliability.trends.panel import Numbers, Window
from fleet_runner.core.reliability.trends.peers import Apart, Groups, Peers
from fleet_runner.core.reliability.trends.search import search

FEWEST_PARTS = 3
"""Parts of a node that changed alike, and half of those that could be judged: then it is the node."""

FEWEST_STILL, SHARE_STILL = 2, 4
"""The same while the node is told of already: so many parts, and a fourth; at the edge it would be one by turns."""

SAME_TIME = 5
"""Days between which they changed; of what is looked at in weeks, so many weeks."""


class SameChange(NamedTuple):
    """Changes of one node that are one; of one part it is the change itself, and `parts` is 1."""

    told: SeriesChange
    node: str
    component: str
    serial: str
    parts: int


@dataclass(frozen=True, slots=True)
class Together:
    """A rack or site that changed as a whole."""

    metric: str
    kind: Kind
    what: str
    name: str
    sentence: str
    numbers: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        words = {"metric": self.metric, "kind": self.kind.value, "what": self.what, "name": self.name}
        return {**words, "sentence": self.sentence, "numbers": dict(self.numbers)}


def as_one(
    found: Sequence[SeriesChange],
    stays: Sequence[Stay | None],
    judged: Mapping[str, int],
    whole: frozenset[tuple[str, Kind]],
) -> tuple[SameChange, ...]:
    """Make one change of those of most parts of a node that went the same way at the same time.

    `whole` are nodes of which such a change stands, with its kind: there fewer parts are enough.
    """
    by_node: dict[tuple[str, Kind, bool], list[SeriesChange]] = defaultdict(list)
    said: list[SameChange] = []
    for each in found:
        by_node[_stay(stays, each).node, each.kind, each.change > 0].append(each)
    for (node, kind, _), mine in by_node.items():
        when = median(each.since for each in mine)
        near = [each for each in mine if abs(each.since - when) <= SAME_TIME * each.step]
        still = (node, kind) in whole
        fewest, share = (FEWEST_STILL, SHARE_STILL) if still else (FEWEST_PARTS, 2)
        if len(near) >= max(fewest, judged[node] / share):
            said.append(SameChange(_middle(near), node, "", "", len(near)))
            mine = [each for each in mine if each not in near]  # noqa: PLW2901  what is left of them
        said += [_alone(each, _stay(stays, each)) for each in mine]
    return tuple(said)


def _stay(stays: Sequence[Stay | None], told: SeriesChange) -> Stay:
    """Return the stay of a change: what could be judged has one."""
    stay = stays[told.row]
    assert stay is not None  # noqa: S101  a row without a stay is silent
    return stay


def _alone(told: SeriesChange, stay: Stay) -> SameChange:
    """Return the change of one part."""
    return SameChange(told, stay.node, stay.component, stay.serial, 1)


def _middle(near: Sequence[SeriesChange]) -> SeriesChange:
    """Return the change that stands for all: the middle one, from the day on which the first of them began."""
    ordered = sorted(near, key=lambda each: abs(each.change))
    return replace(ordered[len(ordered) // 2], since=min(each.since for each in near))


def foresight(alike: SameChange, metric: Metric, judged: Mapping[str, int]) -> Foresight:
    """Return what is foreseen of it."""
    words = sentence(alike.told, metric, alike.parts, judged[alike.node])
    rests = numbers(alike.told, metric, alike.parts)
    return Foresight(alike.told.kind, alike.node, alike.component, words, metric.name, alike.serial, rests)


def together(metric: Metric, window: Window, told: Peers, parted: Apart) -> tuple[Together, ...]:
    """Return the racks and sites that changed for the worse as a whole."""
    sites = _moved(metric, window, ("site", told.site), parted.site)
    return sites + _moved(metric, window, ("rack", told.rack), parted.rack)


def _moved(metric: Metric, window: Window, what: tuple[str, Groups], curves: Numbers) -> tuple[Together, ...]:
    """Return which groups changed."""
    kind, groups = what
    sizes = groups.sizes()
    alone = np.where((sizes > 0)[:, None], curves, np.float32(np.nan)).astype(np.float32)
    found: list[Together] = []
    for seen in search(alone, metric.least).seen:
        change, slope = seen.change.change, seen.change.slope
        good = metric.worse != "both" and (change > 0) != (metric.worse == "high")
        if good or abs(change) < metric.least:
            continue
        name, parts, day = " ".join(groups.names[seen.row]), int(sizes[seen.row]), window.since(seen.since)
        way = "rose" if change > 0 else "fell"
        words = (
            f"{metric.name} ({metric.meaning}) of all {parts} parts in {kind} {name} {way} together by "
            f"{with_unit(short(abs(change)), metric)} since {since(day, window.step)}: none of them is the cause"
        )
        size = {"change": float(f"{change:.6g}"), "unit": metric.unit}
        rests = size | {"since_day": day_name(day), "parts": parts, "step_days": window.step}
        found.append(Together(metric.name, Kind.SHIFT if slope is None else Kind.TREND, kind, name, words, rests))
    return tuple(found)
