"""The signals by which lemons are told: what a node did in a span, counted from nothing that is later.

The signals are those that Meta published for its research clusters ("Revisiting Reliability in Large-Scale Machine
Learning Research Clusters", 2024): jobs that leave a node out, Xids, tickets, times and hours out of service,
failures of jobs on several nodes and on one, and the rate of the latter; and a person's holds.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fleet_runner.core.lifecycle.runs import RUNNER
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.core.reliability.parts.failures import of_hardware
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.report.rows import Fix, Hold, PastRemedy, Span
from fleet_runner.core.reliability.report.stories import Exclusion, Story, out

PLANNED = frozenset({Event.FIRMWARE_NEEDED, Event.WIPE})
"""What takes good nodes out, too."""

FEWEST_JOBS = 5
"""Jobs on one node from which their rate of failures counts."""

JOBS = frozenset({"jobs_of_many", "jobs_of_one", "rate_of_one", "jobs_without"})
"""Signals that only a scheduler can tell."""


class Ended(NamedTuple):
    """A remedy of which it was known at some moment whether it helped."""

    tried: PastRemedy
    known_at: float


class Job(NamedTuple):
    """A job that a node's failure ended: when, which node, and how many it had."""

    at: float
    node: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Jobs:
    """What a scheduler told: failures; and by node ends of jobs on it alone, and submissions that leave it out.

    `unsaid` is why nobody tells which nodes jobs leave out, "" where somebody does.
    """

    failures: Sequence[Job] = ()
    alone: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    without: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    unsaid: str = ""

    def named(self, names: Mapping[str, str]) -> "Jobs":
        """Return the same with other names, by the names that the scheduler has for nodes."""

        def ours(found: Mapping[str, Sequence[float]]) -> dict[str, Sequence[float]]:
            named = defaultdict[str, "array[float]"](lambda: array("d"))  # half a year of jobs: 8 bytes for each
            for name, times in found.items():
                named[names.get(name, name)].extend(times)
            return {**named}

        failures = tuple(each._replace(node=names.get(each.node, each.node)) for each in self.failures)
        return Jobs(failures, ours(self.alone), ours(self.without), self.unsaid)


@dataclass(frozen=True, slots=True)
class NodeHistory:
    """What the store and the scheduler tell of nodes; `jobs` is None where no scheduler tells of any."""

    stories: Sequence[Story] = ()
    episodes: Sequence[Episode] = ()
    fixes: Sequence[Fix] = ()
    ended: Sequence[Ended] = ()
    holds: Sequence[Hold] = ()
    cases: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    stays: Sequence[Stay] = ()
    jobs: Jobs | None = None


Counted = Mapping[str, Mapping[str, float]]
"""By node and signal; a node that served has a row, and a signal that is 0 stands in none."""


def count(past: NodeHistory, span: Span) -> Counted:
    """Count every signal of nodes that served in a span; what is at its end or later is not looked at."""
    found: dict[str, dict[str, float]] = {each.node: {} for each in past.stories if served(each, span)}
    for node, name, number in (*_outs(past, span), *_people(past, span), *_told(past, span), *_jobs(past.jobs, span)):
        if node in found:
            found[node][name] = found[node].get(name, 0.0) + number
    return found


def served(story: Story, span: Span) -> bool:
    """Whether a node was in production at any time of a span."""
    return any(begins < span.until and (ends is None or ends > span.since) for begins, ends in story.served)


def serving(story: Story, at: float) -> bool:
    """Whether a node was in production at a moment."""
    return any(begins <= at and (ends is None or ends > at) for begins, ends in story.served)


def unplanned(each: Exclusion) -> bool:
    """Whether a node was taken out for a reason of its own."""
    return each.step.event not in PLANNED


Told = tuple[str, str, float]


def _outs(past: NodeHistory, span: Span) -> Iterable[Told]:
    for story in past.stories:
        for each in story.exclusions:
            if each.begins < span.until and unplanned(each):
                yield story.node, "out", float(span.holds(each.begins))
                yield story.node, "hours_out", out(each, span, span.until) / 3_600


def _people(past: NodeHistory, span: Span) -> Iterable[Told]:
    for story in past.stories:
        for each in story.exclusions:
            if span.holds(each.begins) and unplanned(each) and each.step.by != RUNNER:
                yield story.node, "people", 1.0
    for hold in past.holds:
        if hold.begins and span.holds(hold.at) and hold.by != RUNNER:
            yield hold.node, "people", 1.0


def _told(past: NodeHistory, span: Span) -> Iterable[Told]:
    codes: dict[str, set[str]] = defaultdict(set)
    for each in past.episodes:
        if span.holds(each.first_at) and of_hardware(each.code):
            codes[each.node].add(each.code)
    for node, mine in codes.items():
        xids = sum(code.startswith("xid.") for code in mine)
        yield node, "xids", float(xids)
        yield node, "faults", float(len(mine) - xids)
    for fix in past.fixes:
        if span.holds(fix.opened_at):
            yield from ((node, "tickets", 1.0) for node in fix.nodes)
    for ended in past.ended:
        if span.holds(ended.known_at) and ended.tried.helped is False:
            yield ended.tried.node, "unhelped", 1.0


def _jobs(jobs: Jobs | None, span: Span) -> Iterable[Told]:
    if jobs is None:
        return
    failed = Counter[str]()
    for each in jobs.failures:
        if span.holds(each.at):
            yield each.node, "jobs_of_many" if each.nodes > 1 else "jobs_of_one", 1.0
            failed[each.node] += each.nodes == 1
    for node, ends in jobs.alone.items():
        whole = sum(map(span.holds, ends))
        if whole >= FEWEST_JOBS and failed[node]:
            yield node, "rate_of_one", 100 * failed[node] / whole
    for node, submitted in jobs.without.items():
        if left_out := sum(map(span.holds, submitted)):
            yield node, "jobs_without", float(left_out)
