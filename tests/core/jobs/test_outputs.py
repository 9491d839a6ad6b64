"""All that a job says itself, from several files: ranks on nodes, clocks in other zones, who held others up."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.clocks import zone_of
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.output import JobOutput
from fleet_runner.core.jobs.outputs import job_of, placed, said
from tests.core.jobs.test_output import at, watchdog

BEGUN, ENDED = at("2026-11-28 00:00:00"), at("2026-11-28 02:20:10")
JOB = Job("4711", ("gpu-07.example.net", "gpu-08.example.net"), BEGUN, ENDED)


def outputs(*texts: str) -> list[JobOutput]:
    """Return read outputs."""
    found = [JobOutput(f"log {number}", 2026) for number, _ in enumerate(texts)]
    for output, text in zip(found, texts, strict=True):
        output.feed(text)
    return found


def test_ranks_get_their_nodes_full_names() -> None:
    """NCCL writes short names; what the scheduler says of a rank stays."""
    read = outputs(
        "GPU-07:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 - Init COMPLETE\n",
        f"other:1:2 [0] NCCL INFO comm 0x1 rank 1 nranks 2 cudaDev 0\n{watchdog(0)}",
    )
    job = placed(replace(JOB, ranks={1: "gpu-08.example.net"}), read)
    assert job.ranks == {0: "gpu-07.example.net", 1: "gpu-08.example.net"}
    events, _, unsure, _ = said(job, read)
    assert [(each.node, each.rank) for each in events] == [("gpu-07.example.net", 0)]
    assert unsure == ()


def test_who_held_others_up_is_an_event_of_the_moment_the_waiting_began() -> None:
    """A rank without a timeout, or one in an earlier collective."""
    events, *_ = said(JOB, outputs("\n".join(watchdog(rank) for rank in (0, 1, 3))))
    (late,) = [each for each in events if each.code == complaints.BEHIND]
    assert (late.rank, late.role, late.at) == (2, Role.SYMPTOM, at("2026-11-28 02:10:04.5"))


def test_ranks_that_called_different_collectives_are_the_programs_mistake() -> None:
    """No hardware turns an all-reduce into an all-gather."""
    events, *_ = said(JOB, outputs("\n".join((watchdog(0), watchdog(1, 1204, "ALLGATHER")))))
    (apart,) = [each for each in events if each.code == complaints.MISMATCH]
    assert (apart.area, apart.role, apart.component) == (Area.SOFTWARE, Role.CAUSE, "collective 1204")
    assert apart.message == "ranks called different collectives as number 1204: ALLGATHER, ALLREDUCE"


def test_ranks_that_gave_different_sizes_are_the_programs_mistake() -> None:
    """Where an operation takes the same from all; an all-to-all may differ."""
    other = watchdog(1).replace("NumelIn=1", "NumelIn=2")
    (apart,) = [each for each in said(JOB, outputs(f"{watchdog(0)}\n{other}")).events if each.role is Role.CAUSE]
    assert apart.message == "ranks gave different sizes to ALLREDUCE 1204: 1 in, 1 out; 2 in, 1 out"
    uneven = f"{watchdog(0)}\n{other}".replace("ALLREDUCE", "ALLTOALL")
    assert not [each for each in said(JOB, outputs(uneven)).events if each.role is Role.CAUSE]


def test_local_time_is_brought_to_the_jobs_own() -> None:
    """An output that ends two hours after its job was written two hours east of UTC; one with a zone is left."""
    text = "2026-11-28 03:00:00 step 1\n2026-11-28 04:20:04 srun: error: gpu-07: task 1: Killed\n"
    events, _, unsure, ahead = said(
        JOB, outputs(text, f"{watchdog(0)}\nno time: srun: error: gpu-08: task 2: Killed")
    )
    assert [each.at for each in events if each.code == complaints.KILLED] == [at("2026-11-28 02:20:04"), ENDED]
    assert said(JOB, outputs(text)).progress == at("2026-11-28 01:00:00")
    assert unsure == (
        "log 0 tells no time zone; its clock is taken as UTC+2 h, because then it ends when the job did",
    )
    assert ahead == {"log 0": 7_200, "log 1": 0}
    events, _, unsure, ahead = said(JOB, outputs(text.replace("04:20:04", "04:20:04+02:00")))
    assert [each.at for each in events] == [at("2026-11-28 02:20:04")]
    assert (unsure, ahead) == ((), {"log 0": 0})
    assert said(replace(JOB, ended=None), outputs(text)).ahead == {}


def test_clocks_that_fit_no_zone_are_left() -> None:
    """Nothing is shifted for a job that runs, for times within it, and where no zone brings the end to the end."""
    assert zone_of(BEGUN, BEGUN + 90_000, replace(JOB, ended=None)) == 0
    assert zone_of(BEGUN, ENDED, JOB) == 0
    assert zone_of(ENDED - 5 * 3600, ENDED - 5 * 3600, JOB) == -5 * 3600
    assert zone_of(BEGUN + 30, ENDED - 3600, JOB) == -3600
    assert zone_of(BEGUN + 30, ENDED - 3500, JOB) == 0
    assert zone_of(ENDED + 20_700 - 60, ENDED + 20_700, JOB) == 20_700
    assert zone_of(ENDED + 20 * 3600, ENDED + 20 * 3600, JOB) == 0
    assert zone_of(BEGUN - 9000, ENDED + 7200, JOB) == 0


def test_waits_without_times_have_none() -> None:
    """A watchdog's line whose time was cut off."""
    cut = watchdog(0).partition("] ")[2]
    read = outputs(f"{cut}\n{cut.replace('[Rank 0]', '[Rank 2]')}\n{cut.replace('[Rank 0]', '[Rank 3]')}")
    events, *_ = said(replace(JOB, ended=None), read)
    assert {each.at for each in events} == {None}


def test_logs_alone_describe_a_job() -> None:
    """Its nodes are those of its ranks and of what happened; logs that say nothing of it tell no time of it."""
    read = outputs(
        "2026-11-28 00:10:00 step 1\ngpu-07:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0\n",
        "2026-11-20 00:00:00 boot\n",
    )
    on_node = Event(None, Area.HARDWARE, Role.CAUSE, "xid.79", "gone", "gpu-09")
    job = job_of(read, (on_node, replace(on_node, node="")))
    assert (job.nodes, job.begun, job.ended) == (
        ("gpu-07", "gpu-09"),
        at("2026-11-28 00:10:00"),
        at("2026-11-28 00:10:00"),
    )
    assert said(job, read[:1], timed=False).unsure == (
        "log 0 tells no time zone, so UTC is assumed; --from and --to (in UTC) would tell",
    )
    assert job_of([], ()).ended is None


def test_that_utc_is_assumed_is_said_only_where_nothing_shows_it() -> None:
    """Times that were given, by a person or a scheduler, and that an output ends with, show that it is UTC."""
    text = "2026-11-28 00:10:00 step 1\n2026-11-28 02:20:04 srun: error: gpu-07: task 1: Killed\n"
    by_hand = replace(JOB, id="")
    assert said(by_hand, outputs(text)).unsure == ()
    assert said(replace(by_hand, ended=None), outputs(text)).unsure == ()
    (told,) = said(by_hand, outputs(text.replace("02:20:04", "01:33:04"))).unsure
    assert told == "log 0 tells no time zone, and in none does it end when the job did, so UTC is assumed"


def glog(*told: str) -> str:
    """Return watchdogs of ranks as PyTorch's C++ part writes them, with months, days and clocks: "1231 23:59:00"."""
    return "\n".join(watchdog(rank).replace("1128 02:20:04.5", f"{at}.0") for rank, at in enumerate(told))


@pytest.mark.parametrize(
    ("ended", "told", "first", "last"),
    [
        ("2027-01-01 00:20:00", ("1231 23:59:00", "0101 00:10:00"), "2026-12-31 23:59:00", "2027-01-01 00:10:00"),
        ("2026-12-31 23:59:30", ("1231 23:59:00", "0101 00:00:10"), "2026-12-31 23:59:00", "2027-01-01 00:00:10"),
        ("2027-06-01 00:00:00", ("1231 23:59:00", "0531 00:00:00"), "2026-12-31 23:59:00", "2027-05-31 00:00:00"),
        ("2026-12-31 23:00:00", ("0105 23:59:00", "1231 22:00:00"), "2026-01-05 23:59:00", "2026-12-31 22:00:00"),
        ("2025-03-01 00:00:00", ("0228 23:59:00", "0228 23:59:01"), "2025-02-28 23:59:00", "2025-02-28 23:59:01"),
    ],
)
def test_times_without_a_year_are_of_the_one_before_the_jobs_end(
    ended: str, told: tuple[str, str], first: str, last: str
) -> None:
    """A job over New Year has two of them."""
    end = at(ended)
    output = JobOutput("log", datetime.fromtimestamp(end, UTC).year, ended=end)
    output.feed(glog(*told))
    assert output.times == (at(first), at(last))


def test_a_time_with_a_year_tells_that_of_others() -> None:
    """Of an old output that is read years later; 29 February is of no year without one."""
    output = JobOutput("log", 2026, ended=at("2026-11-28 00:00:00"))
    output.feed(f"2023-12-30 10:00:00 step 1\n{glog('1231 23:59:00', '0101 00:10:00')}")
    assert output.times == (at("2023-12-30 10:00:00"), at("2024-01-01 00:10:00"))
    leap = JobOutput("log", 2028, ended=at("2028-02-10 00:00:00"))
    leap.feed(glog("0229 10:00:00"))
    assert leap.times == (at("2028-02-29 10:00:00"),) * 2


def test_events_are_of_their_source() -> None:
    output = JobOutput("log", 2026, source="the job's output, local rank 3")
    output.feed(watchdog(0))
    assert {event.source for event in output.end()} == {"the job's output, local rank 3"}
