"""What the store's rows tell of a job's nodes and its time."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.jobs import known
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.known import Booted, Known, Seen, done, events
from fleet_runner.core.lifecycle import states
from fleet_runner.core.lifecycle.runs import Entry, Node, Run, Ticket
from fleet_runner.core.lifecycle.states import Stage, State

BEGAN = datetime(2026, 11, 28, 2, 0, tzinfo=UTC).timestamp()
ENDED = BEGAN + 3600
XID = Alarm(
    "gpu-1", "xid.79", "GPU 0000:9b:00.0", "f", Source.KERNEL, "s3c from the log", Remedy.POWER_CYCLE, at_once=True,
    first_at=BEGAN + 600, last_at=BEGAN + 600, heard_at=BEGAN + 601, authenticated=True,
)  # fmt: skip
SEEN = Seen("gpu-1", "nvlink", "nvlink.down", "GPU 3", "s3c: 17 of 18 links", Remedy.REBOOT, BEGAN + 900, BEGAN + 600)
REBOOT = Run(7, "gpu-1", Stage.REBOOT, 1, "b", ENDED - 300, reason="s3c")


def of(**rows: Any) -> tuple[Event, ...]:
    """Return the events of some rows."""
    found = events(Known(BEGAN, ENDED, **rows))
    assert not any("s3c" in each.message for each in found), "what others said is in no sentence of ours"
    return found


def only(**rows: Any) -> Event:
    (found,) = of(**rows)
    return found


def test_a_signal_is_told_with_its_senders_time() -> None:
    found = only(alarms=(XID,))
    assert (found.at, found.blur, found.area, found.role) == (BEGAN + 600, 1.0, Area.HARDWARE, Role.CAUSE)
    assert found.message == "GPU 0000:9b:00.0: Xid 79, the GPU has fallen off the bus"
    assert (found.line, found.source, found.node) == ("s3c from the log", "signal: kernel", "gpu-1")


def test_what_stood_before_the_job_is_context_unless_it_happened_again() -> None:
    """A kernel's line is a moment of its own each time; an alert is only told again."""
    old = replace(XID, first_at=BEGAN - 60, last_at=BEGAN - 60)
    assert only(alarms=(old,)).role is Role.CONTEXT
    first, again = of(alarms=(replace(old, last_at=BEGAN + 60, count=3),))
    assert (first.role, again.role, again.at) == (Role.CONTEXT, Role.CAUSE, BEGAN + 60)
    assert again.message.endswith(", the last of 3 times")
    alert = replace(old, code="alert.Hot", source=Source.ALERT, last_at=BEGAN + 60)
    assert (only(alarms=(alert,)).role, only(alarms=(alert,)).blur) == (Role.CONTEXT, known.ALERTED)


def test_what_nobody_proved_to_have_said_is_no_cause() -> None:
    found = only(alarms=(replace(XID, authenticated=False, component=""),))
    assert found.role is Role.CONTEXT
    assert found.message == (
        "Xid 79, the GPU has fallen off the bus (told without authentication; the node is asked first)"
    )


@pytest.mark.parametrize(("seconds", "remedy", "role"), [
    (29.0, Remedy.WATCH, Role.CONTEXT), (31.0, Remedy.WATCH, Role.CAUSE), (None, Remedy.WATCH, Role.CAUSE),
    (29.0, Remedy.TRIAGE, Role.CAUSE),
])  # fmt: skip
def test_a_link_that_came_back_before_a_job_feels_it_is_context(
    seconds: float | None, remedy: Remedy, role: Role
) -> None:
    cleared = None if seconds is None else XID.first_at + seconds
    link = replace(XID, code="fabric.link_down", source=Source.FABRIC, remedy=remedy, cleared_at=cleared)
    assert (only(alarms=(link,)).role, only(alarms=(link,)).area) == (role, Area.FABRIC)
    assert only(alarms=(replace(link, code="fabric.switch_down"),)).role is Role.CAUSE


def test_a_finding_came_to_be_between_two_looks() -> None:
    found = only(seen=(SEEN,))
    assert (found.at, found.blur, found.role) == (BEGAN + 900, 300.0, Role.CAUSE)
    assert (found.source, found.line) == ("check nvlink", "s3c: 17 of 18 links")
    assert only(seen=(SEEN._replace(before=None),)).blur == 900.0
    assert only(seen=(SEEN._replace(stood=True),)).role is Role.CONTEXT


LOGGED = SEEN._replace(code="kernel.out_of_memory", component="process x", remedy=Remedy.RECORD)


@pytest.mark.parametrize(("said", "at", "blur", "role"), [
    ("s3c; logged once, last at 2026-11-28 02:12:00 UTC: s3c", 720.0, 5.0, Role.CAUSE),
    ("s3c; logged once, last at 2026-11-28 03:12:00 +01:00", 720.0, 5.0, Role.CAUSE),
    ("s3c; logged 3 times, last at 2026-11-28 02:12:00 UTC", 720.0, 120.0, Role.CAUSE),
    ("s3c; logged once, last at 2026-11-28 01:12:00 UTC", -2880.0, 5.0, Role.CONTEXT),
    ("s3c; logged once, last at 2026-11-28 09:12:00 UTC", 900.0, 300.0, Role.CAUSE),  # still to come: no time
    ("s3c; logged once, last at 2026-99-28 02:12:00 UTC", 900.0, 300.0, Role.CAUSE),
    ("s3c; logged once, last at 7.25", 900.0, 300.0, Role.CAUSE),
])  # fmt: skip
def test_a_logs_own_time_is_better_than_the_look(said: str, at: float, blur: float, role: Role) -> None:
    found = only(seen=(LOGGED._replace(message=said),))
    assert (found.at, found.blur, found.role, found.area) == (BEGAN + at, blur, role, Area.SOFTWARE)


def test_what_stood_and_was_logged_anew_is_a_cause() -> None:
    """An Xid of last week is still in the log; a new one is news."""
    again = LOGGED._replace(message="logged 9 times, last at 2026-11-28 02:12:00 UTC", stood=True)
    assert (only(seen=(again,)).role, only(seen=(again,)).blur) == (Role.CAUSE, known.DRIFT)


def test_what_a_signal_told_is_not_told_again_by_a_sweep() -> None:
    same = SEEN._replace(code=XID.code, component=XID.component)
    assert [each.source for each in of(alarms=(XID,), seen=(same,))] == ["signal: kernel"]
    other = same._replace(component="GPU 0000:1b:00.0")
    assert len(of(alarms=(XID,), seen=(other,))) == 2
    late = same._replace(at=BEGAN + 3000, before=BEGAN + 2700)
    assert len(of(alarms=(XID,), seen=(late,))) == 2


def test_what_came_after_the_end_ended_nothing() -> None:
    """What was seen after it may have happened before."""
    after = replace(XID, first_at=ENDED + 61.5, last_at=ENDED + 61.5)
    assert only(alarms=(after,)).role is Role.CONTEXT
    assert only(alarms=(replace(after, first_at=ENDED + 59, last_at=ENDED + 59),)).role is Role.CAUSE
    assert only(seen=(SEEN._replace(at=ENDED + 600, before=ENDED - 600),)).role is Role.CAUSE
    assert only(seen=(SEEN._replace(at=ENDED + 900, before=ENDED + 600),)).role is Role.CONTEXT


def test_a_boot_that_nobody_of_us_brought_about_is_a_cause() -> None:
    boot = Booted("gpu-1", ENDED - 60, ENDED - 500)
    found = only(booted=(boot,))
    assert (found.role, found.blur, found.at) == (Role.CAUSE, 440.0, ENDED - 60)
    assert only(booted=(boot._replace(before=0.0),)).blur == known.POST
    mine, ours = of(booted=(boot,), runs=(REBOOT,))
    assert (mine.code, ours.code) == ("run.reboot", "node.rebooted")
    assert (mine.role, ours.role, ours.message) == (
        Role.SYMPTOM,
        Role.SYMPTOM,
        "it booted, as a run of ours had it do",
    )
    for other in (
        replace(REBOOT, ended_at=ENDED - 200),
        replace(REBOOT, node="gpu-2"),
        replace(REBOOT, stage=Stage.RESET),
        replace(REBOOT, opened_at=ENDED + 300),
    ):
        assert of(booted=(boot,), runs=(other,))[-1 if other.opened_at < ENDED else 0].role is Role.CAUSE
    assert of(booted=(boot,), runs=(replace(REBOOT, ended_at=ENDED),))[-1].role is Role.SYMPTOM


def test_only_runs_that_a_job_may_feel_are_told() -> None:
    assert of(runs=(replace(REBOOT, stage=Stage.HEALTH_PASSIVE),)) == ()
    drain = only(runs=(replace(REBOOT, stage=Stage.DRAIN),))
    assert (drain.role, drain.code, drain.line) == (Role.CONTEXT, "run.drain", "s3c")


def test_who_took_a_node_out_is_told() -> None:
    """Automation follows from a fault that is told by itself; a person may have had no fault in mind."""
    move = Entry(
        1, "gpu-1", ENDED - 60, "transition", "s3c", "runner", State.PRODUCTION, states.Event.REBOOT_NEEDED,
        State.REBOOT,
    )  # fmt: skip
    found = only(moves=(move,))
    assert (found.code, found.area, found.role) == ("node.left", Area.HARDWARE, Role.SYMPTOM)
    assert found.message == "it left production: power-cycled, then verified before it serves again"
    person = only(moves=(replace(move, by="kim"),))
    assert (person.area, person.role) == (Area.UNKNOWN, Role.CAUSE)
    assert person.message.startswith("a person took it out of production: ")
    back = only(moves=(replace(move, state=State.REBOOT, to=State.PRODUCTION),))
    assert (back.code, back.role) == ("node.moved", Role.CONTEXT)
    assert only(moves=(replace(move, state=None, to=None),)).message == "it moved on"


def test_conditions_and_firmware_are_context() -> None:
    entry = Entry(1, "gpu-1", ENDED - 60, "condition", "s3c", "kim")
    assert (only(conditions=(entry,)).role, only(conditions=(entry,)).line) == (Role.CONTEXT, "s3c")
    flash = Flash(1, "gpu-1", "bmc", {}, {}, "i", "h", Activate("bmc_reset"), 1, 1.0, 1, BEGAN)
    assert of(flashes=(flash,)) == ()
    sent, activated = of(flashes=(replace(flash, sent_at=BEGAN + 1, activated_at=BEGAN + 2),))
    assert (sent.code, activated.code, activated.role) == ("firmware.sent", "firmware.activated", Role.CONTEXT)


def test_what_was_done_is_said() -> None:
    tried = Attempt(3, "gpu-1", Remedy.RESET, ("f",), "runner", BEGAN + 700, because="s3c")
    ticket = Ticket(12, "f", "xid", "s3c", "s3c", ("gpu-1", "gpu-9"), "TRIAGE", BEGAN + 800)
    out = Node("gpu-1", "t", State.TRIAGE, BEGAN + 900, 1)
    serves = Node("gpu-2", "t", State.PRODUCTION, BEGAN, 1)
    found = done(Known(BEGAN, ENDED, nodes=(out, serves), attempts=(tried,), tickets=(ticket,)))
    assert [each.sentence for each in found] == [
        "RESET was tried on gpu-1: it goes on",
        "ticket 12 of gpu-1 is open (TRIAGE)",
        "gpu-1 is out of production: out of service; a person decides what to do",
    ]
    assert [each.line for each in found] == ["s3c", "s3c", ""]
    over = replace(tried, ended_at=BEGAN + 710)
    for helped, said in ((True, "it helped"), (False, "it did not help"), (None, "what came of it is not known")):
        (told,) = done(Known(BEGAN, ENDED, attempts=(replace(over, helped=helped),)))
        assert told.sentence == f"RESET was tried on gpu-1: {said}"
    closed = replace(ticket, closed_at=ENDED)
    assert done(Known(BEGAN, ENDED, nodes=(serves,), tickets=(closed,))) == ()
    (told,) = done(Known(BEGAN, ENDED, nodes=(replace(serves, name="gpu-9"),), tickets=(closed,)))
    assert told.sentence == "ticket 12 of gpu-9 is closed (TRIAGE)"


@given(st.lists(st.tuples(st.floats(BEGAN - 9e5, ENDED + 9e5), st.sampled_from(list(Source)), st.booleans())))
def test_events_are_in_their_order_whoever_tells_of_them(told: list[tuple[float, Source, bool]]) -> None:
    alarms = tuple(
        replace(XID, first_at=at, last_at=at + 1, source=source, authenticated=proven) for at, source, proven in told
    )
    found = of(alarms=alarms, seen=(SEEN, LOGGED), booted=(Booted("gpu-1", ENDED, BEGAN),))
    assert [each.at for each in found] == sorted(each.at or 0.0 for each in found)
    assert all(each.role is Role.CONTEXT for each in found if (each.at or 0.0) < BEGAN - known.DRIFT)
