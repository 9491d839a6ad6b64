"""fleet-runner job: why a job died, from its scheduler, its nodes' evidence and what it says itself."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.cli.base.session import ByNode, Exit, errors, print_json, span, split
from fleet_runner.cli.jobs import evidence, screen
from fleet_runner.cli.jobs import logs as log_files
from fleet_runner.cli.jobs.evidence import Nowhere
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.jobs import slow_ranks, slowdown, straggler
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.cause import decide
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.outputs import job_of, placed, said
from fleet_runner.core.jobs.record import Record
from fleet_runner.core.jobs.sentences import CLEAN

JobId = Annotated[str, typer.Argument(metavar="[JOBID]", help="the scheduler's number or NAMESPACE/NAME")]
Nodes = Annotated[list[str] | None, ByNode]
From = Annotated[str, typer.Option("--from", metavar="TIME", help="like 2026-11-28T02:00 (UTC), or 3h: ago")]
To = Annotated[str, typer.Option("--to", metavar="TIME", help="likewise; default: now")]
Log = Annotated[
    list[Path] | None,
    typer.Option(
        "--log", "-l", metavar="FILE", help="its output, kernel logs, dumps, times; a folder; - for standard input"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


def job(
    job_id: JobId = "", *, nodes: Nodes = None, from_: From = "", to: To = "", log: Log = None, json: Json = False
) -> None:
    """Find out why a job died: hardware, fabric, storage, software, or not known; or who slows it. Changes nothing.

    Asks the scheduler for the job (`job 4711`), takes nodes and times (`job --node gpu-07 --from 3h`), or reads files
    alone (`job --log slurm-4711.out --log dumps/`): what NCCL, PyTorch, Slurm and MPI write, logs of its nodes, dumps
    of PyTorch's flight recorder. The store adds what it knows of the nodes in that time, and keeps the answer.

    Exit code 0: the job's program, or it ended well; 1: hardware, fabric or storage; 3: it is not known.
    """
    now = time.time()
    if not (job_id or nodes or log):
        raise FleetError("no job is named; expected a job's id, or --node with --from, or --log with its output")
    if job_id and (nodes or from_ or to):
        raise FleetError("the scheduler tells the nodes and times of a job; leave --node, --from and --to out")
    given = _by_hand(split(nodes or ()), from_, to, now)
    with evidence.opened(needed=bool(job_id or (given and given.nodes))) as known:
        record = known.record(job_id) if given is None else Record(given)
        answer = answered(record, log or [], known, now)
        known.keep(answer, now)
    if json:
        print_json(answer.to_json())
    else:
        screen.show(answer)
    if answer.area in {Area.HARDWARE, Area.FABRIC, Area.STORAGE}:
        raise typer.Exit(Exit.NO)
    if answer.area is Area.UNKNOWN and answer.job.state not in CLEAN:
        raise typer.Exit(Exit.TROUBLE)


def _by_hand(nodes: list[str], from_: str, to: str, now: float) -> Job | None:
    """Return the job that nodes and times describe, None where there are none; FleetError for impossible times."""
    if not nodes and not from_ and not to:
        return None
    if not from_:
        raise FleetError("it is not told when the work began; expected --from, such as --from 3h")
    begun, ended = _moment(from_, now), _moment(to, now) if to else now
    if ended <= begun:
        raise FleetError(f"--to {to} is not after --from {from_}")
    return Job("", tuple(nodes), begun, ended)


def _moment(text: str, now: float) -> float:
    try:
        told = datetime.fromisoformat(text)
    except ValueError:
        return now - span(text)
    return (told if told.tzinfo is not None else told.replace(tzinfo=UTC)).timestamp()


def answered(record: Record, paths: list[Path], known: Nowhere, now: float) -> Answer:
    """Return why a job ended, from its scheduler's record, files, and what else is known of its nodes."""
    logs = log_files.read(paths, record.job.ended or now)
    for sentence in logs.unusable:
        errors.print(printable(f"warning: {sentence}"), markup=False, soft_wrap=True)
    job = record.job
    if not job.nodes:
        found = job_of(logs.outputs, evidence.of_logs(logs, job))
        job = replace(found, begun=job.begun, ended=job.ended) if job.begun else found
    job = placed(job, logs.outputs)
    told = said(job, logs.outputs, timed=bool(record.job.begun))
    events, reach = known.about(job)
    reach = replace(reach, progress=told.progress, unsure=(*record.notes, *told.unsure, *reach.unsure))
    answer = decide(job, (*record.events, *events, *told.events, *evidence.of_logs(logs, job)), reach)
    if answer.origin is not None:
        return answer
    ranks = slow_ranks.compare(logs.times, job, told.ahead)
    speed = slowdown.Evidence(straggler.find(logs.dumps), ranks, known.compared(job))
    return slowdown.answered(answer, speed)
