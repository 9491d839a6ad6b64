"""What Slurm's accounting tells of one job: jobs of a real Slurm 22.05, and rows as newer releases print them."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import slurm_job
from fleet_runner.core.checks.parsers.slurm_job import FIELDS, LONGEST, NEWER, asked, parse
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.record import Record

EVIDENCE = Path(__file__).resolve().parents[3] / "evidence" / "sacct" / "22.05.txt"
KEPT = EVIDENCE.read_text(encoding="utf-8").splitlines(keepends=True)
OLD = tuple(name for name in FIELDS if name not in NEWER)


def job(number: str) -> Record:
    """Read a job of the real Slurm, which prints the rows of no other."""
    mine = re.compile(rf"{number.partition('+')[0]}[|._+]")
    return parse([line for line in KEPT if mine.match(line)], number, OLD)


def row(**said: str) -> str:
    """Return a row as a newer Slurm prints it, of a job that ran well on four nodes of eight GPUs."""
    whole = {
        "JobID": "4711", "JobIDRaw": "4711", "State": "COMPLETED", "ExitCode": "0:0", "DerivedExitCode": "0:0",
        "Submit": "2026-11-29T20:00:00", "Start": "2026-11-29T21:00:00", "End": "2026-11-29T22:00:00",
        "NodeList": "gpu-[01-03,07]", "AllocTRES": "billing=32,cpu=32,gres/gpu:h100=32,gres/gpu=32,node=4",
        "User": "kim", "Account": "team-a", "FailedNode": "", "Restarts": "0", "JobName": "pretrain",
    }  # fmt: skip
    return "|".join((whole | said)[name] for name in FIELDS) + "\n"


def ends(found: Record) -> list[tuple[str, str, str]]:
    """Return what is said of ends: code, node and sentence."""
    return [(each.code, each.node, each.message) for each in found.events]


@given(
    st.lists(st.one_of(st.text(), st.sampled_from(KEPT)).map(lambda line: f"{line}\n")), st.sampled_from(["1", "5"])
)
def test_any_text_is_read_or_refused(lines: list[str], number: str) -> None:
    """It raises nothing else."""
    try:
        found = parse(lines, number, OLD)
    except EvidenceError:
        return
    assert found.job.nodes


@given(st.integers(1, 400), st.integers(1, 3))
def test_every_node_of_a_list_is_named(count: int, digits: int) -> None:
    nodes = [f"gpu-{number:0{digits}d}" for number in range(1, count + 1)]
    listed = row(NodeList=f"gpu-[{1:0{digits}d}-{count:0{digits}d}]")
    assert list(parse([listed], "4711").job.nodes) == nodes
    assert list(parse([row(NodeList=",".join(nodes))], "4711").job.nodes) == nodes


def test_a_job_that_ended_well_is_told_without_ends() -> None:
    found = job("1")
    at = datetime(2026, 11, 29, 21, 29, 26, tzinfo=UTC).timestamp()
    whole = Job("1", ("n1",), at, at, scheduler="slurm", name="a|b", owner="kim (team-a)")
    assert found.job == replace(whole, state="COMPLETED", exit_code="0:0")
    assert found.events == ()
    assert found.notes == ("This release of Slurm does not report which node of a job failed (23.02 or later does).",)
    assert job("3").job.nodes == ("n1", "n2")


def test_a_step_and_the_script_that_fail_are_told_in_their_order() -> None:
    found = job("2")
    assert ends(found) == [
        ("job.failed", "n1", "its step 0 failed: exit code 3"),
        ("job.failed", "n1", "its batch script failed: exit code 7"),
    ]
    assert found.job.exit_code == "7:0"
    assert [each.at for each in found.events] == [found.job.begun, found.job.ended]
    assert (found.events[0].area, found.events[0].role) == (Area.UNKNOWN, Role.SYMPTOM)
    assert found.events[0].line == "2.0 FAILED 3:0 n1"


def test_what_follows_from_the_jobs_end_is_not_told_of_its_steps() -> None:
    assert ends(job("4")) == [("job.cancelled", "n1", "job 4 was cancelled")]
    assert ends(job("6")) == [("job.failed", "n1", "job 6 failed: signal 9 (SIGKILL)")]
    assert job("4").job.state == "CANCELLED by 0"


def test_a_job_that_runs_has_not_ended() -> None:
    assert (job("7").job.ended, job("7").job.state, job("7").events) == (None, "RUNNING", ())


def test_an_array_is_asked_for_a_task() -> None:
    """Its last task has the array's number as its own raw one, which must not stand for all."""
    with pytest.raises(EvidenceError, match=r"an array of 2 tasks; name one of them: 5_1 \(FAILED\), 5_2 \(FAILED\)"):
        job("5")
    mine = [line for line in KEPT if line.startswith("5_")]
    assert (parse(mine, "5_2", OLD).job.id, parse(mine, "5_2", OLD).job.exit_code) == ("5_2", "2:0")
    assert parse(mine[:2], "12", OLD).job.id == "5_1"
    many = [row(JobID=f"9_{each}", State="COMPLETED" if each else "FAILED") for each in range(6)]
    with pytest.raises(
        EvidenceError, match=r"6 tasks; name one of them: 9_0 \(FAILED\), 9_1 .*9_4 \(COMPLETED\), …$"
    ):
        parse(many, "9")


def test_a_heterogeneous_job_is_one_job() -> None:
    found = job("8")
    assert (found.job.id, found.job.nodes, found.job.exit_code) == ("8", ("n2", "n1"), "4:0")
    assert [each.node for each in found.events] == ["n2", "n1"]
    assert job("8+1").job.nodes == ("n1",)
    half = [row(JobID="8+0", Start="2026-11-29T21:00:05"), row(JobID="8+1", End="Unknown", State="RUNNING")]
    told = parse(half, "8").job
    assert (told.ended, told.gpus) == (None, 64)
    assert told.begun == parse([row()], "4711").job.begun


def test_a_job_that_has_not_begun_has_no_nodes_to_ask() -> None:
    with pytest.raises(EvidenceError, match=r"job 11 has not begun \(PENDING\)"):
        parse(KEPT[-1:], "11", OLD)
    with pytest.raises(EvidenceError, match=r"job 4711 has not begun \(CANCELLED by 7\)"):
        parse([row(State="CANCELLED by 7", NodeList="None assigned")], "4711")


def test_of_runs_that_were_requeued_the_newest_that_began_is_told() -> None:
    """One that waits again says nothing of why the one before it died."""
    died = row(State="NODE_FAIL", FailedNode="gpu-02", Restarts="0")
    step = row(JobID="4711.0", JobIDRaw="4711.0", State="CANCELLED", FailedNode="")
    again = row(Start="2026-11-29T22:05:00", End="Unknown", State="RUNNING", Restarts="1")
    waits = row(Start="Unknown", End="Unknown", State="PENDING", NodeList="None assigned", Restarts="1")
    found = parse([died, step, waits], "4711")
    assert (found.job.failed_node, found.job.restarts, found.job.gpus) == ("gpu-02", 0, 32)
    assert ends(found) == [("job.node_failed", "gpu-02", "job 4711 ended because Slurm lost a node of it")]
    assert (found.events[0].area, found.events[0].role) == (Area.UNKNOWN, Role.SYMPTOM)
    assert found.notes == ("Slurm keeps 2 runs of job 4711, which was requeued; this is the newest that has begun.",)
    assert (parse([died, step, again], "4711").job.state, parse([died, again], "4711").job.restarts) == ("RUNNING", 1)
    old = ["|".join(line.split("|")[:12] + line.split("|")[14:]) for line in (died, again)]
    assert parse(old, "4711", OLD).job.restarts == 1


@pytest.mark.parametrize(("state", "code", "said"), [
    ("OUT_OF_MEMORY", "job.out_of_memory", "used more memory"),
    ("TIMEOUT", "job.out_of_time", "time limit"),
    ("DEADLINE", "job.out_of_time", "time limit"),
    ("PREEMPTED", "job.preempted", "make room"),
    ("BOOT_FAIL", "job.node_failed", "lost a node"),
])  # fmt: skip
def test_every_end_has_its_own_words(state: str, code: str, said: str) -> None:
    found = parse([row(State=state, NodeList="gpu-01")], "4711")
    ((told, node, message),) = ends(found)
    assert (told, node) == (code, "gpu-01")
    assert said in message


@pytest.mark.parametrize(("code", "said"), [
    ("0:0", ""), ("", ""), ("1:0", ": exit code 1"), ("0:11", ": signal 11 (SIGSEGV)"), ("0:99", ": signal 99"),
    ("137:0", ": exit code 137, which tells of signal 9 (SIGKILL)"), ("255:0", ": exit code 255"),
    ("0:125", ""),
])  # fmt: skip
def test_an_exit_code_is_said_in_words(code: str, said: str) -> None:
    assert ends(parse([row(State="FAILED", ExitCode=code)], "4711")) == [("job.failed", "", f"job 4711 failed{said}")]


@pytest.mark.parametrize(("given", "gpus"), [
    ("", 0), ("cpu=8,node=1", 0), ("gres/gpu=16,gres/gpu:h100=16", 16), ("gres/gpu:a100=4,gres/gpu:h100=4,node=1", 8),
])  # fmt: skip
def test_gpus_are_counted_once(given: str, gpus: int) -> None:
    assert parse([row(AllocTRES=given)], "4711").job.gpus == gpus


@pytest.mark.parametrize(("line", "why"), [
    (lambda: "4711|4711|COMPLETED\n", "expected JobID"),
    (lambda: row(NodeList="x" * LONGEST), "expected JobID"),
    (lambda: row(Start="yesterday"), "expected a date and time"),
    (lambda: row(NodeList="gpu-[1-30000]"), "at most 20000"),
    (lambda: row(NodeList="/etc/passwd"), "at most 20000"),
    (lambda: "", "no job 4711 is known"),
    (lambda: "4711.0|x\n", "expected JobID"),
])  # fmt: skip
def test_what_is_no_accounting_is_refused(line: Callable[[], str], why: str) -> None:
    with pytest.raises(EvidenceError, match=why):
        parse([line()], "4711")


def test_more_rows_than_a_job_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_job, "MOST_ROWS", 2)
    with pytest.raises(EvidenceError, match="at most 2 rows"):
        parse([row()] * 3, "4711")


def test_a_name_of_several_lines_and_steps_of_nobody_are_passed_over() -> None:
    stray = row(JobID="4711.0", JobIDRaw="4711.0", State="FAILED")
    named = row(JobName="a\nb")
    assert ends(parse([stray, *named.splitlines(keepends=True), stray.replace("4711", "4712")], "4711")) == []
    assert parse([row(Account="", FailedNode="gpu-[01-02]", Restarts="many")], "4711").job == replace(
        parse([row()], "4711").job, owner="kim"
    )


@pytest.mark.parametrize("text", ["", "x", "4711.0", "-1", "4711,4712", "4711_[1-3]", "٣", "4" * 11])
def test_what_is_no_number_of_a_job_is_not_asked_for(text: str) -> None:
    with pytest.raises(EvidenceError, match="is no job of Slurm; expected a number like 4711"):
        asked(text)
    assert [asked(each) for each in ("4711", "4711_3", "4711+1")] == ["4711", "4711_3", "4711+1"]


def test_an_event_is_of_the_accounts() -> None:
    (found,) = parse([row(State="FAILED", ExitCode="1:0")], "4711").events
    assert isinstance(found, Event)
    assert (found.source, found.blur) == ("Slurm's accounts", 1.0)
