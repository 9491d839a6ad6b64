"""When a drift reaches its pass mark, if it goes on as it does: an interval of days, or why there is none."""

from dataclasses import dataclass
from typing import Any, Literal

FARTHEST = 1.0
"""How far ahead a drift is followed, as a share of the days for which it has been seen."""

WIDEST = 3.0
"""By how much the latest day may be later than the soonest: wider than this it says nothing."""

MARGIN = 2.0
"""Standard errors by which the number of today is uncertain."""


@dataclass(frozen=True, slots=True)
class Drifting:
    """A drift: where it is now, with its standard error, its slope a day with an interval, and for how long."""

    now: float
    error: float
    slope: float
    low: float
    high: float
    days: float


@dataclass(frozen=True, slots=True)
class Crossing:
    """In how many days the mark is crossed, soonest and latest; `why` there is no telling where `days` is None."""

    days: float | None = None
    soonest: float | None = None
    latest: float | None = None
    why: str = ""

    def after(self, days: float) -> "Crossing":
        """Return how far ahead it is when so many days are over."""
        if self.days is None or self.soonest is None or self.latest is None:
            return self
        likely, soonest, latest = (max(each - days, 0.0) for each in (self.days, self.soonest, self.latest))
        return Crossing(likely, soonest, latest)

    def to_json(self) -> dict[str, Any]:
        """Return what a foresight's numbers say of it."""
        days = {
            "crosses_in_days": self.days,
            "crosses_soonest_days": self.soonest,
            "crosses_latest_days": self.latest,
        }
        return {name: None if value is None else round(value, 1) for name, value in days.items()} | {
            "crosses_why": self.why
        }


def cross(drift: Drifting, mark: float | None, worse: Literal["high", "low", "both"]) -> Crossing:
    """Return when a drift crosses its mark.

    Of a metric that is bad both ways the mark holds for its distance from zero, as that of a clock's offset does.
    """
    if mark is None:
        return Crossing(why="it has no pass mark")
    up = worse == "high" or (worse == "both" and drift.now + drift.slope > 0)
    sign = 1.0 if up else -1.0
    bound = -abs(mark) if worse == "both" and not up else mark
    way = sign * (bound - drift.now)
    slopes = sorted((sign * drift.low, sign * drift.high))
    if way <= 0:
        return Crossing(why="it is beyond its pass mark already")
    if slopes[0] <= 0:
        return Crossing(why="its slope is not certain enough")
    spare = MARGIN * drift.error
    soonest, latest = max(way - spare, 0.0) / slopes[1], (way + spare) / slopes[0]
    days = way / (sign * drift.slope)
    if days > FARTHEST * drift.days:
        return Crossing(why=f"it is further ahead than the {drift.days:.0f} days for which the drift has been seen")
    if latest > WIDEST * max(soonest, 1.0):
        return Crossing(why=f"anything between {soonest:.0f} and {latest:.0f} days is as likely")
    return Crossing(days, soonest, latest)
