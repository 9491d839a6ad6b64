"""A remedy and a node's work: who is asked whether there is any, what is waited for, and for how long."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.rules.rules import AtDeadline, Rules
from fleet_runner.core.lifecycle.actions import (
    BeginAttempt,
    ClearCondition,
    OpenRun,
    SetCondition,
)
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import Condition, Event, Stage
from tests.core.faults.pending_nodes import BUSY, FALLEN, SWEPT, TIMING, event, of, pending
from tests.making import (
    NOW,
    SINCE,
    a_view,
    an_alarm,
    stored,
    usage,
)

WHOLE = stored(check="gpu_usage", observed={"in_use": True, "sole": True}, id=4)


def the_job(**observed: Any) -> Stored:
    """What the scheduler said of the node's job."""
    return stored(check="scheduler", observed={"in_use": True, **observed}, id=6)


def test_a_fault_that_has_ended_the_work_does_not_wait_for_it() -> None:
    """It is cordoned and the drain asked once, so that nothing new starts; then it goes."""
    alarmed = pending(Remedy.POWER_CYCLE, alarms=(FALLEN,), latest=(WHOLE,))
    asked = decide(replace(alarmed, runs=SWEPT), TIMING, NOW)
    assert [action.stage for action in of(OpenRun, asked)] == [Stage.DRAIN]
    gone = decide(alarmed, TIMING, NOW)
    assert event(gone) is Event.REBOOT_NEEDED
    assert of(BeginAttempt, gone) == [BeginAttempt(Remedy.POWER_CYCLE, (FALLEN.fault,), "runner")]
    assert {action.condition for action in of(ClearCondition, gone)} == {Condition.PENDING, Condition.DRAINING}


def test_a_fault_that_has_ended_one_of_several_jobs_waits_for_the_others() -> None:
    """Seven GPUs of a shared node are well: it is drained, and goes once nobody uses it."""
    shared = pending(Remedy.POWER_CYCLE, alarms=(FALLEN,))
    assert event(decide(shared, TIMING, NOW)) is None
    assert event(decide(replace(shared, latest=(WHOLE, the_job())), TIMING, NOW)) is None
    ended = (usage(in_use=False), stored(check="scheduler", observed={"in_use": False}, id=6))
    assert event(decide(replace(shared, latest=ended), TIMING, NOW)) is Event.REBOOT_NEEDED


def test_a_job_that_has_the_whole_node_is_the_one_that_was_lost() -> None:
    """Its scheduler says so; one that gives nodes work and does not say leaves it open."""
    whole = pending(Remedy.POWER_CYCLE, alarms=(FALLEN,), latest=(BUSY, the_job(sole=True)), scheduled=True)
    assert event(decide(whole, TIMING, NOW)) is Event.REBOOT_NEEDED
    assert event(decide(replace(whole, latest=(WHOLE,)), TIMING, NOW)) is None


def test_a_node_that_is_dead_already_does_not_wait_for_its_own_answer() -> None:
    """Its scheduler has given its jobs up; an answer from before the fault says nothing."""
    given_up = stored(check="scheduler", observed={"in_use": False, "state": "down*+drain"}, id=6)
    dead = pending(Remedy.POWER_CYCLE, alarms=(FALLEN,), latest=(given_up,), scheduled=True)
    assert event(decide(dead, TIMING, NOW)) is Event.REBOOT_NEEDED
    old = replace(given_up, at=SINCE - 1.0)
    assert event(decide(replace(dead, latest=(old,)), TIMING, NOW)) is None


def test_past_its_deadline_a_remedy_asks_or_acts_as_the_policy_says() -> None:
    """Only the runner's own acts."""
    act = Rules(at_deadline=AtDeadline.ACT, deadline=60)
    alarmed = pending(Remedy.RESET, alarms=(an_alarm(),), rules=act)
    assert event(decide(alarmed, TIMING, NOW)) is Event.RESET_NEEDED
    assert event(decide(replace(alarmed, rules=Rules(deadline=60)), TIMING, NOW)) is None
    assert "a person decides" in decide(replace(alarmed, rules=Rules(deadline=60)), TIMING, NOW).waiting
    assert event(decide(replace(alarmed, rules=replace(act, deadline=None)), TIMING, NOW)) is None
    assert event(decide(pending(Remedy.RESET, "ann", rules=act), TIMING, NOW)) is None


def test_work_that_is_never_to_be_interrupted_is_waited_for_past_the_deadline_and_whatever_the_fault_ended() -> None:
    act = Rules(at_deadline=AtDeadline.ACT, deadline=60)
    never = the_job(sole=True, never=["pod ml/train"])
    for view in (
        pending(Remedy.RESET, alarms=(an_alarm(),), rules=act, latest=(BUSY, never)),
        pending(Remedy.POWER_CYCLE, alarms=(FALLEN,), latest=(BUSY, never), scheduled=True),
    ):
        assert event(decide(view, TIMING, NOW)) is None
        free = replace(view, latest=(BUSY, the_job(sole=True)))
        assert event(decide(free, TIMING, NOW)) is not None


def test_what_a_silent_scheduler_may_know_of_work_is_waited_for_past_the_deadline() -> None:
    """Where it can tell of such wishes: not by its last word but one, nor by one from before the remedy."""
    act = Rules(at_deadline=AtDeadline.ACT, deadline=60)
    silent = stored(check="scheduler", verdict=Verdict.UNKNOWN, id=6)
    old = stored(check="scheduler", observed={"in_use": True}, at=SINCE, id=6)
    waits = pending(Remedy.RESET, alarms=(an_alarm(),), rules=act, scheduled=True, wishes=True)
    for latest in ((BUSY,), (BUSY, silent), (BUSY, old)):
        kept = decide(replace(waits, latest=latest), TIMING, NOW)
        assert event(kept) is None
        assert "its scheduler does not say whether its work may be interrupted" in kept.waiting
        assert "a person decides (see why it does not answer" in kept.waiting
        assert event(decide(replace(waits, latest=latest, wishes=False), TIMING, NOW)) is Event.RESET_NEEDED
    assert event(decide(replace(waits, latest=(BUSY, the_job())), TIMING, NOW)) is Event.RESET_NEEDED


def test_the_cluster_that_is_waited_for_is_named() -> None:
    silent = stored(check="scheduler", verdict=Verdict.UNKNOWN, id=6, observed={"cluster": "east"})
    waits = pending(Remedy.RESET, alarms=(an_alarm(),), scheduled=True, wishes=True)
    kept = decide(replace(waits, latest=(BUSY, silent)), TIMING, NOW)
    assert "its scheduler (cluster east) does not say whether its work may be interrupted" in kept.waiting
    busy = replace(waits, latest=(usage(in_use=False), silent), wishes=False)
    assert "its scheduler (cluster east) has work on it, or does not answer" in decide(busy, TIMING, NOW).waiting


def test_what_is_never_to_be_interrupted_is_named_with_what_to_do() -> None:
    never = ["pod ml/train", "pod ml/shop"]
    alarmed = pending(Remedy.RESET, alarms=(an_alarm(),), latest=(BUSY, the_job(never=never)))
    said = decide(alarmed, TIMING, NOW).waiting
    assert said.startswith("RESET pending, pod ml/train is never to be interrupted, nor is other work (1): ")
    over = decide(replace(alarmed, rules=Rules(deadline=60)), TIMING, NOW).waiting
    assert (
        "(ask the owner of pod ml/train to end it, or delete it: once all such work has gone, the RESET foll" in over
    )


def test_a_node_that_another_remediator_has_is_left_to_it_and_says_so() -> None:
    """Idle or not, past the deadline and whatever the fault ended; once its mark has gone, the remedy runs."""
    theirs = "NVSentinel (label dgxc.nvidia.com/nvsentinel-state)"
    free = stored(check="scheduler", observed={"in_use": False}, id=6)
    owned = stored(check="scheduler", observed={"in_use": False, "owner": theirs}, id=6)
    act = Rules(at_deadline=AtDeadline.ACT, deadline=60)
    for view in (
        pending(Remedy.RESET, alarms=(an_alarm(),), latest=(usage(in_use=False), owned)),
        pending(Remedy.RESET, alarms=(an_alarm(),), rules=act, latest=(usage(in_use=False), owned)),
        pending(Remedy.POWER_CYCLE, alarms=(FALLEN,), latest=(usage(in_use=False), owned), scheduled=True),
        pending(Remedy.REBOOT, "ann", latest=(usage(in_use=False), owned)),
    ):
        kept = decide(view, TIMING, NOW)
        assert event(kept) is None
        assert f"it is left to {theirs}: " in kept.waiting
        assert event(decide(replace(view, latest=(usage(in_use=False), free)), TIMING, NOW)) is not None


def says(verdict: Verdict = Verdict.PASS, *, in_use: bool = False, at: float = NOW - 5) -> Stored:
    """What the scheduler says of the node."""
    return stored(check="scheduler", observed={"in_use": in_use}, verdict=verdict, at=at, id=5)


@pytest.mark.parametrize(
    ("scheduled", "answers", "goes"),
    [
        (True, (says(),), True),
        (True, (says(in_use=True),), False),
        (True, (says(Verdict.UNKNOWN),), False),
        (True, (says(Verdict.SKIPPED),), True),
        (True, (says(at=SINCE - 1),), False),
        (True, (), False),
        (False, (), True),
        (False, (says(in_use=True, at=SINCE - 1),), True),
        (False, (says(in_use=True),), False),
    ],
)
def test_a_node_is_idle_if_everybody_says_so_who_can_tell(
    scheduled: bool, answers: tuple[Stored, ...], goes: bool
) -> None:
    """A scheduler that has not answered may begin work now; one that does not know the node does not count."""
    waits = pending(Remedy.REBOOT, latest=(usage(in_use=False), *answers), alarms=(an_alarm(),), scheduled=scheduled)
    waits = replace(waits, alarms=(an_alarm(remedy=Remedy.REBOOT, code="node.test"),))
    decision = decide(waits, TIMING, NOW)
    assert (event(decision) is Event.REBOOT_NEEDED) is goes
    assert goes or "its scheduler has work on it, or does not answer" in decision.waiting


def test_work_that_only_the_scheduler_knows_is_use() -> None:
    """A job may hold no GPU yet."""
    used = decide(a_view(latest=(usage(in_use=False), says(in_use=True)), runs=SWEPT), TIMING, NOW)
    assert [action.condition for action in of(SetCondition, used)] == [Condition.IN_USE]
