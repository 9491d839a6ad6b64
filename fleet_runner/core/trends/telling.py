"""From what analyses kept to what pages and the report show: bands, expectations, and pictures to draw.

An analysis is kept as JSON, and an older version may have kept it: what is missing there is not shown.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.foresight import Foresight
from fleet_runner.core.trends.picture import Band, Crossing, Numbers, Trend

DAY = 86_400

Body = Mapping[str, Any]


def metric_of(heat: Body | None, name: str) -> Body | None:
    """Return what heat says of a metric; None where it says nothing."""
    found = (heat or {}).get("metrics") or ()
    return next((each for each in found if each.get("metric") == name), None)


def band(metric: Body | None, device_type: str, days: Sequence[int]) -> Band | None:
    """Return what parts of a device type told on these days; None where that was not kept."""
    bands = (metric or {}).get("bands") or ()
    mine = next((each for each in bands if each.get("device_type") == device_type), None)
    if mine is None:
        return None
    rows = [dict(zip(mine["days"], mine[name], strict=True)) for name in ("low", "middle", "high")]
    low, middle, high = ([row.get(day) for day in days] for row in rows)
    return Band(low, middle, high) if any(each is not None for each in middle) else None


def trend(
    name: str, metric: Body | None, days: Sequence[int], own: Numbers, peers: Band | None, seen: Foresight | None
) -> Trend:
    """Return the picture to draw of one part's numbers; `seen` is what is foreseen of them."""
    numbers = seen.numbers if seen is not None else {}
    unit = str(numbers.get("unit") or (metric or {}).get("unit") or "")
    return Trend(
        name, unit, days, own, peers, _number(numbers, "mark"), crossing(numbers), day(numbers.get("since_day"))
    )


def crossing(numbers: Body) -> Crossing | None:
    """Return when a pass mark is expected to be reached; None where the numbers do not say."""
    likely, soonest = _number(numbers, "crosses_in_days"), _number(numbers, "crosses_soonest_days")
    if likely is None or soonest is None:
        return None
    return Crossing(soonest, likely, _number(numbers, "crosses_latest_days"))


def day(text: object) -> int | None:
    """Return the day since the epoch of "2026-11-03"; None for anything else."""
    try:
        return int(datetime.fromisoformat(str(text)).replace(tzinfo=UTC).timestamp() // DAY)
    except (ValueError, OverflowError):
        return None


def _number(numbers: Body, name: str) -> float | None:
    found = numbers.get(name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
