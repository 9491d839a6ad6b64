"""Jobs that ended as a node failed, or that leave nodes out, from Slurm's accounting: sacct, as it is set up here."""

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import structlog

from fleet_runner.adapters.schedulers import sacct
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.checks.parsers import slurm_excluded, slurm_jobs
from fleet_runner.core.reliability.lemons.signals import Job, Jobs
from fleet_runner.core.reliability.parts.failures import DAY

Answer = TypeVar("Answer")

log = structlog.get_logger()

NO_LINE = "Slurm reports no command line of jobs (SubmitLine, 21.08 or later)"

ENDED = "COMPLETED,FAILED,TIMEOUT,OUT_OF_MEMORY,NODE_FAIL"


OLDER = 30 * DAY
"""Seconds of the past that are asked for at a time, as many as there are between two moments of its proof."""

PATIENCE = 300.0
"""Seconds after which no older jobs are asked for."""

NOT_PROVEN = "older jobs are not in the proof of the lemons this time"

Span = tuple[float, float]


def read(since: float, lately: float, until: float) -> Jobs:
    """Return failures, ends of jobs on one node and jobs that leave a node out, since a moment.

    What happened before `lately` is only for the proof: where Slurm does not tell it in time, it goes without.
    SchedulerError where Slurm keeps no accounts, or cannot be asked.
    """
    failures = _failures((since, until))
    alone, without = defaultdict[str, "array[float]"](lambda: array("d")), defaultdict[str, dict[str, float]](dict)
    unsaid, begun = "", time.monotonic()
    for span in _spans(since, lately, until):
        late = span[1] >= until
        if not late and time.monotonic() - begun > PATIENCE:
            log.warning(NOT_PROVEN, why=f"what Slurm was asked before took more than {PATIENCE:g} s")
            break
        try:
            _take_alone(alone, span)
        except SchedulerError as error:
            if late:
                raise
            log.warning(NOT_PROVEN, why=str(error))
            break
        unsaid = unsaid or _take_without(without, span, late=late)
    told = {} if unsaid else {name: array("d", jobs.values()) for name, jobs in without.items()}
    return Jobs(failures, alone, told, unsaid)


def _failures(span: Span) -> tuple[Job, ...]:
    which = ("--duplicates", "--state=NODE_FAIL")
    try:
        return _ask(which, slurm_jobs.FAILURES, span, slurm_jobs.failures).jobs
    except SchedulerError as error:
        if "Invalid field" not in str(error):
            raise
        return _ask(which, slurm_jobs.FAILURES[:-1], span, slurm_jobs.failures).jobs


def _spans(since: float, lately: float, until: float) -> Iterator[Span]:
    """Yield what to ask for at a time, the newest first; borders are whole seconds, as Slurm's are."""
    yield int(lately), until
    while lately > since:
        yield int(max(since, lately - OLDER)), int(lately)
        lately -= OLDER


def _take_alone(found: "dict[str, array[float]]", span: Span) -> None:
    """Add ends of jobs on one node; Slurm also tells jobs that only ran in a span, and ended later."""
    for node, ends in _ask(("--nnodes=1", f"--state={ENDED}"), slurm_jobs.ALONE, span, slurm_jobs.alone).items():
        if mine := [at for at in ends if span[0] <= at < span[1]]:
            found[node].extend(mine)


def _take_without(found: dict[str, dict[str, float]], span: Span, *, late: bool) -> str:
    """Add jobs that leave nodes out, each once; return why nobody tells of them lately, "" where somebody does."""
    try:
        told = _ask((), slurm_excluded.FIELDS, span, slurm_excluded.excluded)
    except SchedulerError as error:  # all jobs of a month: the other signals need not go without it
        log.warning("nodes that jobs leave out are no signal of lemons this time", why=str(error))
        return (NO_LINE if "Invalid field" in str(error) else str(error)) if late else ""
    for node, jobs in told.nodes.items():
        found[node].update(jobs)
    return NO_LINE if late and not told.told else ""


def _ask(which: Sequence[str], fields: Sequence[str], span: Span, parse: Callable[[Iterable[str]], Answer]) -> Answer:
    since, until = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S") for at in span)
    return sacct.ask(("--allocations", *which, f"--starttime={since}", f"--endtime={until}"), fields, parse)
