"""When a BMC is asked about coolant."""

import math
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.leak_looks import ASKS, LEAST, ask_at
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.production import watch
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.view import Timing
from fleet_runner.core.schedules.schedule import schedule
from fleet_runner.core.schedules.sweep import Sweep
from tests.making import NOW, a_finding, a_run, a_ticket, a_view, an_alarm, stored

TIMING = Timing()
ENDED = NOW - 10.0


def told(code: str = "redfish.Environmental.LeakDetectedCritical", component: str = "Moisture", **more: Any) -> Alarm:
    """What a BMC posted, 5 seconds ago."""
    return an_alarm(
        code=code, component=component, **{"remedy": Remedy.WATCH, "heard_at": NOW - 5.0, "last_at": NOW - 5.0} | more
    )


def look(**more: Any) -> Any:
    """The last look at the BMC: from 50 to 10 seconds ago."""
    return a_run(Stage.CABLING, **more)


@pytest.mark.parametrize(
    ("alarm", "asked"),
    [
        (told(), True),
        (told(authenticated=False), True),
        (told("redfish.ResourceEvent.ResourceStatusChangedCritical", "Chassis_0_LeakDetector_1_ColdPlate"), True),
        (told("redfish.ResourceEvent.ResourceStatusChangedCritical", "PSU 1"), False),
        (told("alert.Leak", "x"), False),
    ],
)
def test_a_bmc_that_tells_of_a_leak_is_asked_at_once(alarm: Alarm, asked: bool) -> None:
    """Whoever told: a look costs nothing. What is about another part, or no BMC's word, asks for none."""
    for runs in ((), (look(),)):
        assert ask_at(a_view(alarms=(alarm,), runs=runs), TIMING) == (0.0 if asked else math.inf)


def test_messages_without_end_have_a_bmc_asked_once_a_minute() -> None:
    """Not in each second; those without authentication a few times an hour: they may be forged for a whole fleet."""
    runs = (look(reason=ASKS),)
    proven, forged = told(), told(component="Rope 2", authenticated=False)
    assert ask_at(a_view(alarms=(forged, proven), runs=runs), TIMING) == ENDED + LEAST
    assert ask_at(a_view(alarms=(forged,), runs=runs), TIMING) == ENDED + TIMING.confirm
    assert ask_at(a_view(alarms=(forged,), runs=runs), replace(TIMING, confirm=1.0)) == ENDED + LEAST


def test_a_message_is_answered_by_a_look_that_began_later() -> None:
    """Whatever that look was made for."""
    view = a_view(alarms=(told(last_at=NOW - 60.0, heard_at=NOW - 60.0),), runs=(look(),))
    assert ask_at(view, TIMING) == math.inf


@pytest.mark.parametrize("code", ["leak.detected", "leak.suspected"])
def test_coolant_that_was_seen_is_looked_at_again_soon(code: str) -> None:
    """So that a doubt is settled in minutes, and what has dried gives its node back."""
    found = stored(a_finding(code=code), check="sensors")
    assert ask_at(a_view(latest=(found,), runs=(look(),)), TIMING) == ENDED + TIMING.confirm
    quick = replace(TIMING, confirm=1.0)
    assert ask_at(a_view(latest=(found,), runs=(look(),)), quick) == ENDED + LEAST
    assert ask_at(a_view(latest=(found,)), TIMING) == math.inf


@pytest.mark.parametrize("code", ["leak.detected", "leak.suspected"])
def test_coolant_is_looked_for_while_its_ticket_is_open(code: str) -> None:
    """A detector that is mute since is asked again, too."""
    mute = stored(check="sensors", verdict=Verdict.UNKNOWN)
    ticket = a_ticket(fault=f"gpu-01/{code}/Moisture", check="sensors")
    view = a_view(latest=(mute,), runs=(look(),))
    assert ask_at(view, TIMING) == math.inf
    assert ask_at(replace(view, tickets=(ticket,)), TIMING) == ENDED + TIMING.confirm


def test_other_findings_ask_for_no_look() -> None:
    """Nor does how a BMC would react."""
    found = stored(a_finding(code="leak.policy"), check="sensors")
    assert ask_at(a_view(latest=(found,), runs=(look(),)), TIMING) == math.inf


def test_who_switched_looks_at_bmcs_off_is_obeyed() -> None:
    """Whatever is told."""
    off = replace(TIMING, cabling=Sweep(schedule("cabling", "never")))
    assert ask_at(a_view(alarms=(told(),)), off) == math.inf


def test_a_serving_node_has_its_bmc_read_for_it() -> None:
    """Long before its turn; what the look finds decides what follows."""
    swept = (a_run(Stage.HEALTH_PASSIVE), look())
    decision = watch(a_view(alarms=(told(),), runs=swept), TIMING, NOW)
    assert [(each.stage, each.reason) for each in decision.actions if isinstance(each, OpenRun)] == [
        (Stage.CABLING, ASKS)
    ]
    assert watch(a_view(runs=swept), TIMING, NOW).actions == ()
    waits = watch(a_view(alarms=(told(),), runs=(a_run(Stage.HEALTH_PASSIVE), look(reason=ASKS))), TIMING, NOW)
    assert (waits.actions, waits.wake_at) == ((), ENDED + LEAST)
