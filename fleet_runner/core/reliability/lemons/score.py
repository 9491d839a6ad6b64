"""The score of a node: each signal beyond what is usual in the fleet gives points, and each point has its line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.lemons.signals import Counted
from fleet_runner.core.reliability.lemons.weights import SIGNALS

MARK = 12.0
"""Points from which triage is suggested."""

SIGNALS_NEEDED = 3
"""Signals that must give points: one long repair is no lemon, however long."""

SHARE = 0.02
"""Of the fleet, suggested at most; Meta found 1.2 to 1.7 % of its nodes to be lemons. One node always may be."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How signals are weighed: points for each of them in place of those of the table, 0 to leave one out."""

    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType(dict[str, float]()))
    mark: float = MARK
    share: float = SHARE

    def weight(self, name: str) -> float:
        """Return what one of a signal weighs."""
        return self.weights.get(name, SIGNALS[name].weight)


class Line(NamedTuple):
    """What a signal adds to a score."""

    signal: str
    value: float
    usual: float
    points: float

    @property
    def sentence(self) -> str:
        """Say so in words."""
        capped = ", the most it gives" if self.points >= SIGNALS[self.signal].most else ""
        told = f"{SIGNALS[self.signal].told(self.value)} (usual: {self.usual:.4g})"
        return f"{told}: {counted(f'{self.points:.3g}', 'point')}{capped}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {**self._asdict(), "points": round(self.points, 3), "sentence": self.sentence}


@dataclass(frozen=True, slots=True)
class Score:
    """A node's score, the signals that give most first."""

    node: str
    lines: tuple[Line, ...]
    suggested: bool = False

    @property
    def points(self) -> float:
        """Return the sum of its lines."""
        return sum(each.points for each in self.lines)

    def sentence(self, days: float, mark: float) -> str:
        """Say in words what the score is made of."""
        told = ", ".join(f"{SIGNALS[each.signal].told(each.value)} ({each.points:.3g})" for each in self.lines)
        points = counted(f"{self.points:.3g}", "point")
        return f"{points} in {days:.0f} days (triage is suggested from {mark:g}): {told}"

    def to_json(self, days: float, mark: float) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "node": self.node, "points": round(self.points, 3), "suggested": self.suggested,
            "sentence": self.sentence(days, mark), "lines": [each.to_json() for each in self.lines],
        }  # fmt: skip

    def foresight(self, days: float, mark: float) -> Foresight:
        """Return it as what is foreseen of the node."""
        numbers = {
            "points": round(self.points, 3), "mark": mark, "days": days,
            "lines": [each.to_json() for each in self.lines],
        }  # fmt: skip
        said = f"{self.sentence(days, mark)}: look at it in triage"
        return Foresight(Kind.LEMON, self.node, "", said, numbers=numbers)


def usual(counted: Counted) -> dict[str, float]:
    """Return what half of the nodes do not exceed, by signal."""
    return {name: median([row.get(name, 0.0) for row in counted.values()] or [0.0]) for name in SIGNALS}


def score(counted: Counted, weighing: Weighing, candidates: Iterable[str]) -> tuple[Score, ...]:
    """Return the nodes with points, those with the most first; of candidates, so many are suggested as may be."""
    among, may = usual(counted), {*candidates}
    scored = [Score(node, _lines(row, among, weighing)) for node, row in counted.items()]
    scored = sorted((each for each in scored if each.lines), key=lambda each: (-each.points, each.node))
    room = max(1, int(weighing.share * len(counted)))
    told = [each.node for each in scored if each.node in may and _enough(each, weighing.mark)][:room]
    return tuple(Score(each.node, each.lines, each.node in told) for each in scored)


def _enough(each: Score, mark: float) -> bool:
    return each.points >= mark and len(each.lines) >= SIGNALS_NEEDED


def _lines(row: Mapping[str, float], among: Mapping[str, float], weighing: Weighing) -> tuple[Line, ...]:
    lines: list[Line] = []
    for name, value in row.items():
        points = min(SIGNALS[name].most, weighing.weight(name) * (value - among[name]))
        if points > 0:
            lines.append(Line(name, value, among[name], points))
    return tuple(sorted(lines, key=lambda each: (-each.points, each.signal)))
