"""Jobs that ended as a node failed, or that leave nodes out, from Slurm's accounting: sacct, as it is set up here."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import structlog

from fleet_runner.core.errors import EvidenceError, SchedulerError
from fleet_runner.core.lemons.signals import Jobs
from fleet_runner.core.parsers import slurm_excluded, slurm_jobs
from fleet_runner.core.printable import printable

SECONDS = 120.0
"""For one question: a month of a busy cluster takes slurmdbd some seconds."""

MOST_BYTES = 200_000_000

KEPT = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT")

Answer = TypeVar("Answer")

log = structlog.get_logger()

ENDED = "COMPLETED,FAILED,TIMEOUT,OUT_OF_MEMORY,NODE_FAIL"


def read(since: float, lately: float, until: float) -> Jobs:
    """Return failures since a moment, and since a later one ends of jobs on one node, and jobs that leave one out.

    SchedulerError where Slurm keeps no accounts, or cannot be asked.
    """
    which, span = ("--duplicates", "--state=NODE_FAIL"), (since, until)
    try:
        failures = _ask(which, slurm_jobs.FAILURES, span, slurm_jobs.failures)
    except SchedulerError as error:
        if "Invalid field" not in str(error):
            raise
        failures = _ask(which, slurm_jobs.FAILURES[:-1], span, slurm_jobs.failures)
    ends = _ask(("--nnodes=1", f"--state={ENDED}"), slurm_jobs.ALONE, (lately, until), slurm_jobs.alone)
    try:
        without = _ask((), slurm_excluded.FIELDS, (lately, until), slurm_excluded.excluded)
    except SchedulerError as error:  # all jobs of a month: the other signals need not go without it
        log.warning("nodes that jobs leave out are no signal of lemons this time", why=str(error))
        without = {}
    return Jobs(failures.jobs, ends, without)


def _ask(
    which: Sequence[str], fields: Sequence[str], span: tuple[float, float], parse: Callable[[Iterable[str]], Answer]
) -> Answer:
    since, until = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S") for at in span)
    argv = (
        "sacct", "--allusers", "--allocations", "--noheader", "--parsable2", *which,
        f"--starttime={since}", f"--endtime={until}", f"--format={','.join(fields)}",
    )  # fmt: skip
    tool = shutil.which(argv[0])
    if tool is None:
        raise SchedulerError("sacct is not on this machine; install Slurm's client commands where the runner runs")
    foreign = ("SLURM_", "SACCT_")
    environment = {key: value for key, value in os.environ.items() if key in KEPT or not key.startswith(foreign)}
    environment |= {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(  # noqa: S603  arguments are ours; no shell
                [tool, *argv[1:]], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=environment,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise SchedulerError(f"sacct did not end in {SECONDS:g} s; is slurmdbd up?") from None
        if done.returncode != 0:
            words = " ".join(printable(done.stderr.decode(errors="replace")).split())[:200]
            raise SchedulerError(f"sacct: {words or 'it said nothing'}; does slurm.conf name a slurmdbd?")
        if out.seek(0, os.SEEK_END) > MOST_BYTES:
            raise SchedulerError(f"sacct printed {out.tell()} bytes, expected at most {MOST_BYTES}")
        out.seek(0)
        try:
            return parse(line.decode(errors="replace") for line in out)
        except EvidenceError as error:
            raise SchedulerError(f"Slurm: {error}") from error
