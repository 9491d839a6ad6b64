"""What comes next for a flash, row by row as the tables of `machine` and `activation` have it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.activation import AGAIN
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import (
    Act,
    Conclude,
    End,
    Flash,
    FlashTiming,
    Mark,
    Phase,
    Reset,
    Seen,
    Send,
    Task,
    TaskEnd,
    Wait,
)
from fleet_runner.core.firmware.flash_steps import decide
from tests.core.firmware.bmc_model import NEW, OLD, a_flash

PACE = FlashTiming(poll=10.0, settle=900.0, send=600.0, outage=1200.0, boot=300.0, stable=3)
AT = 1_000.0
"""When everything of a flash happened."""

KEPT = Task("/t/1", TaskEnd.DONE, "Firmware Update")
BEFORE = {"bmc_reset_before": 500.0, "tasks_before": ("/t/1",)}
RUNNING = Task("/t/7", TaskEnd.RUNNING, "Update", 40)
DONE = Task("/t/7", TaskEnd.DONE)
FAILED = Task("/t/7", TaskEnd.FAILED, messages=("Verification\x1b failed",))


def intended(**more: Any) -> Flash:
    """A flash that may have been sent."""
    return a_flash(seconds=1_800.0, **(BEFORE | more))


def sent(**more: Any) -> Flash:
    """A flash whose image the BMC took."""
    return intended(**({"phase": Phase.SENT, "sent_at": AT, "task": "/t/7"} | more))


def updated(**more: Any) -> Flash:
    """A flash whose image is written."""
    return sent(**({"phase": Phase.UPDATED, "updated_at": AT} | more))


def reset(**more: Any) -> Flash:
    """A flash whose host was reset, as the BMC answered."""
    told = {"phase": Phase.ACTIVATING, "activated_at": AT, "activations": 1, "activated": 1}
    return updated(**(told | more))


def seen(after: float, *tasks: Task, **more: Any) -> Seen:
    """A look so many seconds later that shows the old versions, and these tasks."""
    told: dict[str, Any] = {"versions": OLD, "stable": 3, "power": "On", "bmc_reset_at": 500.0}
    told["tasks"] = {task.uri: task for task in (KEPT, *tasks)}
    return Seen(AT + after, **(told | more))


def silent(after: float) -> Seen:
    """A look that brought nothing."""
    return Seen(AT + after, trouble="connection\nrefused.")


def act(flash: Flash, look: Seen) -> Act:
    """Decide at the usual pace."""
    return decide(flash, look, PACE)


def waits(flash: Flash, look: Seen) -> str:
    """Decide to wait, and return what for."""
    found = act(flash, look)
    assert isinstance(found, Wait), found
    assert found.seconds == PACE.poll
    return found.why


def marked(flash: Flash, look: Seen) -> str:
    """Decide that the image is written, and return why."""
    found = act(flash, look)
    assert isinstance(found, Mark), found
    assert found.phase is Phase.UPDATED
    return found.why


FLASHES = st.builds(
    a_flash,
    phase=st.sampled_from(Phase),
    activate=st.sampled_from(Activate),
    times=st.integers(1, 2),
    task=st.sampled_from(["", "/t/7"]),
    sent_at=st.one_of(st.none(), st.just(AT)),
    activations=st.integers(0, 3),
    activated=st.integers(0, 1),
    activated_at=st.one_of(st.none(), st.just(AT)),
    tasks_before=st.sampled_from([(), ("/t/1",)]),
    bmc_reset_before=st.one_of(st.none(), st.just(500.0)),
)
LOOKS = st.builds(
    Seen,
    at=st.sampled_from([AT, AT + 100.0, AT + 700.0, AT + 2_000.0, AT + 90_000.0]),
    versions=st.sampled_from([None, OLD, NEW, {"A": "2"}]),
    stable=st.integers(1, 4),
    tasks=st.sampled_from([None, {}, {"/t/7": RUNNING}, {"/t/1": DONE}, {"/t/7": FAILED, "/t/8": DONE}]),
    task=st.sampled_from([None, RUNNING, DONE, FAILED]),
    task_gone=st.booleans(),
    power=st.sampled_from(["On", "Off", None]),
    bmc_reset_at=st.sampled_from([None, 500.0, AT + 50.0, AT + 100_000.0]),
    busy=st.booleans(),
)


@given(flash=FLASHES, look=LOOKS, back=st.floats(1.0, 100_000.0))
def test_a_clock_that_was_set_back_sends_resets_and_condemns_nothing(flash: Flash, look: Seen, back: float) -> None:
    """Behind the moment of the newest thing written down, nothing follows from time alone."""
    early = act(flash, replace(look, at=AT - back))
    assert not isinstance(early, Send)
    if isinstance(early, Conclude):
        failed = look.task or (look.tasks or {}).get(flash.task)
        assert early.end is End.VERIFIED or (failed is not None and failed.state is TaskEnd.FAILED)
    if isinstance(early, Reset):
        assert flash.activations == 0


@given(flash=FLASHES, look=LOOKS)
def test_no_reset_follows_while_the_image_may_be_being_written(flash: Flash, look: Seen) -> None:
    found = act(flash, look)
    if flash.phase in {Phase.INTENDED, Phase.SENT}:
        assert not isinstance(found, Reset)
    if isinstance(found, Reset):
        others = {uri: task for uri, task in (look.tasks or {}).items() if uri != flash.task}
        assert RUNNING not in others.values()


@given(flash=FLASHES, look=LOOKS, ahead=st.floats(10.0, 490.0))
def test_a_clock_that_was_set_forward_ends_no_wait_sooner(flash: Flash, look: Seen, ahead: float) -> None:
    """By less than the BMC had been up when the flash was written down; its start moves as much."""
    told = replace(look, bmc_reset_at=500.0)
    flash = replace(flash, bmc_reset_before=500.0)
    early = act(flash, replace(told, at=told.at + ahead, bmc_reset_at=500.0 + ahead))
    if isinstance(act(flash, told), Wait):
        assert isinstance(early, Wait)


def test_a_clock_that_was_set_forward_by_hours_leaves_an_image_its_time() -> None:
    flash = sent(task="", intended_at=1e6, sent_at=1e6)
    look = Seen(1e6 + 30.0, OLD, 3, {}, power="On", bmc_reset_at=500.0)
    assert "1770 s more" in waits(flash, look)
    assert "1770 s more" in waits(flash, replace(look, at=look.at + 7_200.0, bmc_reset_at=7_700.0))
    assert marked(flash, replace(look, at=look.at + 9_000.0, bmc_reset_at=7_700.0))


@given(flash=FLASHES, look=LOOKS)
def test_while_the_bmc_says_that_it_updates_nothing_is_sent_reset_or_condemned(flash: Flash, look: Seen) -> None:
    """Only what its tasks and versions say of the flash itself is believed before that is over."""
    found = act(flash, replace(look, busy=True))
    assert not isinstance(found, (Send, Reset))
    assert not isinstance(found, Conclude) or found.end is End.VERIFIED
    if isinstance(found, Mark):
        assert "task ended well" in found.why


@given(flash=FLASHES, look=LOOKS)
def test_verified_is_only_what_was_read_often_enough(flash: Flash, look: Seen) -> None:
    found = act(flash, look)
    if isinstance(found, Conclude) and found.end is End.VERIFIED:
        assert look.versions == NEW
        assert look.stable >= PACE.stable


@given(flash=FLASHES, look=LOOKS)
def test_every_sentence_is_one_line_that_ends(flash: Flash, look: Seen) -> None:
    found = act(flash, look)
    said = getattr(found, "why", "") or getattr(found, "detail", "")
    if isinstance(found, Wait | Conclude | Mark):
        assert said.endswith(".") and "\n" not in said and said.isprintable()  # noqa: PT018  one rule of style


@pytest.mark.parametrize("flash", [intended(), sent(), updated(), reset()])
def test_a_silent_bmc_is_waited_for_as_long_as_it_takes(flash: Flash) -> None:
    assert waits(flash, silent(60.0)) == "Nothing can be known or done until the BMC answers: connection refused."
    assert waits(flash, silent(90_000.0)).endswith(
        "It has had more than the 1200 s that a restart may take: look at the BMC."
    )


def test_an_image_goes_again_when_it_is_certain_that_the_bmc_never_took_it() -> None:
    assert waits(intended(), seen(599.0)).endswith("it may be on its way for 1 s more.")
    assert act(intended(), seen(600.0)) == Send()
    assert act(intended(), seen(90_000.0, bmc_reset_at=495.0)) == Send()
    dark = seen(600.0, versions=None, stable=0, power="Off", trouble="503")
    assert act(intended(), dark) == Send()


@pytest.mark.parametrize(
    ("flash", "more"),
    [
        (intended(), {"tasks": None}),  # it does not tell its tasks
        (intended(), {"tasks": {}}),  # it forgets tasks
        (intended(tasks_before=()), {"tasks": {}}),  # it may have none of updates
        (intended(), {"tasks": {"/t/1": Task("/t/1", TaskEnd.DONE, "Computer Reset")}}),  # likewise
        (intended(), {"bmc_reset_at": 506.0}),  # it has restarted, or the clock was set
        (intended(), {"bmc_reset_at": 494.0}),  # the clock was set back
        (intended(), {"bmc_reset_at": None}),  # it does not tell whether it has restarted
        (intended(bmc_reset_before=None), {}),  # it did not then
        (intended(), {"versions": {"A": "1", "B": "2"}}),  # something was written
    ],
)
def test_an_image_does_not_go_again_when_it_is_not_certain(flash: Flash, more: dict[str, Any]) -> None:
    look = replace(seen(610.0), **more)
    assert "cannot be known; " in waits(flash, look)
    assert marked(flash, replace(look, at=AT + 610.0 + 1_800.0)).startswith("Whether the BMC took the image cannot")


def test_versions_that_are_right_or_unread_decide_nothing_about_a_second_send() -> None:
    assert marked(intended(), seen(600.0, versions=NEW)).startswith("The versions are right")
    assert waits(intended(), seen(600.0, versions=NEW, stable=2)).endswith("2 of 3 looks were the same.")
    unread = seen(600.0, versions=None, stable=0, trouble="500")
    assert waits(intended(), unread) == "The versions cannot be read: 500."
    gone = seen(600.0, versions=None, stable=0, power="Off", bmc_reset_at=None)
    assert "its versions cannot be read" in waits(intended(), gone)


def test_the_flash_s_own_task_decides() -> None:
    assert waits(sent(), seen(1_800.0, task=RUNNING)) == "The BMC is at it: task Update at 40 %."
    assert waits(sent(), seen(90_000.0, task=RUNNING)) == (
        "The BMC is at it: task Update at 40 %. It has had more than the 1800 s that it may take: look at the BMC."
    )
    assert waits(sent(), Seen(AT, task=Task("/t/7", TaskEnd.RUNNING))) == "The BMC is at it: task /t/7."
    assert marked(sent(), seen(1.0, DONE)) == "The BMC's task ended well."
    assert act(sent(), seen(1.0, FAILED)) == Conclude(
        End.FAILED,
        "The BMC's task failed: Verification\ufffd failed; A is at 1, expected 2; B is at 1, expected 2.",
    )
    mute = Task("/t/7", TaskEnd.FAILED)
    assert "failed: it does not say why; " in act(sent(), seen(1.0, mute)).detail  # type: ignore[union-attr]  a Conclude


def test_a_task_that_failed_but_may_have_written_something_is_followed_to_the_end() -> None:
    assert "a part of it may be written" in marked(sent(), seen(1.0, FAILED, versions={"A": "2", "B": "1"}))
    assert marked(sent(), seen(10.0, FAILED, bmc_reset_at=AT + 6.0))
    assert marked(sent(), seen(1.0, FAILED, versions=None, power="Off"))
    assert "looks were the same" in waits(sent(), seen(1.0, FAILED, stable=2))
    assert "is busy with task /t/8" in waits(sent(), seen(1.0, FAILED, Task("/t/8", TaskEnd.RUNNING)))


def test_a_task_that_is_gone_leaves_the_versions_to_tell() -> None:
    lost = seen(50.0, task_gone=True, bmc_reset_at=AT + 40.0)
    assert marked(sent(), replace(lost, versions=NEW)) == "The versions are right."
    assert "No task reports the image; A is at 1" in waits(sent(), replace(lost, at=AT + 939.0))
    assert marked(sent(), replace(lost, at=AT + 940.0)).endswith("it should be written by now.")
    assert waits(sent(), replace(lost, at=AT + 939.0, stable=1)).startswith("The versions are read again")


def test_a_bmc_that_is_busy_when_the_flash_s_own_task_is_gone_is_waited_for() -> None:
    gone = seen(50.0, task_gone=True, bmc_reset_at=AT + 40.0)
    assert waits(sent(), replace(gone, busy=True)) == "The BMC says that an update is running."
    another = {**(gone.tasks or {}), "/t/8": Task("/t/8", TaskEnd.RUNNING)}
    assert "is busy with task /t/8" in waits(sent(), replace(gone, tasks=another))


@pytest.mark.parametrize("flash", [sent(task="", sent_at=AT), sent(task="", sent_at=None)])
def test_without_a_task_the_image_has_all_the_time_that_an_update_takes(flash: Flash) -> None:
    assert waits(flash, seen(1_799.0))
    assert marked(flash, seen(1_800.0))


def test_what_is_written_is_activated_as_often_as_asked_for() -> None:
    flash = updated(times=2)
    assert act(flash, seen(1.0)) == Reset(Activate.HOST_RESET, 1)
    assert "No reset while" in waits(flash, seen(1.0, Task("/t/7", TaskEnd.RUNNING)))  # its own: Dell's, in a start
    assert "No reset while" in waits(flash, seen(1.0, Task("/t/8", TaskEnd.RUNNING)))
    once = reset(times=2)
    assert waits(once, seen(29.0, versions=NEW)) == "A reset of the host (number 1) was just asked for."
    assert waits(once, seen(299.0, versions=NEW)) == "The host is on its way up; its power is On."
    assert act(once, seen(300.0, versions=NEW)) == Reset(Activate.HOST_RESET, 2)
    twice = reset(times=2, activations=2, activated=2)
    assert act(twice, seen(30.0, versions=NEW)) == Conclude(
        End.VERIFIED, "A is at 2, B is at 2, read 3 times in a row."
    )


@pytest.mark.parametrize("how", [Activate.BMC_RESET, Activate.AC_DRAIN])
def test_a_bmc_is_back_once_it_started_after_the_reset_or_an_outage_is_over(how: Activate) -> None:
    flash = reset(activate=how, activated=1 if how is Activate.AC_DRAIN else 0)
    assert "is under way, or the BMC has yet to begin it" in waits(flash, seen(1_199.0, versions=NEW))
    assert "is under way" in waits(flash, seen(1_199.0, versions=NEW, bmc_reset_at=None))
    assert isinstance(act(flash, seen(30.0, versions=NEW, bmc_reset_at=AT - 4.0)), Conclude)
    assert isinstance(act(flash, seen(1_200.0, versions=NEW)), Conclude)
    wrong = seen(1_210.0, bmc_reset_at=AT + 10.0)
    assert act(flash, wrong) == Conclude(
        End.FAILED,
        f"After 1 x {'a reset of the BMC' if how is Activate.BMC_RESET else 'a removal of all power'}, "
        "A is at 1, expected 2; B is at 1, expected 2.",
    )


def test_versions_are_wrong_only_when_they_stay_wrong() -> None:
    flash = reset()
    assert waits(flash, seen(899.0)) == "A is at 1, expected 2; B is at 1, expected 2: 1 s more."
    assert isinstance(act(flash, seen(900.0)), Conclude)
    assert "1 s more" in waits(flash, seen(999.0, bmc_reset_at=AT + 100.0))  # the BMC has just restarted
    assert "looks were the same" in waits(flash, seen(900.0, stable=2))
    assert "The versions cannot be read: the BMC does not report them." in waits(flash, seen(900.0, versions=None))
    none = updated(activate=Activate.NONE)
    assert "expected 2" in waits(none, seen(899.0))
    assert act(none, seen(900.0, versions={"A": "2"})) == Conclude(
        End.FAILED, "After the update, B is not in the inventory, expected at 2."
    )
    taken = updated(activate=Activate.NONE, sent_at=None)
    assert act(taken, seen(900.0, versions={"A": "2", "B": ""})) == Conclude(
        End.FAILED,
        "After the update (whether the BMC took the image cannot be known), B is at no version, expected 2.",
    )


def test_a_reset_that_nobody_saw_being_done_is_done_again_before_anything_is_condemned() -> None:
    flash = reset(activated=0)
    assert waits(flash, seen(899.0))
    assert act(flash, seen(900.0)) == Reset(Activate.HOST_RESET, 2)
    drain = reset(activated=0, activate=Activate.AC_DRAIN)
    assert act(drain, seen(2_000.0, bmc_reset_at=AT + 10.0)) == Reset(Activate.AC_DRAIN, 2)
    last = replace(flash, activations=1 + AGAIN)
    assert waits(last, seen(900.0)).endswith(
        "5 resets were asked for, and fewer than 1 seen to be done: look at the BMC."
    )


def test_a_host_that_stays_off_is_reset_again() -> None:
    off = {"power": "Off", "versions": None, "stable": 0, "trouble": "503"}
    assert waits(reset(), seen(299.0, **off)) == "The host is on its way up; its power is Off."
    assert act(reset(), seen(300.0, **off)) == Reset(Activate.HOST_RESET, 2)
    last = reset(activations=1 + AGAIN)
    assert waits(last, seen(300.0, **off)) == "The versions cannot be read: 503."


def test_of_many_entries_the_first_are_named() -> None:
    many = {f"GPU{number}": "2" for number in range(8)}
    flash = reset(before=dict.fromkeys(many, "1"), targets=many, activate=Activate.NONE)
    wrong = act(flash, seen(5_000.0, versions=dict.fromkeys(many, "1" * 200)))
    assert isinstance(wrong, Conclude)
    assert wrong.detail.endswith(" …; so are 4 more.")
    done = act(flash, seen(5_000.0, versions=many))
    assert isinstance(done, Conclude)
    assert "GPU2 is at 2, GPU3 is at 2 and 4 more are on their targets, read" in done.detail
