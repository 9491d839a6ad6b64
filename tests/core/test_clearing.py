"""Every alarm can clear: no sticky ones."""

import math

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.actions import ClearAlarm
from fleet_runner.core.clearing import cleared, quiet_at, standing
from fleet_runner.core.lifecycle import State
from fleet_runner.core.verdicts import Verdict
from fleet_runner.core.view import View
from tests.making import NOW, SINCE, a_finding, a_node, a_view, an_alarm, stored

DAY = 86_400.0


def because(view: View, now: float = NOW) -> str:
    """Why its one alarm is over; "" where it stands."""
    return next((action.because for action in cleared(view, now)), "")


def test_a_node_that_came_back_after_it_has_proved_it() -> None:
    """The remedy was verified. In another state, or before the last signal, nothing is proved."""
    old = an_alarm(last_at=SINCE - 5, heard_at=SINCE - 4)
    assert because(a_view(alarms=(old,))) == "the node came to production after it was last heard of"
    assert because(a_view(a_node(State.TRIAGE), alarms=(old,))) == ""
    assert because(a_view(alarms=(an_alarm(),))) == ""


def test_a_check_that_covers_it_and_passes_disproves_it() -> None:
    """If it looked later, and has no finding of the kind; one of something else says nothing."""
    alarm = an_alarm()
    later = NOW - 1
    assert because(a_view(alarms=(alarm,), latest=(stored(at=later),))) == (
        "xid looked after it was last heard of, and does not see it"
    )
    recorded = a_finding(code="xid.119", fault=alarm.fault)
    for other in (
        stored(at=NOW - 11),
        stored(at=later, check="gpu_thermals"),
        stored(at=later, check="a check of another time"),
        stored(at=later, verdict=Verdict.UNKNOWN),
        stored(recorded, at=later, verdict=Verdict.PASS),
    ):
        assert because(a_view(alarms=(alarm,), latest=(other,))) == ""


def test_what_only_counts_yet_is_not_disproved() -> None:
    """Else the second of two within a day would never be the second."""
    assert because(a_view(alarms=(an_alarm(raised_at=None),), latest=(stored(at=NOW - 1),))) == ""


def test_silence_ends_it_after_as_long_as_the_rules_say() -> None:
    """What may still come to count stands as long as it may."""
    xid = a_view(alarms=(an_alarm(),))
    assert quiet_at(xid) == NOW - 10 + 2 * DAY
    assert because(xid, NOW - 11 + 2 * DAY) == ""
    assert because(xid, NOW - 10 + 2 * DAY) == "nothing more was heard of it for 48 h"
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
