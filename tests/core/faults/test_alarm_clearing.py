"""Every alarm can clear: no sticky ones."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.alarm_clearing import cleared, quiet_at, standing
from fleet_runner.core.lifecycle.actions import ClearAlarm
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import View
from tests.making import NOW, SINCE, a_finding, a_node, a_view, an_alarm, stored

DAY = 86_400.0


def because(view: View, now: float = NOW) -> str:
    """Why its one alarm is over; "" where it stands."""
    return next((action.because for action in cleared(view, now)), "")


def test_a_node_that_came_back_after_it_has_proved_it() -> None:
    """The remedy was verified. In another state, or before the last signal, nothing is proved."""
    old = an_alarm(last_at=SINCE - 5, heard_at=SINCE - 4)
    assert because(a_view(alarms=(old,))) == "the node returned to production after the last signal"
    assert because(a_view(a_node(State.TRIAGE), alarms=(old,))) == ""
    assert because(a_view(alarms=(an_alarm(),))) == ""


def looked(stored: Stored, *, opened_at: float = NOW - 5, run: int = 7, over: bool = True) -> View:
    """A node with an alarm, last heard of 10 seconds ago, and what a run, opened later, has seen."""
    given: dict[str, Any] = {"ended_at": NOW - 1, "outcome": Outcome.PASSED} if over else {}
    mine = replace(Run(run, "gpu-01", Stage.HEALTH_PASSIVE, 3, "b", opened_at), **given)
    runs: dict[str, Any] = {"runs": (mine,)} if over else {"run": mine}
    return a_view(alarms=(an_alarm(),), latest=(stored,), **runs)


@pytest.mark.parametrize("over", [True, False])
def test_a_check_that_covers_it_and_passes_disproves_it(*, over: bool) -> None:
    """If it looked later, and has no finding of the kind; one of something else says nothing."""
    later = NOW - 1
    assert because(looked(stored(at=later), over=over)) == ("xid ran after the last signal, and does not see it")
    recorded = a_finding(code="xid.119", fault=an_alarm().fault)
    for other in (
        stored(at=later, check="gpu_thermals"),
        stored(at=later, check="a check of another time"),
        stored(at=later, verdict=Verdict.UNKNOWN),
        stored(recorded, at=later, verdict=Verdict.PASS),
    ):
        assert because(looked(other, over=over)) == ""


@pytest.mark.parametrize("over", [True, False])
def test_what_was_read_before_a_fault_proves_nothing_about_it(*, over: bool) -> None:
    """A sweep that was under way may have read its log before the line was in it, however late its verdict is."""
    late = stored(at=NOW - 1)
    assert because(looked(late, opened_at=NOW - 11, over=over)) == ""
    assert because(looked(late, opened_at=NOW - 10, over=over)) == ""
    assert because(looked(late, run=8, over=over)) == ""
    assert because(looked(late, opened_at=NOW - 9, over=over)) != ""


def test_what_only_counts_yet_is_not_disproved() -> None:
    """Else the second of two within a day would never be the second."""
    view = replace(looked(stored(at=NOW - 1)), alarms=(an_alarm(raised_at=None),))
    assert because(view) == ""


def test_silence_ends_it_after_as_long_as_the_rules_say() -> None:
    """What may still come to count stands as long as it may."""
    xid = a_view(alarms=(an_alarm(),))
    assert quiet_at(xid) == NOW - 10 + 2 * DAY
    assert because(xid, NOW - 11 + 2 * DAY) == ""
    assert because(xid, NOW - 10 + 2 * DAY) == "no more signals for 48 h"
    assert quiet_at(a_view(alarms=(an_alarm(code="gpu.hot"),))) == NOW - 10 + 3600
    assert quiet_at(a_view(alarms=(an_alarm(code="gpu.hot", raised_at=None),))) == NOW - 10 + 3600
    assert quiet_at(a_view()) == math.inf


@given(
    st.sampled_from(list(State)), st.booleans(), st.sampled_from(["xid.79", "alert.X", "fabric_manager.down", "?"])
)
def test_every_alarm_can_clear(state: State, raised: bool, code: str) -> None:
    """In whatever state its node is, and whatever it is about."""
    alarm = an_alarm(code=code, raised_at=NOW - 10 if raised else None)
    view = a_view(a_node(state), alarms=(alarm,))
    assert because(view, quiet_at(view))


def test_what_is_over_stands_no_more() -> None:
    """The rest does."""
    one, two = an_alarm(id=1), an_alarm(id=2)
    assert standing((one, two), (ClearAlarm(1, "quiet"),)) == (two,)
