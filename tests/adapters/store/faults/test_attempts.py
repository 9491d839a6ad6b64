"""Attempts: begun and ended with the moves that they belong to."""

from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.actions import BeginAttempt, ClearAlarm, EndAttempt
from fleet_runner.core.lifecycle.states import State
from tests.adapters.store.builders import decision, node
from tests.making import an_alarm

BEGIN = BeginAttempt(Remedy.RESET, ("gpu-01/xid.119/GPU 3",), "runner")


def begun(store: Store, at: float) -> int:
    """The id of a reset that was begun then."""
    store.apply(node(store), decision(BEGIN), at)
    return store.attempts("gpu-01")[-1].id


def test_an_attempt_goes_on_until_it_is_ended(stocked: Store) -> None:
    number = begun(stocked, 200.0)
    (going,) = stocked.attempts("gpu-01", since=900.0)
    assert (going.remedy, going.faults, going.by, going.at) == (Remedy.RESET, BEGIN.faults, "runner", 200.0)
    assert (going.ended_at, going.helped) == (None, None)
    stocked.apply(node(stocked), decision(EndAttempt(number, helped=True, because="It was verified.")), 300.0)
    (ended,) = stocked.attempts("gpu-01")
    assert (ended.ended_at, ended.helped, ended.because) == (300.0, True, "It was verified.")
    assert stocked.attempts("gpu-01", since=201.0) == ()
    assert stocked.history("gpu-01") == ()


def test_what_seemed_to_help_and_did_not_is_told(stocked: Store) -> None:
    """Its end stays when it was."""
    number = begun(stocked, 200.0)
    for at, helped, because in ((300.0, True, "It was verified."), (400.0, False, "GPU 3: Xid 119 again.")):
        stocked.apply(node(stocked), decision(EndAttempt(number, helped, because)), at)
    (ended,) = stocked.attempts("gpu-01")
    assert (ended.ended_at, ended.helped) == (300.0, False)
    assert [each.sentence for each in stocked.history("gpu-01")] == ["RESET did not last: GPU 3: Xid 119 again."]


def test_two_attempts_at_a_time_are_refused(stocked: Store) -> None:
    begun(stocked, 200.0)
    with pytest.raises(ConflictError, match=r"attempt 1 is not over"):
        stocked.apply(node(stocked), decision(BEGIN), 201.0)


def test_an_attempt_that_was_left_open_stops_nothing_once_its_node_serves(stocked: Store) -> None:
    """What came of it is not known."""
    begun(stocked, 200.0)
    serving = replace(node(stocked), state=State.PRODUCTION)
    stocked.apply(serving, decision(BEGIN), 300.0)
    old, new = stocked.attempts("gpu-01")
    assert (old.ended_at, old.helped) == (300.0, None)
    assert old.because.startswith("the node served again before")
    assert (new.at, new.ended_at) == (300.0, None)


def test_no_attempt_of_another_node_is_ended(stocked: Store) -> None:
    with pytest.raises(ConflictError, match="it has no attempt 7"):
        stocked.apply(node(stocked), decision(EndAttempt(7, helped=None, because="")), 200.0)


def test_a_decision_clears_an_alarm(stocked: Store) -> None:
    """And says why."""
    stocked.keep_alarms(["gpu-01"], lambda _: [an_alarm(id=0)], 200.0)
    (alarm,) = stocked.alarms("gpu-01")
    stocked.apply(node(stocked), decision(ClearAlarm(alarm.id, "quiet for 1 h")), 300.0)
    assert stocked.alarms("gpu-01") == ()
    assert stocked.history("gpu-01")[-1].sentence == "Alarm xid.119 of GPU 3 is cleared: quiet for 1 h"
