"""Whether a change that is no chance is worth a word, in the metric's unit and as people would see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends import units
from fleet_runner.core.reliability.trends.crossing import Crossing, Drifting, cross
from fleet_runner.core.reliability.trends.drift_words import Peered, SeriesChange
from fleet_runner.core.reliability.trends.exact import Change
from fleet_runner.core.reliability.trends.metrics import Metric
from fleet_runner.core.reliability.trends.panel import Numbers, Window
from fleet_runner.core.reliability.trends.peers import Location, Peers
from fleet_runner.core.reliability.trends.search import Seen
from fleet_runner.core.reliability.trends.silence import Silence

RECENT = 7
"""Numbers that say where a series is now."""

LEAST_RATIO = 2.0
"""How many times as much a series must scatter."""

OWN_SHARE = 0.5
"""How much of a change must be seen in the series itself, too, and not only against its peers."""

BAND = (0.05, 0.5, 0.95)
"""Of the peers' numbers, what is shown beside one."""


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """What a change is weighed with: what was told, what is left of that without peers, and who they are."""

    metric: Metric
    window: Window
    alone: Numbers
    peers: Peers
    places: Mapping[str, Location]
    marks: Mapping[str, float]
    bands: dict[int, Peered] = field(default_factory=dict)  # by cohort, made when one is asked for


def level(scene: ChangeContext, seen: Seen) -> SeriesChange | Silence:
    """Return what is told of a jump or drift, or why nothing is."""
    change = seen.change
    told = _numbers(scene.window.middle, seen)
    before, now = _ends(told, seen)
    quiet = _quiet(scene, seen, before, now)
    if quiet is not None:
        return quiet
    if change.slope is None:
        why = Crossing(why="a jump does not say what follows it")
        return _told(scene, seen, (Kind.SHIFT, before, now, change.change), why)
    slope = _slope(scene, change)
    days = (seen.days[-1] - seen.since) * scene.window.step
    late = np.asarray(seen.days[-RECENT:]) - seen.days[-1]
    alone = _numbers(scene.alone, seen)[-RECENT:]
    shared = float(np.mean(told[-RECENT:] - alone))  # of a week, whatever its days have in common
    here = Drifting(shared + float(np.median(alone - change.slope * late)), change.noise / RECENT**0.5, *slope, days)
    crossing = cross(here, _mark(scene, seen.row), scene.metric.worse).after(scene.window.ago(seen.days[-1]))
    return _told(scene, seen, (Kind.TREND, before, now, change.change), crossing)


def spread(scene: ChangeContext, seen: Seen, wide: Numbers) -> SeriesChange | Silence:
    """Return what is told of a series that scatters more than before; `wide` is how far on each day."""
    there = wide[list(seen.days)]
    since = min(max(seen.change.since, 1), len(there) - 1)
    before, now = (float(np.sqrt(np.mean(np.square(part)))) for part in (there[:since], there[since:]))
    if now - before < scene.metric.least or now < LEAST_RATIO * before:
        return Silence.SMALL
    why = Crossing(why="scatter has no direction")
    return _told(scene, seen, (Kind.SPREAD, before, now, now - before), why)


def _slope(scene: ChangeContext, change: Change) -> tuple[float, float, float]:
    """Return a slope and its interval by day: it was fitted to columns."""
    step = scene.window.step
    return (change.slope or 0.0) / step, change.slope_low / step, change.slope_high / step


def _numbers(values: Numbers, seen: Seen) -> NDArray[np.float64]:
    """Return what was told on the days of a series."""
    return np.asarray(values[seen.row][list(seen.days)], np.float64)


def _ends(told: NDArray[np.float64], seen: Seen) -> tuple[float, float]:
    """Return where a series was before it changed and where it is: since it jumped, or of late if it drifts."""
    since = seen.change.since
    head = told[:since] if since else told[:RECENT]
    tail = told[since:] if seen.change.slope is None else told[-RECENT:]
    return float(np.median(head)), float(np.median(tail))


def _quiet(scene: ChangeContext, seen: Seen, before: float, now: float) -> Silence | None:
    """Return why a jump or drift is not told."""
    metric, change = scene.metric, seen.change.change
    first, last = _ends(_numbers(scene.alone, seen), seen)
    if units.changed(before, now, metric.unit):
        return Silence.UNIT
    if metric.worse != "both" and (change > 0) != (metric.worse == "high"):
        return Silence.BETTER
    if abs(change) < metric.least:
        return Silence.SMALL
    return Silence.ALL if (now - before) * np.sign(change) < OWN_SHARE * abs(last - first) else None


def _mark(scene: ChangeContext, row: int) -> float | None:
    """Return the pass mark of a row's device type."""
    stay = scene.peers.stays[row]
    place = scene.places.get(stay.node) if stay else None
    return scene.marks.get(place.device_type) if place else None


def _told(
    scene: ChangeContext, seen: Seen, what: tuple[Kind, float, float, float], crossing: Crossing
) -> SeriesChange:
    """Put a change together: `what` is its kind, where the series was and is, and the size of the change."""
    change, days, step = seen.change, len(seen.days), scene.window.step
    trend = change.slope is not None and what[0] is Kind.TREND
    slope = _slope(scene, change) if trend else None
    since = scene.window.since(seen.since)
    rests = (since, change.since * step, (days - change.since) * step, change.noise, change.score, change.chance)
    kind, before, now, size = what
    peered, mark = _peered(scene, seen.row), _mark(scene, seen.row)
    return SeriesChange(kind, seen.row, before, now, size, *rests, peered, mark, crossing, slope, step)


def _peered(scene: ChangeContext, row: int) -> Peered:
    """Return what a row's peers told of late."""
    cohort = int(scene.peers.cohort.of[row])
    if cohort not in scene.bands:
        rows = np.nonzero(scene.peers.cohort.of == cohort)[0]
        late = scene.window.middle[rows, -2 * RECENT :]
        low, median, high = np.quantile(late[~np.isnan(late)], BAND).tolist()
        scene.bands[cohort] = Peered(len(rows) - 1, median, low, high)
    return scene.bands[cohort]
