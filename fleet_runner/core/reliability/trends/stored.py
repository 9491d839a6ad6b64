"""From what analyses kept to what pages and the report show: bands, expectations, and pictures to draw.

An analysis is kept as JSON, and an older version may have kept it: what is missing there is not shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.reliability.forecasts import Foresight
from fleet_runner.core.reliability.trends.picture import Band, Crossing, Numbers, Trend
from fleet_runner.core.reliability.trends.picture_lemons import Bar
from fleet_runner.core.reliability.trends.picture_survival import Curve

DAY = 86_400

Body = Mapping[str, Any]

HEATED = ("metric", "part", "unit", "worse", "parts", "nodes", "middle", "low", "high", "slots", "rows", "stand_out")
"""What must be told of a metric for it to be shown."""


def listed(body: Body | None, name: str) -> Sequence[Any]:
    """Return a list of an analysis; an empty one where there is none."""
    found: object = (body or {}).get(name)
    return found if isinstance(found, list | tuple) else ()


def rows(body: Body | None, name: str, *needed: str) -> list[Body]:
    """Return a list of an analysis, without what lacks something that is shown."""
    told: list[Body] = [each for each in listed(body, name) if isinstance(each, Mapping)]
    return [each for each in told if all(key in each for key in needed)]


def part(body: Body | None, name: str) -> Body:
    """Return a part of an analysis; nothing where there is none."""
    found: object = (body or {}).get(name)
    return found if isinstance(found, Mapping) else {}


def curve(told: Body, ages: str) -> Curve | None:
    """Return a curve of survival; None where there was too little for one. `ages` names its ages."""
    rows = [told.get(key) for key in (ages, "share", "low", "high")]
    lists = [each for each in rows if isinstance(each, list | tuple) and each]
    alike = len(lists) == len(rows) and len({len(each) for each in lists}) == 1
    if not alike or not all(isinstance(number, int | float) for each in lists for number in each):
        return None
    return Curve(str(told.get("name", "")), *lists)


def bars(lemons: Body | None) -> list[Bar]:
    """Return what is drawn of lemons: each node's points by signal."""
    return [
        Bar(str(each["node"]), tuple((str(line["signal"]), number(line, "points") or 0.0) for line in lines))
        for each in rows(lemons, "lemons", "node", "lines")
        for lines in [rows(each, "lines", "signal", "points")]
    ]


def metric_of(heat: Body | None, name: str) -> Body | None:
    """Return what heat says of a metric; None where it says nothing."""
    return next((each for each in rows(heat, "metrics", *HEATED) if each["metric"] == name), None)


def bands(metric: Body | None) -> list[Body]:
    """Return what each device type told of a metric, day by day."""
    return rows(metric, "bands", "device_type", "parts", "days", "low", "middle", "high")


def band(metric: Body | None, device_type: str, days: Sequence[int]) -> Band | None:
    """Return what parts of a device type told on these days; None where that was not kept."""
    mine = next((each for each in bands(metric) if each["device_type"] == device_type), None)
    if mine is None:
        return None
    by_day = [dict(zip(mine["days"], mine[name], strict=False)) for name in ("low", "middle", "high")]
    low, middle, high = ([row.get(day) for day in days] for row in by_day)
    return Band(low, middle, high) if any(each is not None for each in middle) else None


def trend(name: str, days: Sequence[int], own: Numbers, peers: Band | None, seen: Foresight | None) -> Trend:
    """Return the picture to draw of one part's numbers; `seen` is what is foreseen of them."""
    told = Trend(name, "", days, own, peers)
    if seen is None:
        return told
    mark, since = number(seen.numbers, "mark"), day(seen.numbers.get("since_day"))
    return replace(told, mark=mark, crossing=crossing(seen.numbers), since=since)


def crossing(numbers: Body) -> Crossing | None:
    """Return when a pass mark is expected to be reached; None where the numbers do not say."""
    likely, soonest = number(numbers, "crosses_in_days"), number(numbers, "crosses_soonest_days")
    if likely is None or soonest is None:
        return None
    return Crossing(soonest, likely, number(numbers, "crosses_latest_days"))


def day(text: object) -> int | None:
    """Return the day since the epoch of "2026-11-03"; None for anything else."""
    try:
        return int(datetime.fromisoformat(str(text)).replace(tzinfo=UTC).timestamp() // DAY)
    except (ValueError, OverflowError):
        return None


def number(numbers: Body, name: str) -> float | None:
    """Return a number of an analysis; None where it is none."""
    found = numbers.get(name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def fleet(metric: Body, told: Body) -> Trend:
    """Return the picture of a device type: the middle of its parts as a line, within the middle eight of ten."""
    none = [None] * len(told["days"])
    name = f"{metric.get('metric', '')} of {told.get('device_type') or 'nodes of no known device type'}"
    return Trend(
        name, str(metric.get("unit", "")), told["days"], told["middle"], Band(told["low"], none, told["high"])
    )
