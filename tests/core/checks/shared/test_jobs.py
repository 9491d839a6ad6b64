"""Of a test that runs on the node: how far it is, and how it ended."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.verdicts import PREEMPTED, Result, Verdict

EXPECTED = Expected("gpu-01")
WAITING = {"working": True, "seconds": 4.0}


def job(state: str, **changed: object) -> Job:
    """Return a job in a state."""
    values = {"state": state, "rc": 0, "elapsed": 3.0, "seconds": 4.0, "output": "x", "reason": ""} | changed
    return Job(**values)  # type: ignore[arg-type]  the tests change one value at a time


def still(of: Job) -> Result:
    """Return the answer about a job that has not ended."""
    found = jobs.unended("mine", of, lambda output: {"said": output})
    assert found is not None
    return found


def test_a_job_that_runs_is_work_and_tells_how_far_it_is() -> None:
    """With what its output tells already."""
    result = still(job("running"))
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "it runs: 3 of 4 s (75%)")
    assert result.observed == {"working": True, "elapsed": 3.0, "seconds": 4.0, "said": "x"}


def test_a_job_without_a_length_has_no_share() -> None:
    """Nothing is divided by it."""
    assert still(job("running", seconds=0.0)).message == "it runs: 3 of 0 s"


@pytest.mark.parametrize(("reason", "message"), [("", "waits for its turn"), ("behind fio", "behind fio")])
def test_a_job_that_waits_is_work(reason: str, message: str) -> None:
    """Its turn comes."""
    result = still(job("waiting", reason=reason))
    assert (result.verdict, result.message, result.observed) == (Verdict.UNKNOWN, message, WAITING)


@pytest.mark.parametrize(("reason", "who"), [("", "a tenant"), ("slurmstepd (7)", "slurmstepd (7)")])
def test_a_job_that_gave_way_is_skipped(reason: str, who: str) -> None:
    """That is no failure."""
    result = still(job("preempted", reason=reason))
    assert (result.verdict, result.message) == (Verdict.SKIPPED, f"it gave way to {who}")
    assert result.observed == {PREEMPTED: True}


def test_a_job_that_could_not_be_asked_for_says_why() -> None:
    """The profile lacks a key."""
    text = '{"state": "refused", "elapsed": 0, "seconds": 0, "reason": %s}'
    for reason, said in (('"no active.fio.seconds"', "no active.fio.seconds"), ('""', "could not be asked for")):
        with pytest.raises(EvidenceError, match=said):
            jobs.read(Reading("x_job", ReadEnd.OK, text % reason))


def test_a_job_that_ended_well_gives_its_output() -> None:
    """And is judged by it."""
    reading = Reading("x_job", ReadEnd.OK, '{"state": "ended", "rc": 0, "elapsed": 3, "seconds": 4, "output": "x"}')
    assert jobs.unended("mine", jobs.read(reading)) is None
    assert jobs.output_of(jobs.read(reading), EXPECTED) == "x"


@pytest.mark.parametrize(
    ("ended", "message"),
    [
        (job("lost"), "gpu-01: it is gone without an end"),
        (job("ended", rc=2), "it exited with 2, last output: x; expected 0"),
        (job("ended", rc=2, output=" "), "it exited with 2; expected 0"),
        (job("ended", rc=124, elapsed=612.0), "it hung: it was ended after 612 s, expected 4"),
        (job("ended", rc=124, elapsed=3.0), "it exited with 124"),
    ],
)
def test_a_job_that_ended_badly_has_no_output_to_judge(ended: Job, message: str) -> None:
    """A tool that failed says nothing about hardware."""
    with pytest.raises(EvidenceError, match=message):
        jobs.output_of(ended, EXPECTED)


def test_what_a_job_printed_can_be_had_whatever_it_exited_with() -> None:
    """Some tools end with an error to say what they found."""
    assert jobs.printed(job("ended", rc=1), EXPECTED) == "x"
    with pytest.raises(EvidenceError, match="gone without an end"):
        jobs.printed(job("lost"), EXPECTED)
