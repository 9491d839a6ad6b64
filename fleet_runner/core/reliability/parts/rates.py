"""How often parts fail by kind and device type: what a place or a part that failed again is held against."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.lifetimes.saying import ENOUGH_OF_PARTS, too_short
from fleet_runner.core.reliability.parts.failures import DAY, Failure, Place, place
from fleet_runner.core.reliability.parts.stay import Stay

YEAR = 365.25 * DAY

FEWEST = 8
"""Places that a cohort must have; one with fewer is held against its kind in the whole fleet."""

HALF = 0.5
"""Failures that are added to those that were seen: none seen is not none possible (Jeffreys)."""

Cohort = tuple[str, str]
"""Kind of part and device type of its node, "" for all of them."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What parts of a cohort went through: in how many places, for how long, and how often one failed."""

    kind: str
    device_type: str
    places: int
    failures: int
    years: float

    @property
    def a_year(self) -> float:
        """Return how often a part fails in a year."""
        return (self.failures + HALF) / self.years

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        whose = f"{self.kind} of {self.device_type}" if self.device_type else f"{self.kind} of every device type"
        served = self.years * YEAR / DAY
        known = served >= ENOUGH_OF_PARTS
        often = (
            f" in {self.years:,.1f} years of parts, {self.a_year:.3g} a year"
            if known
            else f"; {too_short(served, 'part')}"
        )
        return {
            "kind": self.kind, "device_type": self.device_type, "places": self.places, "failures": self.failures,
            "part_years": round(self.years, 3), "per_part_year": round(self.a_year, 5) if known else None,
            "sentence": f"{whose}: {counted(self.failures, 'failure')}{often}",
        }  # fmt: skip


class Rates:
    """The rates of all cohorts, with and without one of their own."""

    def __init__(self, stays: Iterable[Stay], failures: Iterable[Failure], types: Mapping[str, str]) -> None:
        self._types = types
        self._places: dict[Cohort, set[Place]] = defaultdict(set)
        self._failures = Counter[Cohort]()
        self._seconds: dict[Cohort, float] = defaultdict(float)
        for stay in stays:
            for cohort in self._cohorts(stay):
                self._places[cohort].add(place(stay))
                self._seconds[cohort] += stay.last_at - stay.first_at
        for failure in failures:
            self._failures.update(self._cohorts(failure.stay))

    def without(self, stay: Stay, failures: int, seconds: float) -> float | None:
        """Return how often others fail, a second; None where there are too few. What is left out is given."""
        for cohort in self._cohorts(stay):
            others = self._seconds[cohort] - seconds
            if len(self._places[cohort]) > FEWEST and others > 0:
                return (max(0, self._failures[cohort] - failures) + HALF) / others
        return None

    def every(self) -> tuple[Rate, ...]:
        """Return the rate of each cohort by kind and device type that was seen for a while."""
        return tuple(
            Rate(*cohort, len(places), self._failures[cohort], self._seconds[cohort] / YEAR)
            for cohort, places in sorted(self._places.items())
            if self._seconds[cohort] > 0 and (cohort[1] or not self._types)
        )

    def _cohorts(self, stay: Stay) -> tuple[Cohort, ...]:
        """Return the cohorts of a stay, the closest first."""
        mine = self._types.get(stay.node, "")
        return ((stay.kind, mine), (stay.kind, "")) if mine else ((stay.kind, ""),)
