"""A tenant's jobs: those on their own nodes alone, in words that name nobody else."""

from dataclasses import replace

import pytest

from fleet_runner.core.access.tenant_jobs import SAID, jobs
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.jobs.cause import decide
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.kept import KeptAnswer, kept
from fleet_runner.core.jobs.kinds import meaning
from fleet_runner.core.jobs.known import Known, Seen, events
from tests.making import an_alarm

JOB = Job("4711", ("gpu-01", "gpu-02"), 1_000.0, 5_000.0, "slurm", state="FAILED")
FELL_OFF = Event(
    4_900.0,
    Area.HARDWARE,
    Role.CAUSE,
    "xid.79",
    "gpu-77 of Globex",
    "gpu-01",
    component="GPU 3",
    line="secret of others",
)


def answer(job: Job, *events: Event) -> KeptAnswer:
    """Return a kept answer."""
    return kept(decide(job, events), 6_000.0, "alice")


def test_a_finding_is_told_by_its_kind_alone() -> None:
    """Its own words may name others."""
    (told,) = jobs([answer(JOB, FELL_OFF)], {"gpu-01", "gpu-02", "gpu-03"})
    assert (told.job, told.ended, told.word, told.where) == ("4711", 5_000.0, "hardware", "gpu-01")
    assert told.sentence == SAID[Area.HARDWARE][1]
    assert told.what == "Xid 79, the GPU has fallen off the bus"
    assert "Globex" not in repr(told)
    assert "secret" not in repr(told)


def test_what_the_job_said_itself_is_told() -> None:
    """It is the tenant's own output; a switch is nobody's node."""
    bug = Event(4_900.0, Area.SOFTWARE, Role.CAUSE, "job.exception", "the program ended with KeyError", "leaf-1")
    (told,) = jobs([answer(JOB, bug)], JOB.nodes)
    assert (told.word, told.what, told.where) == ("software", "the program ended with KeyError", "")
    (nothing,) = jobs([answer(JOB)], JOB.nodes)
    assert (nothing.word, nothing.what, nothing.where) == ("not known", "", "")


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("code", ["job.exception", "job.killed", "job.", "xid.79", "fan.noisy"])
def test_what_a_signal_says_is_not_told_whatever_it_is_called(code: str, source: Source) -> None:
    """An operator may push one with the code of a job's own word; its texts are for operators."""
    secret = "Globex on gpu-77"
    alarm = an_alarm(code=code, node="gpu-01", component=secret, message=secret, source=source, first_at=4_900.0,
                     last_at=4_900.0, remedy=Remedy.TRIAGE, fault=f"gpu-01/{code}/{secret}")  # fmt: skip
    (event,) = events(Known(1_000.0, 5_000.0, alarms=(alarm,)))
    (told,) = jobs([answer(JOB, replace(event, role=Role.CAUSE))], JOB.nodes)
    assert told.what == meaning(code)
    assert "Globex" not in repr(told)


def test_what_a_check_found_is_told_by_its_kind_alone() -> None:
    """As if a check had such a code."""
    seen = Seen("gpu-01", "own", "job.exception", "Globex", "Globex", Remedy.TRIAGE, 4_900.0)
    (event,) = events(Known(1_000.0, 5_000.0, seen=(seen,)))
    (told,) = jobs([answer(JOB, replace(event, role=Role.CAUSE))], JOB.nodes)
    assert "Globex" not in repr(told)


@pytest.mark.parametrize(
    ("job", "mine"),
    [
        (JOB, {"gpu-01"}),
        (JOB, set[str]()),
        (replace(JOB, nodes=()), {"gpu-01"}),
        (replace(JOB, id=""), {"gpu-01", "gpu-02"}),
        (replace(JOB, ended=None), {"gpu-01", "gpu-02"}),
    ],
)
def test_others_jobs_are_not_told(job: Job, mine: set[str]) -> None:
    """A job that had one node of somebody else's is not this tenant's to read about; one that runs has not died."""
    assert list(jobs([answer(job, FELL_OFF)], mine)) == []
