"""Sentences for what changed: what is seen, against what, since when, and when it would cross its mark."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends.crossing import Crossing
from fleet_runner.core.reliability.trends.metrics import Metric

EPOCH = date(1970, 1, 1).toordinal()

LARGE, SMALL = 10_000, 100
"""From where a number is told without a fraction, and up to where three digits tell enough of one."""


@dataclass(frozen=True, slots=True)
class Peered:
    """How many peers a part has, and of what these told of late the median and between what nine in ten lie."""

    count: int
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SeriesChange:
    """One change of one series, in the metric's unit and as it was told, peers and all.

    `change` is what is left of it without what peers did; of a spread, `before` and `now` are standard deviations. It
    was looked at in steps of `step` days: `since` is the first of one, and each with a number counts as so many days.
    """

    kind: Kind
    row: int
    before: float
    now: float
    change: float
    since: int  # a day since the epoch
    days_before: int
    days_since: int
    noise: float
    score: float
    chance: float
    peers: Peered
    mark: float | None
    crossing: Crossing
    slope: tuple[float, float, float] | None = None  # by day, and its interval
    step: int = 1


def day_name(day: int) -> str:
    """Return a day since the epoch as a date."""
    return date.fromordinal(EPOCH + day).isoformat()


def since(day: int, step: int) -> str:
    """Return from when a change is seen, as sentences say it; `day` is the first of a step."""
    return day_name(day) if step == 1 else f"the week of {day_name(day)}"


def short(value: float) -> str:
    """Return a number in as many digits as a person compares."""
    return f"{value:,.0f}" if abs(value) >= LARGE else f"{value:.3g}" if abs(value) < SMALL else f"{value:.4g}"


def with_unit(text: str, metric: Metric) -> str:
    """Return a number with its unit, where that says anything."""
    return text if metric.unit in {"", "count"} else f"{text} {metric.unit}"


def numbers(told: SeriesChange, metric: Metric, parts: int) -> dict[str, Any]:
    """Return what a foresight rests on."""
    said: dict[str, Any] = {
        "unit": metric.unit,
        "before": _round(told.before),
        "now": _round(told.now),
        "change": _round(told.change),
        "since_day": day_name(told.since),
        "days_before": told.days_before,
        "days_since": told.days_since,
        "noise": _round(told.noise),
        "score": _round(told.score),
        "chance": float(f"{told.chance:.1e}"),
        "peers": told.peers.count,
        "peers_median": _round(told.peers.median),
        "peers_low": _round(told.peers.low),
        "peers_high": _round(told.peers.high),
        "parts": parts,
        "step_days": told.step,
        "mark": told.mark,
    }
    if told.kind is Kind.SPREAD:
        said["ratio"] = _round(told.now / told.before) if told.before else None
    if told.slope is not None:
        names = ("slope_per_day", "slope_low_per_day", "slope_high_per_day")
        said |= dict(zip(names, map(_round, told.slope), strict=True))
    return said | told.crossing.to_json()


def _round(value: float) -> float:
    """Return a number in six digits."""
    return float(f"{value:.6g}")


def sentence(told: SeriesChange, metric: Metric, parts: int, of: int) -> str:
    """Say what changed; `parts` of `of` parts of the node, where it is more than one."""
    what = f"{metric.name} ({metric.meaning})"
    what = what if parts == 1 else f"{what}, in {parts} of {of} parts of this node,"
    others = f"beyond what its {counted(told.peers.count, 'peer')} did"
    match told.kind:
        case Kind.SPREAD:
            now, before = with_unit(short(told.now), metric), short(told.before)
            return f"{what} scatters by {now}, by {before} until {since(told.since, told.step)}, {others}"
        case Kind.TREND:
            return f"{what} {_drifts(told, metric)}, {others}{_crosses(told.crossing, told.mark)}"
        case _:
            when = f"{'on' if told.step == 1 else 'in'} {since(told.since, told.step)}"
            way = "rose" if told.now > told.before else "fell"
            how = with_unit(f"{way} from {short(told.before)} to {short(told.now)}", metric)
            return f"{what} {how} at once {when}, {short(abs(told.change))} {others}{_near(told)}"


def _drifts(told: SeriesChange, metric: Metric) -> str:
    """Say how fast a series goes where."""
    slope = told.slope[0] if told.slope else 0.0
    way = "risen" if slope > 0 else "fallen"
    fast, each = with_unit(short(abs(slope) * told.step), metric), "day" if told.step == 1 else "week"
    went = f"from {short(told.before)} to {short(told.now)}"
    return f"has {way} by {fast} a {each} since {since(told.since, told.step)}, {went}"


def _crosses(crossing: Crossing, mark: float | None) -> str:
    """Say when the mark is crossed, or why that is not known."""
    if mark is None:
        return ""
    if crossing.days is None or crossing.soonest is None or crossing.latest is None:
        return f"; when it crosses its pass mark of {short(mark)} is not predicted: {crossing.why}"
    days = counted(f"{crossing.days:.0f}", "day")
    between = f"{crossing.soonest:.0f} to {crossing.latest:.0f}"
    return f"; going on so, it crosses its pass mark of {short(mark)} in {days} ({between})"


def _near(told: SeriesChange) -> str:
    """Say how near the mark is."""
    return "" if told.mark is None else f"; its pass mark is {short(told.mark)}"
