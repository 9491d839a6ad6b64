"""What a program survived is no cause: an error that it handled, a run before a restart, warnings of a start."""

import pytest

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.cause import Reach, decide
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.lines import Line
from fleet_runner.core.jobs.output import JobOutput
from fleet_runner.core.jobs.outputs import job_of, said
from fleet_runner.core.jobs.steps import SURVIVED, Steps
from tests.core.jobs.test_output import at, read, watchdog

FULL = 'Traceback (most recent call last):\n  File "a.py", line 1\ntorch.OutOfMemoryError: CUDA out of memory.\n'
BEGUN = at("2026-11-28 02:00:00")
BUG = "Traceback (most recent call last):\n  File \"a.py\", line 9\nKeyError: 'tokens'\n"


def steps(first: int, last: int) -> str:
    """Return lines of steps without times."""
    return "".join(f"step {number} loss 2.{number}\n" for number in range(first, last))


def timed(hour: int, first: int = 0) -> str:
    """Return an hour of steps, one a minute."""
    return "".join(f"2026-11-28 {hour:02}:{minute:02}:00,120 step {first + minute}\n" for minute in range(60))


def causes(text: str) -> list[str]:
    """Return the codes of what may have ended it."""
    return [each.code for each in read(text) if each.role is Role.CAUSE]


def test_an_error_that_the_program_went_on_after_is_no_cause() -> None:
    """It asked for less memory, and made steps."""
    assert causes(f"{steps(0, 5)}{FULL}{steps(5, 5 + SURVIVED)}") == []
    assert causes(f"{steps(0, 5)}{FULL}{steps(5, 4 + SURVIVED)}") == ["job.gpu_memory"]
    assert causes(f"{FULL}{steps(0, 90)}{BUG}") == ["job.exception"]
    (event,) = read(f"{BUG}{steps(0, 90)}")
    assert (event.role, event.message) == (Role.CONTEXT, "the program went on after KeyError: 'tokens'")


def test_steps_that_ranks_tell_of_in_turn_are_one() -> None:
    """64 ranks say that they are at the same step, while one has failed."""
    same = "".join(f"step {4100 + rank % 2} loss 2.{rank}\n" for rank in range(64))
    assert causes(f"{FULL}{same}") == ["job.gpu_memory"]
    assert causes(f"{FULL}{'loss 2.1' * 3}\n" * 20) == ["job.gpu_memory"]


def test_a_bar_of_progress_counts() -> None:
    """It writes over itself, without the end of a line."""
    bar = "\r".join(f"train: {number}%|##| {number}/100 [00:{number:02}<00:10, 4.9it/s]" for number in range(30))
    assert causes(f"{BUG}{bar}") == []
    assert causes(f"{'train: 1/9 [00:00' * 900}\r{BUG}") == ["job.exception"]


def test_the_same_error_later_is_told_with_its_own_time() -> None:
    """The first was survived by hours, so the last one ended it."""
    output = JobOutput("job.log", 2026)
    output.feed(f"{timed(1)}{FULL}{timed(2)}{FULL}")
    (event,) = output.end(at("2026-11-28 02:59:30"))
    assert event.at == at("2026-11-28 02:59:30")
    assert output.survived == 1
    job = Job("", ("gpu-07",), at("2026-11-28 01:00:00"), at("2026-11-28 02:59:30"))
    assert said(job, [output]).unsure == (
        "job.log tells of 1 error that the program went on after: what came later counts",
    )


def test_a_restart_in_one_output_is_told_by_its_second_end() -> None:
    """Ranks that waited before the first end are not those of the second."""
    first = "\n".join(watchdog(rank, 77) for rank in (0, 1, 3)).replace("02:20:04", "00:20:04")
    output = JobOutput("job.log", 2026)
    output.feed(f"{first}\n{timed(1)}{watchdog(1)}\n{watchdog(2)}\n")
    output.feed("2026-11-28 02:20:05 srun: error: gpu-07: task 1: Killed")
    output.end()
    assert {wait.number for wait in output.waits.values()} == {1204}
    assert set(output.waits) == {1, 2}


@pytest.mark.parametrize("head", ["Exception ignored in: <function _X.__del__>\n", "--- Logging error ---\n"])
def test_what_python_says_it_handled_is_nothing(head: str) -> None:
    """At the end of a process that did its work."""
    assert causes(f"{head}{BUG}") == []
    assert causes(f"{head}{BUG}{BUG}") == ["job.exception"]


@pytest.mark.parametrize(
    "words",
    [
        "NET/Plugin : Failed to find a plugin",
        "MSCCL++: Cannot find library",
        "NUMA auto balancing enabled which can lead to variability in the NCCL performance",
    ],
)
def test_what_nccl_goes_on_without_is_nothing(words: str) -> None:
    """It warns of it whenever it starts."""
    assert read(f"gpu-07:4711:4790 [0] init.cc:12 NCCL WARN {words}") == ()


def test_a_warning_of_the_start_does_not_hide_what_ended_the_job() -> None:
    """Neither one whose words are not known, nor a symptom that was followed by steps."""
    job = Job("4711", ("gpu-07",), BEGUN, BEGUN + 2400)
    bug = Event(BEGUN + 2400, Area.SOFTWARE, Role.CAUSE, complaints.EXCEPTION, "KeyError")
    strange = Event(BEGUN + 1, Area.UNKNOWN, Role.SYMPTOM, complaints.NCCL, "NCCL gave a warning")
    lost = Event(BEGUN + 1, Area.UNKNOWN, Role.SYMPTOM, complaints.PEER, "a rank lost the connection")
    for early, progress in ((strange, None), (lost, BEGUN + 2390)):
        output = decide(job, (early, bug), Reach(progress=progress))
        assert output.origin == bug
    assert decide(job, (lost, bug), Reach(progress=BEGUN + 2390)).symptom is None


def test_a_traceback_at_the_end_of_a_file_makes_it_one_of_use() -> None:
    """Before it is known to be over; so does torchrun's report."""
    output = JobOutput("rank_3.log", 2026)
    output.feed('Traceback (most recent call last):\n  File "a.py", line 9\n')
    assert not output.known
    output.feed("KeyError: 'tokens'")
    assert output.known
    output = JobOutput("job.log", 2026)
    output.feed("Root Cause (first observed failure):\n  exitcode  : -9 (pid: 4711)")
    assert output.known


def test_nodes_that_an_output_names_are_the_jobs() -> None:
    """So that a new start can leave one out."""
    output = JobOutput("job.log", 2026)
    output.feed("srun: error: gpu-07: task 1: Killed\nsrun: error: gpu-08.cluster: task 2: Killed\n")
    on_node = Event(None, Area.HARDWARE, Role.CAUSE, "xid.79", "gone", "gpu-08")
    assert job_of([output], [on_node]).nodes == ("gpu-07", "gpu-08")


def test_steps_tell_when_the_last_one_was() -> None:
    """An untimed one after it says nothing new of that."""
    told = Steps()
    told.take(Line("step 1", at=5.0))
    told.take(Line("step 2"))
    told.take(Line("nothing"))
    assert (told.made, told.at) == (2, 5.0)
