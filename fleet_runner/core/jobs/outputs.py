"""All that a job says itself, from every file that was given: whose rank is where, and what happened when."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.clocks import shifted, zone_of
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.output import SOURCE, JobOutput, Wait, behind


def placed(job: Job, outputs: Sequence[JobOutput]) -> Job:
    """Return the job with the ranks' nodes that its output tells; what its scheduler told stays."""
    told = {rank: node for output in outputs for rank, node in output.ranks.items()}
    known = {_short(node): node for node in job.nodes}
    return replace(job, ranks={rank: known.get(_short(node), node) for rank, node in told.items()} | dict(job.ranks))


def said(job: Job, outputs: Sequence[JobOutput]) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """Return the events of all outputs, at their true times, and what is unsure; `job` is as `placed` made it."""
    found: list[Event] = []
    unsure: list[str] = []
    waits: dict[int, Wait] = {}
    for output in outputs:
        events = output.end(job.ended)
        ahead = 0 if output.zoned else zone_of((each.at for each in events if each.at is not None), job)
        if ahead:
            unsure.append(
                f"{output.label} tells no time zone; its clock is taken as UTC{ahead / 3600:+g} h, because then it"
                " ends when the job did"
            )
        found += shifted(events, ahead)
        for rank, wait in output.waits.items():
            waits.setdefault(rank, wait if wait.since is None else wait._replace(since=wait.since - ahead))
    found += _behind(waits)
    known = {_short(node): node for node in job.nodes}
    return tuple(_on_node(each, job, known) for each in found), tuple(unsure)


def _behind(waits: dict[int, Wait]) -> Iterator[Event]:
    since = min((each.since for each in waits.values() if each.since is not None), default=None)
    for rank, message in behind(waits):
        yield Event(since, Area.UNKNOWN, Role.SYMPTOM, complaints.BEHIND, message, rank=rank, source=SOURCE)
    by_number: dict[int, set[str]] = {}
    for each in waits.values():
        by_number.setdefault(each.number, set()).add(each.operation)
    for number, operations in sorted(by_number.items()):
        if len(operations) > 1:
            message = f"ranks called different collectives as number {number}: {', '.join(sorted(operations))}"
            yield Event(
                since, Area.SOFTWARE, Role.CAUSE, complaints.MISMATCH, message, component=f"collective {number}",
                source=SOURCE,
            )  # fmt: skip


def _on_node(event: Event, job: Job, known: dict[str, str]) -> Event:
    """Return an event with its node's full name, and with the node of its rank where only that is told."""
    node = event.node or (job.ranks.get(event.rank, "") if event.rank is not None else "")
    return replace(event, node=known.get(_short(node), node))


def _short(node: str) -> str:
    return node.partition(".")[0].lower()
