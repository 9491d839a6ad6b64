"""Whose a task is: only what the stored intent proves is adopted, all else is waited for."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.firmware.flash import Adopt, Conclude, Flash, Send, Task, TaskEnd
from fleet_runner.core.firmware.task_owner import LATE, anothers, own
from tests.core.firmware.test_flash_steps import AT, KEPT, act, intended, marked, seen, sent, waits

ENDS = list(TaskEnd)


def task(state: TaskEnd = TaskEnd.RUNNING, uri: str = "/t/7", **more: Any) -> Task:
    """A task that began just after the flash was written down, and says nothing of its request."""
    told: dict[str, Any] = {"name": "Firmware Update", "started_at": AT + 1.0}
    return Task(uri, state, **(told | more))


@pytest.mark.parametrize("state", ENDS)
@pytest.mark.parametrize(
    "proof", [{"targets": ("B", "A")}, {"image": "ab.bin"}, {"image": "ab.bin", "targets": ("A", "B")}]
)
@pytest.mark.parametrize("flash", [intended(), sent(task=""), sent(task="/t/9"), intended(image="sub/ab.bin")])
def test_a_task_that_shows_the_flash_s_request_is_adopted(
    flash: Flash, proof: dict[str, Any], state: TaskEnd
) -> None:
    assert act(flash, seen(1.0, task(state, **proof))) == Adopt("/t/7")
    assert act(flash, seen(1.0, task(state, **proof), task(uri="/t/8", name="Log dump"))) == Adopt("/t/7")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"started_at": AT - 10.0}, "which began before this update"),
        ({"started_at": AT - 10.0, "image": "ab.bin"}, "which began before this update"),
        ({"image": "other.bin", "targets": ("A", "B")}, "which is about other.bin"),
        ({"targets": ("C", "D", "E")}, "which is for C, D"),
        (
            {"asked": "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"},
            "which was asked for at /redfish/v1/Systems/1",
        ),
        ({"name": "Computer Reset"}, "which is no update"),
        ({"name": "Collect System Logs"}, "which is no update"),
    ],
)
def test_somebody_else_s_task_is_waited_for_and_never_adopted(more: dict[str, Any], why: str) -> None:
    """Its end says nothing of the flash, good or bad."""
    for flash in (intended(), sent(task=""), sent(task="/t/9")):
        assert why in waits(flash, seen(1.0, task(**more)))
        for state in (TaskEnd.DONE, TaskEnd.FAILED):
            assert own(flash, [task(state, **more)]) is None
            assert not isinstance(act(flash, seen(9_000.0, task(state, **more))), Adopt | Send)
    ended = seen(600.0, task(TaskEnd.FAILED, messages=("another's",), **more))
    assert "another's" not in waits(intended(), ended)
    assert "cannot be known; A is at 1" in waits(intended(), ended)


def test_what_may_be_either_s_is_waited_for_and_then_the_versions_tell() -> None:
    """The BMC never said that it took the image, so the task can be another client's."""
    assert waits(intended(), seen(1.0, task())) == (
        "The BMC is busy with task Firmware Update, which may be this image's or somebody else's."
    )
    assert "it may be on its way for 1 s more" in waits(intended(), seen(599.0, task(TaskEnd.DONE)))
    assert marked(intended(), seen(600.0, task(TaskEnd.DONE))).endswith("an update of it has ended well.")
    for other in (task(TaskEnd.FAILED), task(TaskEnd.DONE, name="Task 7"), task(TaskEnd.DONE, targets=("C",))):
        assert "cannot be known; A is at 1" in waits(intended(), seen(2_399.0, other))
        assert marked(intended(), seen(2_400.0, other)).endswith("it should be written by now.")


def test_once_the_bmc_said_that_it_took_the_image_one_new_update_is_it() -> None:
    flash = sent(task="")
    for state in ENDS:
        assert act(flash, seen(1.0, task(state))) == Adopt("/t/7")
        assert act(flash, seen(1.0, task(state, started_at=None))) == Adopt("/t/7")
        assert act(flash, seen(1.0, task(state), task(uri="/t/8", name="Log dump"))) == Adopt("/t/7")
        asked = task(state, name="Task 7", asked="/redfish/v1/UpdateService/update")
        assert act(flash, seen(1.0, asked)) == Adopt("/t/7")
    late = task(started_at=AT + LATE + 1.0)
    for others in ([late], [task(), task(uri="/t/8")], [task(name="Task 7")]):
        assert "which may be this image's or somebody else's" in waits(flash, seen(99.0, *others))
    ended = [task(TaskEnd.DONE), task(TaskEnd.DONE, "/t/8")]
    assert "No task reports the image" in waits(flash, seen(99.0, *ended))


def test_an_address_that_a_bmc_gave_away_after_a_restart_says_nothing_of_the_flash() -> None:
    """What runs there is waited for; how it ended is not told as the flash's own end."""
    theirs = task(TaskEnd.FAILED, targets=("C",), messages=("another's",))
    behind = {"bmc_reset_at": 555.0}  # it has restarted, and our clock was set back
    for look in ({"bmc_reset_at": AT + 100.0}, {"bmc_reset_at": None}, behind):
        assert "No task reports the image" in waits(sent(), seen(200.0, theirs, **look))
        assert "The BMC is at it" in waits(sent(), seen(200.0, replace(theirs, state=TaskEnd.RUNNING), **look))
    ended = act(sent(), seen(200.0, theirs))
    assert isinstance(ended, Conclude)
    assert "another's" in ended.detail  # it has not restarted, so the address is the flash's


def test_of_several_that_are_proven_one_that_ended_well_is_adopted_and_then_the_newest() -> None:
    mine: dict[str, Any] = {"targets": ("A", "B")}
    first, second = task(TaskEnd.DONE, **mine), task(TaskEnd.DONE, "/t/8", **mine, started_at=AT + 9.0)
    third = task(TaskEnd.FAILED, "/t/9", **mine, started_at=AT + 20.0)
    assert act(intended(), seen(1.0, first, second, third)) == Adopt("/t/8")
    assert act(intended(), seen(1.0, replace(first, state=TaskEnd.FAILED), third)) == Adopt("/t/9")


def test_a_request_for_some_of_the_entries_proves_nothing_and_denies_nothing() -> None:
    assert anothers(intended(), task(targets=("A", "C"))) == ""
    assert own(intended(), [task(targets=("A", "C"), image="ab.bin")]) is None


def test_a_task_that_runs_is_new_also_under_an_old_address() -> None:
    flash = intended(tasks_before=("/t/1", "/t/7"))
    assert act(flash, seen(1.0, task(targets=("A", "B")))) == Adopt("/t/7")
    assert act(flash, seen(600.0, task(TaskEnd.DONE))) == Send()


def test_nothing_is_sent_again_while_a_task_is_new() -> None:
    """Whosever it is: with one that is unknown nobody can be certain."""
    assert act(intended(), seen(600.0)) == Send()
    assert not isinstance(act(intended(), seen(600.0, task(TaskEnd.DONE, name="Computer Reset"))), Send)
    assert KEPT.uri in intended().tasks_before
