"""The reports of several weeks beside each other: what failed, how long repairs and bring-ups took, what served."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from statistics import median
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.report.figures import Figures, Found, cause
from fleet_runner.core.reliability.report.rows import WEEK, Span, last_week
from fleet_runner.core.reliability.report.stories import BRINGING_UP, BringUp
from fleet_runner.core.reliability.report.text import NINETY, duration, share

WEEKS = 13
"""Weeks that are told of: a quarter of a year."""

LISTED = 30
"""Causes that are kept of all weeks, and of each."""


@dataclass(frozen=True, slots=True)
class Repairs:
    """How long nodes were out for a cause, of those that serve again; `still` are out for it yet.

    While none serves again, the times are None.
    """

    cause: str
    times: int
    mean: float | None
    median: float | None
    longest: float | None
    still: int


@dataclass(frozen=True, slots=True)
class Waited:
    """How long bring-ups were in a state, of those that were in it at all; `share` is of all their time."""

    state: State
    nodes: int
    median: float
    ninetieth: float
    share: float


@dataclass(frozen=True, slots=True)
class Weeks:
    """What weeks came to, the oldest first. `figures` are those of each week's report."""

    figures: tuple[Figures, ...]
    repairs: tuple[Repairs, ...]
    waited: tuple[Waited, ...]
    brought_up: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "sentences": self._sentences(),
            "weeks": [_week(each) for each in self.figures],
            "repairs": [
                {"cause": each.cause, "times": each.times, "mean": each.mean, "median": each.median,
                 "longest": each.longest, "still": each.still}
                for each in self.repairs[:LISTED]
            ],
            "waited": [
                {"state": each.state.value, "nodes": each.nodes, "median": each.median,
                 "ninetieth": each.ninetieth, "share": each.share}
                for each in self.waited
            ],
            "brought_up": self.brought_up,
        }  # fmt: skip

    def _sentences(self) -> list[str]:
        faults = sum(row.faults for each in self.figures for row in each.causes)
        served = sum(each.production for each in self.figures)
        whole = served + sum(each.lost_seconds for each in self.figures)
        if not whole and not faults and not self.brought_up:
            return ["Nothing happened in whole weeks yet."]
        told = [f"{counted(faults, 'fault')} in {counted(len(self.figures), 'week')}."]
        if whole:
            told.append(f"Nodes served {share(served / whole)} of the time.")
        if self.repairs and self.repairs[0].mean is not None:
            most, mean = self.repairs[0], self.repairs[0].mean
            told.append(
                f"{most.cause} took most time: {counted(most.times, 'repair')} of {duration(mean)} on average."
            )
        if self.waited:
            longest = max(self.waited, key=lambda each: each.share)
            told.append(
                f"{counted(self.brought_up, 'node')} came up; {100 * longest.share:.0f} % of that time was in"
                f" {longest.state}, the longest stay."
            )
        return told


def spans(now: float, weeks: int = WEEKS) -> tuple[Span, ...]:
    """Return the last whole weeks before a moment, the oldest first."""
    last = last_week(now)
    return tuple(Span(last.since - back * WEEK, last.until - back * WEEK) for back in reversed(range(weeks)))


def analyse(found: Sequence[Found], told: Sequence[Figures]) -> Weeks:
    """Put weeks beside each other: what was read of each, and the figures of its report."""
    ups = tuple(up for each in told for up in each.bring_ups)
    return Weeks(tuple(told), _repairs(found, told), _waited(ups), len(ups))


def _repairs(found: Sequence[Found], told: Sequence[Figures]) -> tuple[Repairs, ...]:
    """Count each time out in the week in which it began."""
    took: dict[str, list[float]] = defaultdict(list)
    still: dict[str, int] = defaultdict(int)
    for week, figures in zip(found, told, strict=True):
        for story in week.stories:
            for each in story.exclusions:
                if not figures.span.holds(each.begins):
                    continue
                if each.ends is None:
                    still[cause(week, each)] += 1
                else:
                    took[cause(week, each)].append(each.ends - each.begins)
    rows = [
        Repairs(why, len(mine), sum(mine) / len(mine), median(mine), max(mine), still[why])
        for why, mine in sorted(took.items(), key=lambda each: (-sum(each[1]), each[0]))
    ]
    return (*rows, *(Repairs(why, 0, None, None, None, still[why]) for why in sorted(still.keys() - took.keys())))


def _waited(ups: Sequence[BringUp]) -> tuple[Waited, ...]:
    whole = sum(seconds for each in ups for seconds in each.states.values())
    rows: list[Waited] = []
    for state in State:
        mine = sorted(each.states[state] for each in ups if state in each.states)
        if state in BRINGING_UP and mine and whole:
            ninetieth = mine[ceil(NINETY * len(mine)) - 1]
            rows.append(Waited(state, len(mine), median(mine), ninetieth, sum(mine) / whole))
    return tuple(rows)


def _week(each: Figures) -> Mapping[str, Any]:
    return {
        "week": called(each.span),
        "since": each.span.since,
        "until": each.span.until,
        "nodes": each.nodes,
        "served_seconds": each.production,
        "lost_seconds": each.lost_seconds,
        "availability": each.availability,
        "left_production": each.left,
        "brought_up": len(each.bring_ups),
        "causes": [{"cause": row.code, "faults": row.faults, "nodes": row.nodes} for row in each.causes[:LISTED]],
        "other_faults": sum(row.faults for row in each.causes[LISTED:]),
        "lost": [{"cause": row.cause, "seconds": row.seconds} for row in each.lost[:LISTED]],
        "other_lost_seconds": sum(row.seconds for row in each.lost[LISTED:]),
    }


def called(span: Span) -> str:
    """Return how `fleet-runner report --week` names a week."""
    year, number, _ = datetime.fromtimestamp(span.since, UTC).isocalendar()
    return f"{year}-W{number:02}"
