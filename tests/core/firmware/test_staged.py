"""What a start of the host writes: Dell's job that is Scheduled, row by row as the tables have it."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.firmware.activation import AGAIN
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Conclude, End, Flash, Mark, Phase, Reset, Task, TaskEnd
from fleet_runner.core.firmware.flash_events import foreign, staged
from fleet_runner.core.firmware.task_owner import fits
from tests.core.firmware.bmc_model import NEW, OLD
from tests.core.firmware.test_flash_steps import AT, act, intended, marked, reset, seen, sent, updated, waits

JOB = Task("/t/7", TaskEnd.STAGED, "Firmware Update: AB")
RUNS = replace(JOB, state=TaskEnd.RUNNING, percent=30)
DONE = replace(JOB, state=TaskEnd.DONE, ended_at=AT + 500.0)
FAILED = replace(JOB, state=TaskEnd.FAILED, messages=("PR21: it did not complete.",), ended_at=AT + 500.0)
CONFIG = Task("/t/9", TaskEnd.STAGED, "ConfigBIOS:BIOS.Setup.1-1")
FIRST = Reset(Activate.HOST_RESET, 1)
ITS = Reset(Activate.HOST_RESET, 1, "/t/7")
"""Which makes the task that it begins the flash's own."""


def begun(**more: Any) -> Flash:
    """A flash that was staged when the host was reset, as the BMC answered."""
    return reset(updated_at=None, **more)


def test_the_reset_comes_before_the_end_of_a_task_that_is_staged() -> None:
    assert act(sent(), seen(1.0, JOB)) == FIRST
    assert act(sent(activate=Activate.AC_DRAIN), seen(1.0, JOB)) == Reset(Activate.AC_DRAIN, 1)
    assert "The BMC is at it" in waits(sent(), seen(1.0, RUNS))


@pytest.mark.parametrize("how", [Activate.NONE, Activate.BMC_RESET])
def test_what_is_staged_though_its_row_asks_for_no_start_of_the_host_is_told_to_a_person(how: Activate) -> None:
    why = waits(sent(activate=how), seen(1.0, JOB))
    assert "task Firmware Update: AB" in why
    assert "set `activate: {how: host_reset}` there" in why


def test_one_whose_answer_was_lost_is_begun_all_the_same() -> None:
    """Its start is told wrong by a clock that was set back; that it was not listed before tells enough."""
    job = replace(JOB, started_at=AT - 100.0)
    assert act(intended(), seen(600.0, job)) == ITS
    assert act(sent(task=""), seen(1.0, job)) == ITS
    assert "may be on its way" in waits(intended(), seen(1.0, job))


def test_no_reset_while_anything_runs_or_is_staged_for_somebody_else() -> None:
    assert "No reset while the BMC is busy with task Update" in waits(
        sent(), seen(1.0, JOB, Task("/t/8", TaskEnd.RUNNING, "Update"))
    )
    why = waits(sent(), seen(1.0, JOB, CONFIG))
    assert "No reset while task ConfigBIOS:BIOS.Setup.1-1 is staged" in why
    assert "(/t/9)" in why
    assert "is staged, which is not this update's" in waits(updated(), seen(1.0, CONFIG))
    theirs = replace(CONFIG, name="Firmware Update: NIC", image="nic.exe")
    assert "Firmware Update: NIC is staged" in waits(updated(), seen(1.0, theirs))
    before = updated(tasks_before=("/t/1", "/t/9"))
    assert "is staged, which is not this update's" in waits(before, seen(1.0, CONFIG))


def test_somebody_elses_staged_task_holds_up_no_flash_that_needs_no_start_of_the_host() -> None:
    assert act(updated(activate=Activate.BMC_RESET), seen(1.0, CONFIG)) == Reset(Activate.BMC_RESET, 1)
    done = act(updated(activate=Activate.NONE), seen(1.0, CONFIG, versions=NEW))
    assert isinstance(done, Conclude)
    assert done.end is End.VERIFIED


def test_nothing_is_reset_or_told_while_the_start_writes_it() -> None:
    """Not even when the host is off for a moment, or its version is there already: the maker's system restarts it."""
    assert "The BMC is at it: task Firmware Update: AB at 30 %" in waits(begun(), seen(5_000.0, RUNS))
    assert "The BMC is at it" in waits(begun(), seen(5_000.0, RUNS, versions=NEW))
    dark = {"power": "Off", "versions": None, "stable": 0}
    assert "No reset while the BMC is busy" in waits(begun(), seen(5_000.0, RUNS, **dark))
    assert "its power is Off" in waits(begun(), seen(799.0, DONE, **dark))
    assert act(begun(), seen(800.0, DONE, **dark)) == Reset(Activate.HOST_RESET, 2)


def test_a_start_that_has_yet_to_begin_it_has_the_time_that_a_boot_takes() -> None:
    assert "was just asked for" in waits(begun(), seen(29.0, JOB))
    assert "has yet to begin" in waits(begun(), seen(299.0, JOB))
    drain = begun(activate=Activate.AC_DRAIN)
    assert "has yet to begin" in waits(drain, seen(299.0, JOB, bmc_reset_at=AT + 10.0))


def test_a_reset_is_done_again_only_where_it_was_never_answered() -> None:
    assert "look whether the BMC may" in waits(begun(), seen(300.0, JOB))
    assert "look whether the BMC may" in waits(begun(), seen(90_000.0, JOB, versions=NEW))
    unsure = begun(activated=0)
    assert act(unsure, seen(300.0, JOB)) == Reset(Activate.HOST_RESET, 2)
    assert "No reset while" in waits(unsure, seen(300.0, JOB, CONFIG))
    last = begun(activated=0, activations=1 + AGAIN)
    assert "restart the host by hand" in waits(last, seen(300.0, JOB))


def test_its_version_has_its_time_from_the_end_of_its_task() -> None:
    assert "1 s more" in waits(begun(), seen(1_399.0, DONE))
    failed = act(begun(), seen(1_400.0, DONE))
    assert isinstance(failed, Conclude)
    assert failed.end is End.FAILED
    done = act(begun(), seen(1_399.0, DONE, versions=NEW))
    assert isinstance(done, Conclude)
    assert done.end is End.VERIFIED


def test_where_no_end_of_its_task_shows_it_has_all_the_time_that_an_update_takes_as_well() -> None:
    assert "1 s more" in waits(begun(), seen(2_699.0))
    assert isinstance(act(begun(), seen(2_700.0)), Conclude)
    untimed = replace(DONE, ended_at=None)
    assert "1 s more" in waits(begun(), seen(2_699.0, untimed))
    assert isinstance(act(reset(), seen(900.0)), Conclude)


def test_a_task_that_failed_in_the_start_says_why() -> None:
    failed = act(begun(), seen(1_400.0, FAILED))
    assert failed == Conclude(
        End.FAILED,
        "After 1 x a reset of the host, A is at 1, expected 2; B is at 1, expected 2; its task failed: PR21: it did"
        " not complete.",
    )
    silent = act(begun(), seen(1_400.0, replace(FAILED, messages=())))
    assert isinstance(silent, Conclude)
    assert "its task failed" not in silent.detail


def test_where_no_task_says_why_the_bmcs_own_word_does() -> None:
    """HPE's, whose updates have no task. It may be of another update, so it is told as the BMC's."""
    failed = act(reset(task=""), seen(900.0, failure="iLO.2.14.UpdateFailed."))
    assert isinstance(failed, Conclude)
    assert failed.detail.endswith("expected 2; the BMC says of its last update: iLO.2.14.UpdateFailed.")


def test_one_that_somebody_else_has_begun_is_waited_for_as_any_other() -> None:
    found = act(sent(), seen(1.0, DONE))
    assert isinstance(found, Mark)
    assert found.phase is Phase.UPDATED


def test_a_look_that_broke_off_resets_nothing() -> None:
    """Its own task was read and the list of the others was not; a BMC that has no such list is another matter."""
    cut = {"task": JOB, "tasks": None, "versions": None, "stable": 0, "power": None, "bmc_reset_at": None}
    broken = replace(seen(1.0), trouble="tasks answered 500.", partial=True, **cut)
    assert waits(sent(), broken) == (
        "No reset before a look at the BMC shows all that runs and is staged: tasks answered 500."
    )
    assert "tasks answered 500" in waits(begun(activated=0), replace(broken, at=AT + 400.0))
    assert act(sent(), replace(seen(1.0), task=JOB, tasks=None)) == FIRST


def test_where_its_own_task_is_known_no_other_one_is_its() -> None:
    """Whatever it is called: another client stages an update of another part, or of the same."""
    for name in ("Firmware Update: NIC", "Firmware Update: AB", "Firmware Update"):
        theirs = replace(CONFIG, name=name)
        assert f"No reset while task {name} is staged" in waits(sent(), seen(1.0, JOB, theirs))
        again = begun(activated=0)
        assert f"No reset while task {name} is staged" in waits(again, seen(300.0, JOB, theirs))
        assert "versions are" in waits(begun(), seen(1_000.0, DONE, theirs, stable=1))
        assert staged(begun(), seen(1.0, DONE, theirs)) is None


def test_without_its_task_one_that_may_be_somebody_elses_is_told_to_a_person() -> None:
    """By its name it is another part's, or it is not the only one."""
    job = replace(JOB, started_at=AT - 100.0)
    other = replace(job, name="Firmware Update: NIC")
    unnamed, second = replace(job, name="Firmware Update"), replace(job, name="Firmware Update", uri="/t/9")
    for flash in (intended(), sent(task="")):
        why = waits(flash, seen(600.0, other))
        assert "task Firmware Update: NIC is staged, which may be this image's or somebody else's" in why
        assert "(/t/7)" in why
        assert act(flash, seen(600.0, unnamed)) == ITS
        assert "look whose it is" in waits(flash, seen(600.0, unnamed, second))
        assert "look whose it is" in waits(flash, seen(600.0, unnamed, replace(second, state=TaskEnd.DONE)))
        assert "No reset while" in waits(flash, seen(600.0, job, replace(other, uri="/t/8")))
        assert "expected 2" in waits(flash, seen(600.0, CONFIG))


@pytest.mark.parametrize("how", [Activate.NONE, Activate.BMC_RESET])
def test_a_flash_that_needs_no_start_goes_on_beside_what_may_be_anybodys(how: Activate) -> None:
    assert "cannot be known" in waits(intended(activate=how), seen(600.0, JOB))
    assert "cannot be known" in marked(intended(activate=how), seen(9_000.0, JOB))
    assert "No task reports" in waits(sent(activate=how, task=""), seen(600.0, replace(JOB, started_at=AT - 100.0)))


@pytest.mark.parametrize(
    ("name", "component", "target", "yes"),
    [
        ("Firmware Update: BIOS", "BIOS", "Installed-0__BIOS.Setup.1-1", True),
        ("Firmware Update: Network", "NIC", "Installed-0__NIC.Slot.5-1", True),  # as its image's name says
        ("Firmware Update: SAS RAID", "RAID", "Installed-0__RAID.Slot.1-1", True),
        ("update:DCIM:INSTALLED#301_C_RAID.Slot.1-1", "RAID", "Installed-0__RAID.Slot.1-1", True),
        ("update:DCIM:INSTALLED#301_C_RAID.Slot.1-1", "RAID", "Installed-0__RAID.Slot.2-1", False),
        ("Firmware Update: NIC.Slot.1-1", "NIC", "Installed-0__NIC.Slot.5-1", False),
        ("Firmware Update: PSU.Slot.1", "PSU", "Installed-0__PSU.Slot.10", False),
        ("Firmware Update: BIOS", "NIC", "Installed-0__NIC.Slot.5-1", False),
        ("Firmware Update", "NIC", "Installed-0__NIC.Slot.5-1", True),
        ("", "NIC", "Installed-0__NIC.Slot.5-1", True),
    ],
)
def test_what_the_name_of_an_update_says_of_its_part(name: str, component: str, target: str, *, yes: bool) -> None:
    flash = intended(component=component, targets={target: "2"}, image="x/Network_Firmware_1.EXE")
    assert fits(flash, replace(JOB, name=name)) is yes


def test_whose_a_staged_task_is() -> None:
    look = seen(1.0, JOB, CONFIG, versions=OLD)
    assert staged(sent(), look) == JOB
    assert foreign(sent(), look) == CONFIG
    assert staged(sent(task=""), look) == JOB
    assert staged(sent(task="", tasks_before=("/t/7",)), look) is None
    assert foreign(sent(task="", tasks_before=("/t/7",)), look) == JOB
    assert foreign(sent(), seen(1.0, JOB)) is None


def test_a_start_that_hangs_is_told_to_a_person() -> None:
    """From the reset on it has what an update takes."""
    assert "more than" not in waits(begun(), seen(1_800.0, RUNS))
    assert waits(begun(), seen(1_801.0, RUNS)).endswith(
        "It has had more than the 1800 s that it may take: look at the BMC."
    )


def test_what_was_staged_is_not_verified_while_anything_is_written() -> None:
    """Its task may be one that nobody knows to be its own."""
    other = Task("/t/8", TaskEnd.RUNNING, "Firmware Update: NIC")
    for flash in (begun(task=""), begun()):
        assert "A is at 2, B is at 2, and the BMC is busy with task Firmware Update: NIC" in waits(
            flash, seen(1_000.0, other, versions=NEW)
        )
    done = act(reset(), seen(1_000.0, other, versions=NEW))
    assert isinstance(done, Conclude)
    assert done.end is End.VERIFIED


@pytest.mark.parametrize("ended", [-3_600.0, -0.5, 1_000.5, 9_000.0])
def test_an_end_before_the_reset_or_still_to_come_is_not_believed(ended: float) -> None:
    """A clock was set, here or there: its version has all the time that an update takes as well."""
    odd = replace(FAILED, ended_at=AT + ended)
    assert "1700 s more" in waits(begun(), seen(1_000.0, odd))


def test_a_clock_that_was_set_back_condemns_no_sooner() -> None:
    """The update took 1700 s and ended 30 s ago; by its clock that was two hours ago."""
    odd = replace(DONE, ended_at=AT + 1_700.0 - 7_200.0)
    assert "970 s more" in waits(begun(), seen(1_730.0, odd))
    assert "870 s more" in waits(begun(), seen(1_730.0, replace(odd, ended_at=AT + 1_700.0)))
