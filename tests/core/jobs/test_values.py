"""The values of a job, and how they are named and kept."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.endings import ended
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.record import KINDS


def test_a_job_without_a_number_is_named_by_its_nodes() -> None:
    assert (Job("4711", ("a",), 0.0).label, Job("", ("a", "b"), 0.0).label) == ("job 4711", "the work on 2 nodes")


def test_an_answer_is_plain_json() -> None:
    event = Event(1.0, Area.HARDWARE, Role.CAUSE, "xid.79", "it fell off", node="a", rank=3)
    symptom = Event(None, Area.UNKNOWN, Role.SYMPTOM, "job.failed", "it failed")
    whole = Answer(Job("7", ("a",), 0.0), Area.HARDWARE, "GPU", event, symptom, (event,), (event, symptom), ("a",))
    told = json.loads(json.dumps(whole.to_json()))
    assert (told["origin"]["area"], told["symptom"]["at"], told["job"]["nodes"]) == ("hardware", None, ["a"])
    bare = Answer(Job("7", ("a",), 0.0), Area.UNKNOWN, "nothing").to_json()
    assert (bare["origin"], bare["symptom"], bare["timeline"]) == (None, None, [])


@given(st.integers(0, 255), st.integers(0, 255))
def test_an_end_is_said_in_words(status: int, signal: int) -> None:
    assert bool(ended(status, signal)) == bool(status or signal)


def test_a_signal_is_named() -> None:
    assert ended(0, 9) == "signal 9 (SIGKILL)"
    assert ended(0, 99) == "signal 99"
    assert ended(134) == "exit code 134, which tells of signal 6 (SIGABRT)"
    assert (ended(1), ended(255)) == ("exit code 1", "exit code 255")


def test_no_scheduler_blames_hardware() -> None:
    assert [code for code, (area, _) in KINDS.items() if area is Area.HARDWARE] == []
