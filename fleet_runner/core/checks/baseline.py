"""Pass marks learned from nodes that are known to be good: what they reach, how far they spread, and a mark below.

A mark is proposed, never set: a person reads the difference and decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median

from fleet_runner.core.checks.check import Check, Measure
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.inventory.profile import Profile
from fleet_runner.core.lifecycle.runs import Stored

FEWEST_NODES = 3
"""Of fewer nodes nobody can tell the usual one from the odd one."""

FEWEST_NUMBERS = 5

MOST_RESULTS = 20
"""Results of one node that count, the newest: a node that is tested daily must not outvote the others."""

MOST_SPREAD = 0.2
"""The largest median deviation, as a share of the median, from which a mark is drawn: beyond, nothing is usual."""

SMALLEST = 1e-9
"""Below this nothing is measured, in whatever unit."""

DIGITS = 3
"""Significant digits of a mark; more would promise what was not measured."""

Samples = Mapping[str, Sequence[float]]
"""Numbers by node."""


@dataclass(frozen=True, slots=True)
class Margin:
    """How far below (or above) the median a mark lies: so many median deviations, and at least this share."""

    deviations: float = 5.0
    share: float = 0.03


@dataclass(frozen=True, slots=True)
class LearnedLimit:
    """What one measure came to. `mark` is None where it cannot be told, and `why` says why.

    `outside` are the nodes with a number that the mark would refuse: they may not be as good as they are thought to
    be. `now` is the mark of today, None where there is none.
    """

    check: str
    measure: Measure
    nodes: int
    numbers: int
    median: float | None = None
    deviation: float | None = None
    mark: float | None = None
    now: float | None = None
    outside: tuple[str, ...] = ()
    why: str = ""


def good(production: Sequence[str], results: Sequence[Stored]) -> tuple[str, ...]:
    """Return the nodes in production without a FAIL among these results."""
    failed = {stored.node for stored in results if stored.result.verdict is Verdict.FAIL}
    return tuple(node for node in production if node not in failed)


def samples(measure: Measure, results: Sequence[Stored], nodes: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Return what a measure was on each of these nodes, of their newest results (given newest first).

    A test that ended is judged anew at each visit: results on the same first evidence, the test's own, are one.
    """
    wanted = set(nodes)
    counted: set[tuple[str, str]] = set()
    found: dict[str, list[tuple[float, ...]]] = {}
    for stored in results:
        answered = stored.result.verdict in {Verdict.PASS, Verdict.FAIL}
        measured = {(stored.node, digest) for digest in stored.result.evidence[:1]}
        new = stored.node in wanted and not measured & counted
        if new and answered and len(found.get(stored.node, ())) < MOST_RESULTS:
            told = tuple(values(stored.result.observed, measure.observed))
            if told:
                found.setdefault(stored.node, []).append(told)
                counted |= measured
    return {node: tuple(value for told in mine for value in told) for node, mine in sorted(found.items())}


def values(observed: object, path: str) -> Iterator[float]:
    """Yield the numbers at a path: names with dots between them, "*" for each entry of a mapping or list.

    What is no number, or none above zero, was not measured.
    """
    name, _, rest = path.partition(".")
    if not path:
        value = number(observed)
        if value is not None and value > SMALLEST:
            yield value
    elif name == "*" and isinstance(observed, Mapping | list | tuple):
        for entry in observed.values() if isinstance(observed, Mapping) else observed:
            yield from values(entry, rest)
    elif isinstance(observed, Mapping) and name in observed:
        yield from values(observed[name], rest)


def learn(check: Check, measure: Measure, found: Samples, profile: Profile, margin: Margin) -> LearnedLimit:
    """Propose a mark for a measure from what nodes reached; why not, where there are too few of them."""
    every = [value for mine in found.values() for value in mine]
    now = next(values(profile, measure.mark), None)
    if len(found) < FEWEST_NODES or len(every) < FEWEST_NUMBERS:
        why = (
            f"{len(every)} numbers of {len(found)} nodes, expected at least {FEWEST_NUMBERS} of {FEWEST_NODES}; "
            "run the test on more of them"
        )
        return LearnedLimit(check.name, measure, len(found), len(every), now=now, why=why)
    usual = median(every)
    deviation = median(abs(value - usual) for value in every)
    if deviation > MOST_SPREAD * usual:
        why = (
            f"the median is {usual:.4g} and the median deviation {deviation:.4g}, expected at most "
            f"{MOST_SPREAD:.0%} of it; these nodes are not alike, name those that are"
        )
        return LearnedLimit(check.name, measure, len(found), len(every), usual, deviation, now=now, why=why)
    mark = _mark(usual, deviation, margin, higher=measure.higher)
    outside = tuple(
        node for node, mine in found.items() if any(_misses(value, mark, measure.higher) for value in mine)
    )
    return LearnedLimit(check.name, measure, len(found), len(every), usual, deviation, mark, now, outside)


def _mark(usual: float, deviation: float, margin: Margin, *, higher: bool) -> float:
    """Return the mark on the lenient side, in few digits; half of the median at the least."""
    distance = max(margin.deviations * deviation, margin.share * usual)
    exact = max(usual - distance, usual / 2) if higher else usual + distance
    step = 10.0 ** (floor(log10(exact)) + 1 - DIGITS)
    told = (floor if higher else ceil)(round(exact / step, 6)) * step
    return float(f"{told:.{DIGITS}g}")


def _misses(value: float, mark: float, higher: bool) -> bool:  # noqa: FBT001  it is the measure's own
    return value < mark if higher else value > mark


def changes(learned: Sequence[LearnedLimit]) -> dict[str, float]:
    """Return the marks that would change, by their keys in the profile."""
    return {each.measure.mark: each.mark for each in learned if each.mark is not None and each.mark != each.now}
