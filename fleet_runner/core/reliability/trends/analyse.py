"""Drift: what jumps, drifts or scatters alone among the fleet's series, and of how many nothing can be said."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.forecasts import Foresight
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import causes
from fleet_runner.core.reliability.trends.alike import Together, as_one, foresight, together
from fleet_runner.core.reliability.trends.drift_words import SeriesChange, day_name
from fleet_runner.core.reliability.trends.metrics import Metric
from fleet_runner.core.reliability.trends.panel import Window
from fleet_runner.core.reliability.trends.peers import Location, apart, peers
from fleet_runner.core.reliability.trends.search import FALSE_ALARMS, scatter, search
from fleet_runner.core.reliability.trends.significance import LEAST_RATIO, ChangeContext, level, spread
from fleet_runner.core.reliability.trends.silence import SENTENCES, UNJUDGED, Silence, unjudged

MOST_TOLD = 2_000
"""Foresights of the whole fleet that are kept, the surest first; more would not be read."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the analysis of one metric takes.

    Stays are by id, places by node; marks are the numbers of the metric's pass mark by device type, where there are.
    """

    metric: Metric
    window: Window
    stays: Mapping[int, Stay]
    places: Mapping[str, Location]
    marks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricAnalysis:
    """What one metric came to. `days` are the first and last one, None without any; `silences` count series.

    `weekly` are the device types whose series were looked at in weeks, and how many they are.
    """

    metric: Metric
    days: tuple[int, int] | None
    series: int
    silences: Mapping[Silence, int]
    found: tuple[Foresight, ...]
    together: tuple[Together, ...]
    weekly: Mapping[str, int] = field(default_factory=dict)

    def beside(self, weeks: "MetricAnalysis", weekly: Mapping[str, int]) -> "MetricAnalysis":
        """Return it with what was looked at in weeks."""
        spans = [each.days for each in (self, weeks) if each.days]
        days = (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None
        silences = Counter(self.silences) + Counter(weeks.silences)
        found, moved = self.found + weeks.found, self.together + weeks.together
        return MetricAnalysis(self.metric, days, self.series + weeks.series, silences, found, moved, weekly)

    @property
    def judged(self) -> int:
        """Return how many series something could be said of."""
        return self.series - sum(self.silences.get(reason, 0) for reason in UNJUDGED)

    @property
    def kinds(self) -> Mapping[str, int]:
        """Return how many of each kind are foreseen."""
        return Counter(each.kind.value for each in self.found)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        words = {"metric": self.metric.name, "unit": self.metric.unit, "meaning": self.metric.meaning}
        silences = {reason.value: count for reason, count in self.silences.items() if count}
        parts = sum(int(each.numbers["parts"]) for each in self.found)
        quiet = self.series - sum(silences.values()) - parts
        counts = {"series": self.series, "judged": self.judged, "quiet": max(quiet, 0)}
        seen = {"foreseen": dict(self.kinds), "together": len(self.together)}
        return {**words, **counts, **seen, "silences": silences, "weekly": dict(self.weekly)}


@dataclass(frozen=True, slots=True)
class Drift:
    """What all metrics came to; `stood` is what was foreseen until now."""

    looked: tuple[MetricAnalysis, ...]
    stood: tuple[Foresight, ...] = ()

    def every(self) -> tuple[Foresight, ...]:
        """Return all that is foreseen, each cause once."""
        found = [each for looked in self.looked for each in looked.found]
        return causes.once(found, {each.metric.name: each.metric for each in self.looked}, self.stood)

    def foresights(self) -> tuple[Foresight, ...]:
        """Return what is foreseen, the surest first, and no more than is read."""
        return self._kept(self.every())

    @staticmethod
    def _kept(every: Sequence[Foresight]) -> tuple[Foresight, ...]:
        return tuple(sorted(every, key=lambda each: (-each.numbers["score"], each.key))[:MOST_TOLD])

    def to_json(self) -> dict[str, Any]:
        """Return the body of the analysis, for whatever shows it."""
        every = self.every()
        told = self._kept(every)
        moved = [each.to_json() for looked in self.looked for each in looked.together]
        silences = sum((Counter(each.silences) for each in self.looked), Counter[Silence]())
        days = [each.days for each in self.looked if each.days]
        first, last = min((day for day, _ in days), default=None), max((day for _, day in days), default=None)
        judged = sum(each.judged for each in self.looked)
        return {
            "since_day": None if first is None else day_name(first),
            "until_day": None if last is None else day_name(last),
            "days": 0 if first is None or last is None else last - first + 1,
            "series": sum(each.series for each in self.looked),
            "judged": judged,
            "false_alarms_per_night": round(judged * FALSE_ALARMS, 6),
            "sentences": self._sentences(judged, every, len(moved)),
            "silences": [
                {"reason": reason.value, "count": count, "sentence": SENTENCES[reason]}
                for reason, count in silences.most_common()
                if count
            ],
            "metrics": [each.to_json() for each in self.looked],
            "together": moved[:MOST_TOLD],
            "foresights": [each.to_json() for each in told],
            "foresights_cut": len(every) - len(told),
        }

    def _sentences(self, judged: int, every: Sequence[Foresight], moved: int) -> list[str]:
        """Say what was looked at and found."""
        series = sum(each.series for each in self.looked)
        metrics = f"{counted(len(self.looked), 'metric')} {'was' if series == 1 else 'were'}"
        kinds = Counter(each.kind.value for each in every)
        which = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(kinds.items()))
        weekly = sum(sum(each.weekly.values()) for each in self.looked)
        rare = f" {weekly:,} of them are reported too rarely for days, and were analysed by week." if weekly else ""
        return [
            f"{series:,} series of {metrics} looked at; {judged:,} could be judged.{rare}",
            f"{counted(len(every), 'change is', 'changes are')} predicted to matter{f' ({which})' if which else ''}.",
            *(
                [f"{counted(moved, 'rack or site', 'racks or sites')} changed as a whole: no part there is to blame."]
                * bool(moved)
            ),
            f"Of noise alone at most {judged * FALSE_ALARMS:.2g} a night are expected.",
        ]


def analyse(given: Iterable[Given]) -> Drift:
    """Look at each metric in turn; an iterable that gives one at a time keeps no more than one in memory."""
    return Drift(tuple(look(each.metric, each.window, each.stays, each.places, each.marks) for each in given))


def look(  # noqa: PLR0913  as heat is asked, and what stood
    metric: Metric,
    window: Window,
    stays: Mapping[int, Stay],
    places: Mapping[str, Location],
    marks: Mapping[str, float],
    *,
    stood: Iterable[Foresight] = (),
) -> MetricAnalysis:
    """Look at one metric; `stood` is what has been foreseen until now."""
    series = len(window.stays)
    if not series or not len(window.days):
        return MetricAnalysis(metric, None, series, {Silence.SHORT: series}, (), ())
    told = peers(window.stays.tolist(), stays, places)
    reasons = unjudged(window, told)
    mute = np.logical_or.reduce(list(reasons.values()))
    silences = Counter({reason: int(rows.sum()) for reason, rows in reasons.items()})
    parted = apart(window.middle, told)
    parted.alone[mute] = np.nan
    scene = ChangeContext(metric, window, parted.alone, told, places, marks)
    moved = search(scene.alone, metric.least)
    silences[Silence.CROWD] += moved.crowd
    found = _told([level(scene, each) for each in moved.seen], silences)
    found += _spreads(scene, silences, frozenset(each.row for each in moved.seen))
    heard = np.bincount(told.node.of[~mute], minlength=len(told.node.names)).tolist()
    judged = {node: parts for (node,), parts in zip(told.node.names, heard, strict=True)}
    days = (window.since(0), int(window.days[-1]))
    mine = [each for each in stood if metric.name in (each.metric, *each.numbers.get("also", ()))]
    whole = frozenset((each.node, each.kind) for each in mine if each.numbers.get("parts", 1) > 1)
    said = tuple(foresight(each, metric, judged) for each in as_one(found, told.stays, judged, whole))
    return MetricAnalysis(metric, days, series, silences, said, together(metric, window, told, parted))


def _spreads(scene: ChangeContext, silences: Counter[Silence], moved: frozenset[int]) -> list[SeriesChange]:
    """Return the series that scatter more than they did, but for those whose level did, too."""
    wide, logarithm = scatter(scene.window, scene.alone, scene.metric.least)
    searched = search(apart(logarithm, scene.peers).alone, log(LEAST_RATIO), bell=False)
    silences[Silence.CROWD] += searched.crowd
    more = [each for each in searched.seen if each.row not in moved and each.change.change > 0]
    return _told([spread(scene, each, wide[each.row]) for each in more], silences)


def _told(weighed: Sequence[SeriesChange | Silence], silences: Counter[Silence]) -> list[SeriesChange]:
    """Return what is to be told, and count the rest."""
    silences.update(each for each in weighed if isinstance(each, Silence))
    return [each for each in weighed if isinstance(each, SeriesChange)]
