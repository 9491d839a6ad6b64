"""All figures of interrupted jobs in a span, from kept answers and from when nodes served."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.reliability.interruptions.causes import Cause, areas, causes
from fleet_runner.core.reliability.interruptions.failure_rates import FamilyRate, by_family, of_job, often
from fleet_runner.core.reliability.interruptions.interruption import Assumed, Interruption, interruptions
from fleet_runner.core.reliability.interruptions.lost_time import NOTHING, Lost, lost, next_runs
from fleet_runner.core.reliability.interruptions.repair_times import Took, repair_times
from fleet_runner.core.reliability.interruptions.training_time import JobRun, expected, job_runs, together
from fleet_runner.core.reliability.lifetimes import rates
from fleet_runner.core.reliability.lifetimes.rates import Between, Rate
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import Story, production

DAY = 86_400.0

SIZES = (1, 2, 8, 32, 128, 512, 2048, 1_000_000)
"""Nodes with which a class of sizes begins; the last number ends the last class."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the figures come from: the answers of a span, when their faults were known first, and the nodes' stories.

    `later` are answers about runs that ended after the span: they tell when a job ran again.
    """

    answers: Sequence[KeptAnswer]
    later: Sequence[KeptAnswer]
    detected: Mapping[Interruption, float | None]
    stories: Sequence[Story]
    span: Span
    now: float


@dataclass(frozen=True, slots=True)
class JobSize:
    """Jobs of some nodes, from `least` up to `most`.

    `days` is how long they ran, and `between` the days from one interruption by infrastructure to the next in it:
    jobs that ended well are in it only where somebody asked about them. `expected_days` is what the rate of all nodes
    says for `nodes` of them, the mean. `ettr` is theirs, `expected_ettr` what the rate says.
    """

    least: int
    most: int
    nodes: float
    jobs: int
    interruptions: int
    days: float
    between: Between | None
    expected_days: Between | None
    ettr: float | None
    expected_ettr: Between | None


@dataclass(frozen=True, slots=True)
class JobFigures:
    """What there is to say of interrupted jobs. `rate` is interruptions by infrastructure in a node day of service.

    `goodput` is the share of the nodes' time in production that no interruption by infrastructure took; None where no
    node was in production. `planned` are answers about jobs that run, ended well or as somebody asked.
    """

    assumed: Assumed
    answers: int = 0
    interruptions: int = 0
    infrastructure: int = 0
    planned: int = 0
    areas: tuple[tuple[Area, int], ...] = ()
    causes: tuple[Cause, ...] = ()
    times: tuple[Took, ...] = ()
    lost: Lost = NOTHING
    lost_to_infrastructure: Lost = NOTHING
    goodput: float | None = None
    node_days: float = 0.0
    rate: Rate | None = None
    families: tuple[FamilyRate, ...] = ()
    sizes: tuple[JobSize, ...] = ()
    ettr: float | None = None


def analyse(given: Given, assumed: Assumed) -> JobFigures:
    """Count all of it; with no answers there is nothing to say."""
    if not given.answers:
        return JobFigures(assumed)
    found = interruptions(given.answers)
    ours = [each for each in found if each.is_infrastructure]
    served = {each.node: production(each, given.span, given.now) for each in given.stories}
    served = {node: seconds for node, seconds in served.items() if seconds}
    rate = often(ours, served)
    runs = job_runs(given.answers, assumed)
    begun = next_runs((*given.answers, *given.later))
    theirs = lost(ours, begun, assumed)
    whole = sum(served.values())
    return JobFigures(
        assumed,
        answers=len(given.answers),
        interruptions=len(found),
        infrastructure=len(ours),
        planned=len(given.answers) - len(found),
        areas=areas(found),
        causes=causes(found),
        times=repair_times(found, given.detected, {each.node: each for each in given.stories}),
        lost=lost(found, begun, assumed),
        lost_to_infrastructure=theirs,
        goodput=max(0.0, 1 - theirs.node_seconds / whole) if whole else None,
        node_days=whole / DAY,
        rate=rate,
        families=by_family(ours, served),
        sizes=tuple(_size(*ends, runs, rate, assumed) for ends in pairwise(SIZES) if _of_size(runs, *ends)),
        ettr=together(runs),
    )


def _of_size(runs: Sequence[JobRun], least: int, above: int) -> list[JobRun]:
    return [each for each in runs if least <= each.nodes < above]


def _size(least: int, above: int, runs: Sequence[JobRun], rate: Rate | None, assumed: Assumed) -> JobSize:
    mine = _of_size(runs, least, above)
    nodes = sum(each.nodes for each in mine) / len(mine)
    seen = rates.rate([each.interrupted for each in mine], [each.running / DAY for each in mine])
    return JobSize(
        least=least,
        most=max(each.nodes for each in mine),
        nodes=nodes,
        jobs=len(mine),
        interruptions=sum(each.interrupted for each in mine),
        days=sum(each.running for each in mine) / DAY,
        between=None if seen is None else seen.between,
        expected_days=None if rate is None else of_job(rate, nodes),
        ettr=together(mine),
        expected_ettr=None if rate is None else expected(rate, nodes, assumed),
    )
