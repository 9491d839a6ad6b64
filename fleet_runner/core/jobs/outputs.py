"""All that a job says itself, from every file that was given: whose rank is where, and what happened when."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.clocks import fits, shifted, zone_of
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.output import SOURCE, JobOutput
from fleet_runner.core.jobs.waits import Wait, apart, behind


def placed(job: Job, outputs: Sequence[JobOutput]) -> Job:
    """Return the job with the ranks' nodes that its output tells; what its scheduler told stays."""
    told = _ranks(outputs)
    known = {_short(node): node for node in job.nodes}
    return replace(job, ranks={rank: known.get(_short(node), node) for rank, node in told.items()} | dict(job.ranks))


class Said(NamedTuple):
    """What a job says itself: events at their true times, when it last made progress, and what is unsure.

    `ahead` is by how many seconds each output's clock is ahead of UTC, by the output's label, where that is known.
    """

    events: tuple[Event, ...]
    progress: float | None
    unsure: tuple[str, ...]
    ahead: Mapping[str, int]


def said(job: Job, outputs: Sequence[JobOutput], *, timed: bool = True) -> Said:
    """Return what all outputs say; `job` is as `placed` made it, `timed` where others than they told its times."""
    found: list[Event] = []
    unsure: list[str] = []
    waits: dict[int, Wait] = {}
    progress: list[float] = []
    clocks: dict[str, int] = {}
    for output in outputs:
        ahead = 0 if output.zoned or output.times is None else zone_of(*output.times, job)
        if output.zoned or ahead or (output.times is not None and fits(*output.times, job)):
            clocks[output.label] = ahead
        events = output.end(None if job.ended is None else job.ended + ahead)
        if not output.zoned and output.times is not None and not ahead:
            unsure += _assumed(output.label, output.times, job if timed else None)
        if output.survived:
            unsure.append(
                f"{output.label} tells of {counted(output.survived, 'error')} that the program went on after: what"
                " came later counts"
            )
        if ahead:
            unsure.append(
                f"{output.label} tells no time zone; its clock is taken as UTC{ahead / 3600:+g} h, because then it"
                " ends when the job did"
            )
        found += shifted(events, ahead)
        progress += [] if output.progress is None else [output.progress - ahead]
        for rank, wait in output.waits.items():
            waits.setdefault(rank, wait if wait.since is None else wait._replace(since=wait.since - ahead))
    found += _behind(waits)
    known = {_short(node): node for node in job.nodes}
    return Said(
        tuple(_on_node(each, job, known) for each in found), max(progress, default=None), tuple(unsure), clocks
    )


def _assumed(label: str, times: tuple[float, float], job: Job | None) -> Iterator[str]:
    """Yield that times are taken as UTC, where nothing shows it; `job` is None where nobody else told its times."""
    if job is None:
        yield f"{label} tells no time zone, so UTC is assumed; --from and --to (in UTC) would tell"
    elif job.ended is not None and not fits(*times, job):
        yield f"{label} tells no time zone, and in none does it end when the job did, so UTC is assumed"


def _behind(waits: dict[int, Wait]) -> Iterator[Event]:
    since = min((each.since for each in waits.values() if each.since is not None), default=None)
    for rank, message in behind(waits):
        yield Event(since, Area.UNKNOWN, Role.SYMPTOM, complaints.BEHIND, message, rank=rank, source=SOURCE)
    for number, message in apart(waits.values()):
        kind = (Area.SOFTWARE, Role.CAUSE, complaints.MISMATCH)
        yield Event(since, *kind, message, component=f"collective {number}", source=SOURCE)


def _on_node(event: Event, job: Job, known: dict[str, str]) -> Event:
    """Return an event with its node's full name, and with the node of its rank where only that is told."""
    node = event.node or (job.ranks.get(event.rank, "") if event.rank is not None else "")
    return replace(event, node=known.get(_short(node), node))


def _short(node: str) -> str:
    return node.partition(".")[0].lower()


def job_of(outputs: Sequence[JobOutput], events: Iterable[Event]) -> Job:
    """Return the job that logs alone describe: its nodes, ranks, and the first and last time that they tell."""
    ranks = _ranks(outputs)
    told = [output.times for output in outputs if output.times is not None and output.known]
    nodes = {*ranks.values(), *(each.node for each in events if each.node)}
    known = {_short(node) for node in nodes}
    nodes |= {node for output in outputs for node in output.nodes if _short(node) not in known}
    begun = min((first for first, _ in told), default=0.0)
    return Job("", tuple(sorted(nodes)), begun, max((last for _, last in told), default=None), ranks=ranks)


def _ranks(outputs: Sequence[JobOutput]) -> dict[int, str]:
    """Return ranks' nodes, by the outputs that tell of most ranks; those on which they disagree are left out."""
    world = max((output.world for output in outputs), default=0)
    told: dict[int, str] = {}
    for output in outputs:
        for rank, node in output.ranks.items() if output.world == world else ():
            if told.setdefault(rank, node) != node:
                told[rank] = ""
    return {rank: node for rank, node in told.items() if node}
