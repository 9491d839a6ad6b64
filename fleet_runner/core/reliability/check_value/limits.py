"""Limits of passive checks, learned from what good nodes told at their worst, and what they would have flagged.

A pass mark of a test is learned from what a node usually reaches (`core.checks.baseline`). A limit is another thing:
every look is held against it, by day and night, at rest and at work. So it is learned from the worst that each good
node told in the span, and lies beyond what those usually are. It is proposed, never set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median
from typing import Any, NamedTuple

from fleet_runner.core.checks.baseline import LearnedLimit, Margin
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Measure
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.inventory.profile import Profile
from fleet_runner.core.reliability.trends.metrics import METRICS, UNITS, Kind, Metric

FEWEST_NODES, FEWEST_LOOKS = 5, 20
"""Of fewer nodes nobody can tell the usual worst from the odd one."""

MOST_OUTSIDE = 0.02
"""The largest share of good nodes that a limit may refuse: one that refuses more is none, whatever the spread."""

DIGITS = 2
"""Significant digits of a limit, to the lenient side."""

SMALLEST = 1e-9
"""Below this a limit is nought."""

WHOLE = frozenset({"count", "KiB"})
"""Units of which there are no halves."""


class Limit(NamedTuple):
    """A key of the profile that looks are held against, and where the numbers lie: in metrics of one check.

    `higher` says that it is the least that passes, as of a margin; else it is the most.
    """

    key: str
    check: str
    metrics: tuple[Metric, ...]
    higher: bool

    @property
    def least(self) -> float:
        """Return the smallest distance that matters, in the unit."""
        return max(metric.least for metric in self.metrics)

    @property
    def is_counted(self) -> bool:
        """Whether it holds the growth of a day, which the panels of days have, and no look by itself."""
        return self.metrics[0].kind is Kind.COUNTER

    @property
    def measure(self) -> Measure:
        """Return it as a baseline has it."""
        return Measure(self.metrics[0].observed, self.key, self.higher)


def _limits() -> tuple[Limit, ...]:
    """Return the limits of checks that count at each look and that can be learned.

    What has no "min", "max" or "margin" in its name is what was built in or set, like a width: known, not learned.
    What an active test measures is a baseline's.
    """
    found: dict[str, list[Metric]] = {}
    for metric in METRICS:
        words = metric.mark.rpartition(".")[2].split("_")
        if {"min", "max", "margin"} & {*words} and not CHECKS[metric.check].active:
            found.setdefault(metric.mark, []).append(metric)
    return tuple(Limit(key, mine[0].check, tuple(mine), mine[0].worse == "low") for key, mine in found.items())


LIMITS = _limits()


class Look(NamedTuple):
    """What one look at a node told of a limit's metrics: the worst of its parts."""

    node: str
    at: float
    worst: float


def look(limit: Limit, node: str, at: float, observed: Mapping[str, Any]) -> Look | None:
    """Return the worst that a look observed; None where it told nothing that can be.

    What is bad both ways, as a clock that is ahead or behind, counts without its sign.
    """
    told = [
        abs(value) if metric.worse == "both" else value
        for metric in limit.metrics
        for value in _numbers(observed, metric.observed.split("."))
        if UNITS[metric.unit][0] <= value <= UNITS[metric.unit][1]
    ]
    return Look(node, at, min(told) if limit.higher else max(told)) if told else None


def _numbers(observed: object, path: Sequence[str]) -> list[float]:
    """Return the numbers at a path, "*" for each part; nought and what is below is a number here."""
    if not path:
        value = number(observed)
        return [] if value is None else [value]
    if not isinstance(observed, Mapping):
        return []
    entries = observed.values() if path[0] == "*" else (observed[path[0]],) if path[0] in observed else ()
    return [value for entry in entries for value in _numbers(entry, path[1:])]


def learn(limit: Limit, looks: Sequence[Look], profile: Profile, margin: Margin) -> LearnedLimit:
    """Propose a limit from looks at good nodes; why not, where there are too few of them.

    It lies so many median deviations beyond the median of the nodes' worst numbers, and by what matters at the least;
    farther where more than a fiftieth of the good nodes would be outside, for then the spread is not all there is.
    """
    worst = _worst_of_each(limit, looks)
    now = _now(profile, limit.key)
    if len(worst) < FEWEST_NODES or len(looks) < FEWEST_LOOKS:
        why = (
            f"not enough data: {len(looks)} looks at {len(worst)} good nodes, expected at least {FEWEST_LOOKS} of "
            f"{FEWEST_NODES}"
        )
        return LearnedLimit(limit.check, limit.measure, len(worst), len(looks), now=now, why=why)
    usual = median(worst.values())
    deviation = median(abs(value - usual) for value in worst.values())
    distance = max(margin.deviations * deviation, limit.least)
    by_badness = sorted(worst.values(), reverse=not limit.higher)
    allowed = by_badness[int(MOST_OUTSIDE * len(worst))]
    exact = min(usual - distance, allowed) if limit.higher else max(usual + distance, allowed)
    if exact <= SMALLEST:
        why = f"good nodes come down to {by_badness[0]:.4g}: no limit above nought is beyond them"
        return LearnedLimit(limit.check, limit.measure, len(worst), len(looks), usual, deviation, now=now, why=why)
    mark = _rounded(limit, exact)
    outside = tuple(sorted(node for node, value in worst.items() if misses(limit, value, mark)))
    return LearnedLimit(limit.check, limit.measure, len(worst), len(looks), usual, deviation, mark, now, outside)


def misses(limit: Limit, value: float, mark: float) -> bool:
    """Whether a number is on the wrong side of a limit."""
    return value < mark if limit.higher else value > mark


def _worst_of_each(limit: Limit, looks: Sequence[Look]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in looks:
        before = found.get(each.node, each.worst)
        found[each.node] = min(before, each.worst) if limit.higher else max(before, each.worst)
    return found


def _now(profile: Profile, key: str) -> float | None:
    found: object = profile
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return number(found)


def _rounded(limit: Limit, exact: float) -> float:
    """Return a limit in few digits, to the lenient side; a whole number where there are no halves."""
    step = 10.0 ** (floor(log10(exact)) + 1 - DIGITS)
    if limit.metrics[0].unit in WHOLE:
        step = max(1.0, step)
    told = (floor if limit.higher else ceil)(round(exact / step, 6)) * step
    return float(f"{told:.{DIGITS}g}")


def nested(changes: Mapping[str, float]) -> dict[str, Any]:
    """Return a part of a profile from numbers by their keys; whole ones as YAML would have them, without a point."""
    found: dict[str, Any] = {}
    for key, value in changes.items():
        *above, last = key.split(".")
        here = found
        for name in above:
            here = here.setdefault(name, {})
        here[last] = int(value) if float(value).is_integer() else value
    return found


class Flagged(NamedTuple):
    """A node that a limit would have flagged: at how many of its looks, since when, and its worst number.

    `bad_at` is when it was taken out of service as bad after that; None where it was not.
    """

    node: str
    looks: int
    of: int
    first_at: float
    worst: float
    bad_at: float | None


@dataclass(frozen=True, slots=True)
class Replay:
    """What a limit would have flagged of all nodes that were looked at, and how many of the others turned out bad."""

    looks: int
    nodes: int
    flagged: tuple[Flagged, ...]
    others_bad: int

    @property
    def bad(self) -> int:
        """Return how many of the flagged nodes turned out bad."""
        return sum(each.bad_at is not None for each in self.flagged)


def replay(limit: Limit, mark: float, looks: Sequence[Look], bad: Mapping[str, Sequence[float]]) -> Replay:
    """Hold looks against a limit; `bad` is when nodes were taken out of service as bad, in its order."""
    by_node: dict[str, list[Look]] = {}
    for each in looks:
        by_node.setdefault(each.node, []).append(each)
    flagged: list[Flagged] = []
    others = 0
    for node, mine in sorted(by_node.items()):
        beyond = [each for each in mine if misses(limit, each.worst, mark)]
        if not beyond:
            others += bool(bad.get(node))
            continue
        first = min(each.at for each in beyond)
        worst = (min if limit.higher else max)(each.worst for each in beyond)
        after = next((at for at in bad.get(node, ()) if at >= first), None)
        flagged.append(Flagged(node, len(beyond), len(mine), first, worst, after))
    return Replay(len(looks), len(by_node), tuple(flagged), others)
