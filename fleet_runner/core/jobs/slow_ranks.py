"""Which node's ranks work longer than all others, by the times that a job tells; nobody, where none does.

Nodes are compared where it is known which ranks are where, by the slowest rank of each: ranks of one node wait for
each other within a layer. Otherwise ranks are compared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs import change_point
from fleet_runner.core.jobs.change_point import Points
from fleet_runner.core.jobs.history import History
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.outliers import FEWEST, Floor, odd
from fleet_runner.core.jobs.rank_times import SECONDS, Extreme, Measure, RankTimes, Whose
from fleet_runner.core.jobs.straggler import SHARE, SLOWER

FEWEST_VALUES = 3
"""Values of a rank, and reports of a job, of which the median says anything."""

MATTERS = 0.05
"""Of a step, below which a difference is nothing that anybody would feel."""

LEAST = 0.010
"""Seconds below which a difference is nothing, where nobody tells how long a step takes."""

LASTING = 0.5
"""Of its lead, a slow rank has so much left in all but a fifth of its values: a hiccup does not make one."""

NONE = History("")
"""Of values that came without times."""

RECENT = 25
"""Newest values of each rank that show who is slow now, and was not before."""

SLOWER_THAN_FASTEST = 1.15
"""How many times as long as the fastest rank one takes at least, where the rank in the middle is not told."""


DIGITS = 100
"""From which on a number needs no digits behind its point."""


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank that works longer: on which node, where it is known; in the unit of the measure, beside the others.

    `of` says beside how many others, `since` when it became slow; "" where it always was, or that is not clear.
    """

    rank: int | None
    node: str
    measure: Measure
    own: float
    others: float
    of: str
    since: str = ""

    @property
    def place(self) -> str:
        """Return "rank 3 on gpu-07", or as much of it as is known."""
        rank = "" if self.rank is None else f"rank {self.rank}"
        return f"{rank} on {self.node}" if rank and self.node else rank or self.node

    @property
    def sentence(self) -> str:
        """Say it."""
        own, others = amount(self.own, self.measure), amount(self.others, self.measure)
        since = f", {self.since}" if self.since else ""
        return f"{self.measure.name} {own} beside {others}{self.of}{since}"


class Series(NamedTuple):
    """The newest values of whom they are, and those with their times, thinned over all of the job.

    `clock` is what these times are by.
    """

    values: Sequence[float]
    points: Points
    clock: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of comparing ranks: by which measures of their own work, who is slow, and what could not be told."""

    measures: tuple[str, ...] = ()
    slow: tuple[SlowRank, ...] = ()
    unsure: tuple[str, ...] = ()


def amount(value: float, measure: Measure) -> str:
    """Return a value with its unit: "1.90 s", "35.1 ms", "7,282 a second", "1.25 times the fastest"."""
    if measure.unit != SECONDS:
        return f"{value:,.{0 if value >= DIGITS else 2}f} {measure.unit}".rstrip()
    return f"{value:,.2f} s" if value >= 1.0 else f"{value * 1000:,.3g} ms"


def compare(times: RankTimes, job: Job, ahead: Mapping[str, int]) -> Compared:
    """Return the ranks that hold others back, those that do so longest first.

    `ahead` is by how many seconds the clock of each output is ahead of UTC, by its label, where that is known.
    """
    step = _step(times)
    by_measure = _by_measure(times, job, ahead)
    unsure: list[str] = []
    if times.has_stages and any(measure.is_work for measure in (*by_measure, *times.extremes, *times.spreads)):
        unsure.append("ranks of other pipeline stages have other work, so times of their work are not compared")
    names: list[str] = []
    slow: list[SlowRank] = []
    for measure, series in by_measure.items():
        places = _places(series)
        if len(places) < FEWEST or (times.has_stages and measure.is_work):
            continue
        found = _slowest(measure, series, places, step)
        if found is None and measure.is_step:
            unsure.append(_alike(measure, series))
            continue
        names.append(measure.name)
        slow += [] if found is None else [found]
    for measure, reports in times.extremes.items():
        if len(reports) >= FEWEST_VALUES and not (times.has_stages and measure.is_work):
            last = _last(measure, [(_placed(each.slowest, job, _known(job)), each) for each in reports])
            slow += last
            ratio = median(each.own / each.other for each in reports)
            if last or ratio < SLOWER_THAN_FASTEST:
                names.append(measure.name)
            else:
                unsure.append(f"{measure.name}: now one rank is the slowest, now another, so it names nobody")
    unsure += [_spread(measure, *ends) for measure, ends in times.spreads.items() if not times.has_stages]
    slow.sort(key=lambda each: (each.measure.is_step, -_times(each)))
    return Compared(tuple(dict.fromkeys(names)), tuple(slow), tuple(filter(None, unsure)))


def _by_measure(times: RankTimes, job: Job, ahead: Mapping[str, int]) -> dict[Measure, dict[Whose, Series]]:
    """Return the values of whom they are told, where there are enough, by measure."""
    found: dict[Measure, dict[Whose, Series]] = {}
    known = _known(job)
    told = {"": 0, **ahead}
    own = {history.label for history in times.histories.values()} - told.keys()
    for (measure, whose), values in times.series.items():
        if (whose.rank is not None or whose.node) and len(values) >= FEWEST_VALUES:
            history = times.histories.get((measure, whose), NONE)
            is_own = history.label and own
            points = history.points(0 if is_own else told[history.label])
            mine = Series(tuple(values), points, "by the output's clock" if is_own else "UTC")
            found.setdefault(measure, {})[_placed(whose, job, known)] = mine
    return found


def _step(times: RankTimes) -> float | None:
    """Return how long a step takes, in seconds; None where nobody tells."""
    told = [value for (measure, _), values in times.series.items() if measure.is_step and measure.unit == SECONDS
            for value in values]  # fmt: skip
    return median(told) if told else None


def _known(job: Job) -> dict[str, str]:
    return {_short(each): each for each in job.nodes}


def _short(node: str) -> str:
    return node.partition(".")[0].lower()


def _placed(whose: Whose, job: Job, known: Mapping[str, str]) -> Whose:
    """Return whose it is with the node's name as the job has it."""
    node = whose.node or (job.ranks.get(whose.rank, "") if whose.rank is not None else "")
    return whose._replace(node=known.get(_short(node), node))


def _places(series: Iterable[Whose]) -> dict[str, list[Whose]]:
    """Return whose values are compared as one: those of a node, where enough nodes are known; or of each rank."""
    nodes: dict[str, list[Whose]] = {}
    for whose in series:
        nodes.setdefault(whose.node, []).append(whose)
    if "" not in nodes and len(nodes) >= FEWEST:
        return nodes
    return {f"{whose.rank} {whose.node} {whose.part}": [whose] for whose in series}


def _slowest(
    measure: Measure,
    series: Mapping[Whose, Series],
    places: Mapping[str, Sequence[Whose]],
    step: float | None,
) -> SlowRank | None:
    """Return who is slow all the time, or in the newest values where it clearly became so."""
    whole = _slow(measure, series, places, step)
    if whole is not None:
        return whole
    newest = {whose: each._replace(values=each.values[-RECENT:]) for whose, each in series.items()}
    recent = _slow(measure, newest, places, step)
    return recent if recent is not None and recent.since else None


def _slow(
    measure: Measure, series: Mapping[Whose, Series], places: Mapping[str, Sequence[Whose]], step: float | None
) -> SlowRank | None:
    """Return who is slow in nearly all values, by the slowest of each place."""
    middles = {whose: median(each.values) for whose, each in series.items()}
    pick = min if measure.is_low else max
    worst = {place: pick(mine, key=lambda whose: middles[whose]) for place, mine in places.items()}
    least = 0.0 if measure.unit != SECONDS else LEAST if step is None else MATTERS * step
    found = odd(
        {place: middles[whose] for place, whose in worst.items()}, Floor(SLOWER - 1, least, is_low=measure.is_low)
    )
    if found is None:
        return None
    whose = worst[found.names[0]]
    fifths = quantiles(series[whose].values, n=5)
    nearest = fifths[-1] if measure.is_low else fifths[0]
    if abs(middles[whose] - found.others) * LASTING > (nearest - found.others) * (-1 if measure.is_low else 1):
        return None
    one = "node" if whose.node in places else "rank"
    count = counted(len(places) - len(found.names), f"other {one}")
    more = f", and {counted(len(found.names) - 1, f'more {one}')} likewise" if found.names[1:] else ""
    of = f" on the slowest ranks of {count}" if one == "node" and whose.rank is not None else f" on {count}"
    beside = [series[each].points for name, mine in places.items() if name != found.names[0] for each in mine]
    change = change_point.find(series[whose].points, beside, middles[whose] / found.others)
    since = "" if change is None else change.words(series[whose].clock)
    return SlowRank(whose.rank, whose.node, measure, middles[whose], found.others, f"{of}{more}", since)


def _last(measure: Measure, reports: Sequence[tuple[Whose, Extreme]]) -> list[SlowRank]:
    """Return who is the slowest in nearly all reports, and by much."""
    places = Counter(whose.node or str(whose.rank) for whose, _ in reports)
    place, often = places.most_common(1)[0]
    mine = [(whose, each) for whose, each in reports if (whose.node or str(whose.rank)) == place]
    own, others = median(each.own for _, each in mine), median(each.other for _, each in mine)
    if often < SHARE * len(reports) or own < SLOWER_THAN_FASTEST * others:
        return []
    whose = Counter(whose for whose, _ in mine).most_common(1)[0][0]
    slow = [each.clocks for _, each in mine if each.clocks is not None and each.clocks[1] == whose.rank]
    clock = median(each[0] for each in slow) if slow else 0.0
    full = median(each[2] for each in slow) if slow else 0.0
    hot = f", its GPU at {clock:,.0f} MHz beside up to {full:,.0f}" if slow and clock < full / SLOWER else ""
    other = "the fastest one" if measure.is_work else "the slowest one of the other nodes"
    of = f" on {other}, in {often} of {counted(len(reports), 'report')}{hot}"
    return [SlowRank(whose.rank, whose.node, measure, own, others, of)]


def _alike(measure: Measure, series: Mapping[Whose, Series]) -> str:
    """Say that steps name nobody, once, for times of steps."""
    if measure.unit != SECONDS:
        return ""
    middle = median(value for each in series.values() for value in each.values)
    return (
        f"{measure.name} is about {amount(middle, measure)} on all of {counted(len(series), 'rank')}: in synchronous"
        " training all wait for the slowest one, so this names nobody; times of each rank's own work would"
    )


def _spread(measure: Measure, shortest: float, longest: float) -> str:
    if longest < SLOWER_THAN_FASTEST * shortest:
        return ""
    return (
        f"{measure.name} takes {amount(shortest, measure)} to {amount(longest, measure)}, and the output does not say"
        " which rank is the slow one; Megatron's --timing-log-option all, or --log-straggler, would"
    )


def _times(slow: SlowRank) -> float:
    return slow.others / slow.own if slow.measure.is_low else slow.own / slow.others
