"""What the checks over jobs share: one that has not ended has no answer yet, and says how far it is."""

from collections.abc import Callable, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import text_of
from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.parsers import job as parser
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.verdicts import PREEMPTED, Result, Verdict


def unended(name: str, job: Job, partial: Callable[[str], Mapping[str, Any]] = lambda _: {}) -> Result | None:
    """Return the answer about a job that has not ended by itself; None for one that has.

    `partial` reads from the output so far what can be told already ({"gflops": [...]}); it must never raise.
    """
    if job.state == "waiting":
        observed = {"working": True, "seconds": job.seconds}
        return Result(name, Verdict.UNKNOWN, job.reason or "waits for its turn", observed=observed)
    if job.state == "running":
        share = min(1.0, job.elapsed / job.seconds) if job.seconds else None
        percent = f" ({share:.0%})" if share is not None else ""
        observed = {"working": True, "elapsed": job.elapsed, "seconds": job.seconds, **partial(job.output)}
        message = f"it runs: {job.elapsed:.0f} of {job.seconds:.0f} s{percent}"
        return Result(name, Verdict.UNKNOWN, message, observed=observed)
    if job.state == "preempted":
        observed = {PREEMPTED: True}
        return Result(name, Verdict.SKIPPED, f"it gave way to {job.reason or 'a tenant'}", observed=observed)
    return None


def read(reading: Reading) -> Job:
    """Read a job's state from what the role brought; EvidenceError for one that could not be asked for."""
    job = parser.parse(text_of(reading))
    if job.state == "refused":
        raise EvidenceError(job.reason or "the job could not be asked for")
    return job


def printed(job: Job, expected: Expected) -> str:
    """Return what a job printed, whatever it exited with; EvidenceError for one that is lost.

    For tools that end with an error to say what they found. Who uses this looks at `failed` as well.
    """
    if job.state == "lost":
        raise EvidenceError(
            f"{expected.node}: it is gone without an end; {job.reason or 'did the node reboot?'} Start"
            f" it again: fleet-runner retry {expected.node}"
        )
    return job.output


def output_of(job: Job, expected: Expected) -> str:
    """Return what a job printed that ended well; EvidenceError for one that is lost or failed."""
    output = printed(job, expected)
    if job.rc:
        raise EvidenceError(failed(job))
    return output


def failed(job: Job) -> str:
    """Say how a job failed: its exit status and its last word."""
    if job.rc == OVERDUE and job.elapsed > job.seconds:
        return f"it hung: it was ended after {job.elapsed:.0f} s, expected {job.seconds:.0f}; look at the kernel log"
    lines = job.output.strip().splitlines()
    last = f", last output: {lines[-1]:.200}" if lines else ""
    return f"it exited with {job.rc}{last}; expected 0"


OVERDUE = 124
"""What a job exits with that had to be ended after its limit, as with timeout(1)."""
