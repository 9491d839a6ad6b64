"""What launchers, shells and libraries write of an end, as they write it."""

import pytest

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.cause import decide
from fleet_runner.core.jobs.event import Area, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.output import JobOutput
from fleet_runner.core.jobs.outputs import placed, said
from tests.core.jobs.test_output import at, only, read, watchdog

HEAD = 'Traceback (most recent call last):\n  File "a.py", line 1\n'


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (" [2026-11-28 02:10:01] iteration 100/ 1000 | lm loss: 2.1E+00 |", "2026-11-28 02:10:01"),
        ("11/28/2026 02:10:01 - INFO - __main__ - step 4", "2026-11-28 02:10:01"),
        ("2026/11/28 02:10:01 step 4", "2026-11-28 02:10:01"),
        ("INFO 2026-11-28 02:10:01 step 4", "2026-11-28 02:10:01"),
        ("[NeMo I 2026-11-28 02:10:01 trainer:12] step 4", "2026-11-28 02:10:01"),
        ("[rank3]:[W718 02:10:01.500000000 x.cpp:1] step 4", "2026-07-18 02:10:01.5"),
        ("W0718 02:10:01.500000 4711 torch/distributed/run.py:793] step 4", "2026-07-18 02:10:01.5"),
    ],
)
def test_times_of_frameworks(line: str, told: str) -> None:
    """PyTorch's C++ part writes the month without a zero; Megatron a space first; others their level."""
    output = JobOutput("job.log", 2026)
    output.feed(line)
    assert output.progress == at(told)


def test_a_traceback_that_rich_drew() -> None:
    """Frames in boxes, then the exception."""
    text = (
        "╭──────────── Traceback (most recent call last) ────────────╮\n"
        "│ /train/train.py:211 in <module>                           │\n"
        "╰───────────────────────────────────────────────────────────╯\n"
        "ValueError: bad shard\n"
    )
    assert only(text, 5.0).message == "the program ended with ValueError: bad shard"


def test_what_other_processes_tell_is_said_by_the_first_of_them() -> None:
    """Ray, torch.multiprocessing and a loader of data repeat the exception of another process."""
    ray = f"{HEAD}ray.exceptions.RayTaskError(ValueError): ray::train() (pid=4711)\n  File 'b.py'\nValueError: bad\n"
    spawn = f"{HEAD}torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 3:\n{HEAD}ValueError: bad\n"
    for text in (ray, spawn):
        assert only(text, 5.0).message == "the program ended with ValueError: bad"
    loader = f"{HEAD}OSError: Caught OSError in DataLoader worker process 3.\nOriginal {HEAD}OSError: [Errno 5] x\n"
    assert only(loader, 5.0).area is Area.STORAGE


@pytest.mark.parametrize(
    ("text", "code", "role"),
    [
        ("/job/run.sh: line 20: 12345 Killed                  python train.py", "job.killed", Role.SYMPTOM),
        ("/job/run.sh: line 20: 12345 Segmentation fault      (core dumped) x", "job.signal_11", Role.CAUSE),
        ("Fatal Python error: Segmentation fault", "job.signal_11", Role.CAUSE),
        ("  what():  std::bad_alloc", "job.host_memory", Role.CAUSE),
        (f"{HEAD}ray.exceptions.OutOfMemoryError: Task was killed: the node was running low on memory.",
         "job.host_memory", Role.CAUSE),
        (f"{HEAD}ray.exceptions.ActorDiedError: The actor died unexpectedly", "job.peer_lost", Role.SYMPTOM),
        (f"{HEAD}RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. ", "job.killed",
         Role.SYMPTOM),
        ("  Process name: [[1234,1],3]", "job.ended", Role.SYMPTOM),
        ("  Process name: [prterun-gpu-07-4711@1,3]", "job.ended", Role.SYMPTOM),
        ("slurmstepd: error: *** STEP 4711.0 ON gpu-06 CANCELLED AT 2026-11-28T02:10:44 ***", "job.step_ended",
         Role.CONTEXT),
    ],
)  # fmt: skip
def test_words_of_an_end(text: str, code: str, role: Role) -> None:
    """A process that was killed says nothing of why."""
    event = only(text, 5.0)
    assert (event.code, event.role) == (code, role)
    if "Process name" in text:
        assert event.rank == 3


STOPPED = (
    "2026-11-28 02:59:00 step 4711\n"
    "slurmstepd: error: *** JOB 4711 ON gpu-06 CANCELLED AT 2026-11-28T02:59:44{} ***\n"
    "srun: error: gpu-06: task 0: Killed\n"
)


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (" DUE TO TIME LIMIT", "reached its time limit"),
        (" DUE TO PREEMPTION", "gave way to another job"),
        ("", "was cancelled"),
    ],
)
def test_a_job_that_was_stopped_is_told_by_its_output_alone(why: str, told: str) -> None:
    """A process that ends then was stopped with it, and is no place to look at."""
    answer = decide(Job("", ("gpu-06",), 0.0), read(STOPPED.format(why)))
    assert answer.sentence == f"Not known: it {told}, and nothing is known that went wrong before."
    assert answer.todo[0].startswith("see whether it still made steps")


def test_a_process_that_was_killed_long_before_the_job_was_stopped_is_looked_at() -> None:
    """The others hung until the limit."""
    early = "2026-11-28 01:00:00 srun: error: gpu-07: task 9: Killed\n"
    answer = decide(Job("", ("gpu-07",), 0.0), read(early + STOPPED.format(" DUE TO TIME LIMIT")))
    assert answer.look_at == ("rank 9 on gpu-07",)


def test_what_is_known_first_is_told_where_no_place_is() -> None:
    """A shell does not say which rank it was."""
    answer = decide(Job("", (), 0.0), read("/job/run.sh: line 20: 12345 Killed   python train.py"))
    assert "The first that is known: a process ended by SIGKILL" in answer.sentence
    (waited,) = read(watchdog(2))
    assert (
        "The first that is known: rank 2, collective 1204: it waited" in decide(Job("", (), 0.0), [waited]).sentence
    )


def test_ranks_of_smaller_groups_are_not_the_jobs() -> None:
    """Rank 1 of a pair that computes together is another one in the whole job."""
    line = "gpu-0{}:1:2 [0] NCCL INFO comm 0x1 rank {} nranks {} cudaDev 0\n"
    output = JobOutput("job.log", 2026)
    output.feed(line.format(1, 1, 2) + line.format(4, 1, 8) + line.format(5, 2, 8) + line.format(7, 3, 2))
    assert output.ranks == {1: "gpu-04", 2: "gpu-05"}
    job = Job("", (), 0.0)
    other = JobOutput("other.log", 2026)
    other.feed(line.format(6, 2, 8) + line.format(6, 3, 8) + line.format(5, 3, 8))
    assert placed(job, [output, other]).ranks == {1: "gpu-04"}
    small = JobOutput("small.log", 2026)
    small.feed(line.format(9, 5, 6))
    assert placed(job, [output, small]).ranks == {1: "gpu-04", 2: "gpu-05"}


def test_ranks_of_two_process_groups_are_not_compared() -> None:
    """The same number is another collective in another group; who is missing is known of the whole job's alone."""
    named = "[rank{0}]:[E1128 02:20:05 x.cpp:1] [PG ID {1} PG GUID 3(tp) Rank {0}] Exception "
    named += "(either an error or timeout) detected by watchdog at work: 1204, last enqueued: 1204"
    text = "\n".join((watchdog(0), named.format(0, 1), watchdog(2, 1204, "ALLGATHER"), named.format(2, 2)))
    output = JobOutput("job.log", 2026)
    output.feed(
        f"{text}\n{named.format(0, 7)}\n{named.format(5, 7)}\n[PG ID 1 PG GUID 3(tp) Rank 9] Exception x at work: 3"
    )
    told = said(Job("", (), 0.0), [output]).events
    assert {each.code for each in told} == {complaints.TIMEOUT}
    assert {wait.group for wait in output.waits.values()} == {"1", "2"}
