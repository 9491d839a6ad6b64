"""A remedy from the fault to its end: observed only, remembered, undone at the scheduler."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import (
    BeginAttempt,
    ClearAlarm,
    ClearCondition,
    Decision,
    EndAttempt,
    Move,
    OpenRun,
    SetCondition,
)
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import Condition, Event, Stage, State
from tests.core.faults.pending_nodes import FALLEN, OBSERVING, SWEPT, TIMING, event, of, pending
from tests.making import (
    NOW,
    SINCE,
    a_finding,
    a_node,
    a_run,
    a_view,
    an_alarm,
    an_attempt,
    an_intent,
    conditions,
    held,
    stored,
    usage,
)


def test_a_node_is_cordoned_while_a_sweep_runs_on_it() -> None:
    """No second run is opened, and nothing moves, before that has ended."""
    sweeping = a_view(alarms=(an_alarm(),), runs=SWEPT, run=a_run(Stage.HEALTH_PASSIVE, None))
    cordoned = decide(sweeping, TIMING, NOW)
    assert Condition.CORDONED in {action.condition for action in of(SetCondition, cordoned)}
    assert cordoned.waiting.startswith("health_passive runs")
    idle = pending(Remedy.RESET, alarms=(an_alarm(),), latest=(usage(in_use=False),))
    assert event(decide(idle, TIMING, NOW)) is Event.RESET_NEEDED
    assert decide(replace(idle, run=sweeping.run), TIMING, NOW).actions == ()
    for node in (a_node(conditions=conditions(Condition.HELD)), a_node(State.TRIAGE)):
        assert decide(replace(sweeping, node=node), TIMING, NOW).actions == ()


def test_a_node_that_may_not_leave_service_now_says_why_and_serves_on() -> None:
    """It is not cordoned for what cannot come; what has healed is given back all the same."""
    barred = "the fleet's budget is spent"
    kept = decide(a_view(alarms=(an_alarm(),), runs=SWEPT, barred=barred), TIMING, NOW)
    assert of(SetCondition, kept) == []
    assert kept.waiting == f"waits: {barred}"
    healed = decide(pending(Remedy.RESET, barred=barred), TIMING, NOW)
    assert Condition.CORDONED in {action.condition for action in of(ClearCondition, healed)}


def test_what_a_person_asked_for_gives_way_only_to_what_is_no_milder_and_does_not_wait() -> None:
    """Their reboot would wait for a dead job; a triage goes further, and another fault waits for work as they do."""
    for asked, first in ((Remedy.REBOOT, Remedy.POWER_CYCLE), (Remedy.POWER_CYCLE, Remedy.POWER_CYCLE)):
        taken = decide(pending(asked, "ann", alarms=(FALLEN,)), TIMING, NOW)
        now = next(each.held for each in of(SetCondition, taken) if each.condition is Condition.PENDING)
        assert (now.detail, now.by, now.since) == (first, "runner", NOW)
    kept = pending(Remedy.TRIAGE, "ann", alarms=(FALLEN,)), pending(Remedy.RESET, "ann", alarms=(an_alarm(),))
    for view in kept:
        decision = decide(view, TIMING, NOW)
        assert event(decision) is None
        assert of(SetCondition, decision) == []


@pytest.mark.parametrize(
    ("remedy", "expected"),
    [
        (Remedy.RESTART, Event.RESET_NEEDED),
        (Remedy.RESET, Event.RESET_NEEDED),
        (Remedy.REBOOT, Event.REBOOT_NEEDED),
        (Remedy.POWER_CYCLE, Event.REBOOT_NEEDED),
        (Remedy.TRIAGE, Event.TRIAGE_NEEDED),
        (Remedy.REFLASH, Event.FIRMWARE_NEEDED),
    ],
)
def test_each_remedy_has_its_way_and_those_of_the_runner_are_remembered(remedy: Remedy, expected: Event) -> None:
    """With who asked for them."""
    gone = decide(pending(remedy, "ann", latest=(usage(in_use=False),)), TIMING, NOW)
    assert event(gone) is expected
    tried = expected in {Event.RESET_NEEDED, Event.REBOOT_NEEDED}
    assert of(BeginAttempt, gone) == ([BeginAttempt(remedy, (), "ann")] if tried else [])


def test_a_harder_fault_takes_the_place_of_a_milder_one_and_its_deadline_goes_on() -> None:
    """The node was told to take no new work then."""
    worse = an_alarm(remedy=Remedy.REBOOT, code="node.test", fault="f")
    first = of(SetCondition, decide(pending(Remedy.RESET, alarms=(an_alarm(), worse)), TIMING, NOW))[0]
    assert (first.held.detail, first.held.since) == ("REBOOT", SINCE)


def test_a_fault_whose_alarm_is_over_ends_its_remedy() -> None:
    """Without a person, and without its listener."""
    quiet = an_alarm(heard_at=NOW - 1e6)
    healed = decide(pending(Remedy.RESET, alarms=(quiet,)), TIMING, NOW)
    assert of(ClearAlarm, healed) == [ClearAlarm(6, "no more signals for 48 h")]
    assert {action.condition for action in of(ClearCondition, healed)} == {
        Condition.PENDING,
        Condition.DRAINING,
        Condition.CORDONED,
    }
    assert decide(pending(Remedy.RESET, alarms=(an_alarm(),)), TIMING, NOW).wake_at <= NOW + 50


def test_cancelling_covers_what_signals_told() -> None:
    """Until the alarm has cleared."""
    cancelled = decide(
        pending(Remedy.RESET, alarms=(an_alarm(),), intents=(an_intent(IntentKind.CANCEL),)), TIMING, NOW
    )
    (waived,) = of(SetCondition, cancelled)
    assert waived.held.detail == an_alarm().fault
    node = a_node(conditions={Condition.WAIVED: waived.held})
    assert decide(a_view(node, alarms=(an_alarm(),), runs=SWEPT), TIMING, NOW).actions == ()
    over = decide(a_view(node, runs=SWEPT), TIMING, NOW)
    assert [action.condition for action in of(ClearCondition, over)] == [Condition.WAIVED]


def test_a_fleet_that_only_observes_says_what_it_would_do() -> None:
    """And drops what it had begun; what a person asked for is done."""
    told = decide(a_view(alarms=(an_alarm(),), runs=SWEPT, rules=OBSERVING), TIMING, NOW)
    (advised,) = of(SetCondition, told)
    assert (advised.condition, advised.held.detail) == (Condition.ADVISED, f"RESET\n{an_alarm().fault}")
    assert told.waiting == "observing: would RESET when it is idle: GPU 3: Xid 119."
    known = a_node(conditions={Condition.ADVISED: advised.held})
    assert decide(a_view(known, alarms=(an_alarm(),), runs=SWEPT, rules=OBSERVING), TIMING, NOW).actions == ()
    other = decide(a_view(known, alarms=(FALLEN,), runs=SWEPT, rules=OBSERVING), TIMING, NOW)
    assert other.waiting.startswith("observing: would POWER_CYCLE at once if its work is lost, else when it is")
    assert of(SetCondition, other)
    dropped = decide(pending(Remedy.RESET, alarms=(an_alarm(),), rules=OBSERVING), TIMING, NOW)
    assert {action.condition for action in of(ClearCondition, dropped)} >= {Condition.PENDING, Condition.CORDONED}
    asked = pending(Remedy.REBOOT, "ann", latest=(usage(in_use=False),), alarms=(FALLEN,), rules=OBSERVING)
    assert event(decide(asked, TIMING, NOW)) is Event.REBOOT_NEEDED


def test_advice_is_over_with_its_fault_or_with_observing() -> None:
    """As long as a check has no answer it may still be true."""
    known = a_node(conditions={Condition.ADVISED: held(detail="RESET")})
    healed = decide(a_view(known, runs=SWEPT, rules=OBSERVING), TIMING, NOW)
    assert [action.condition for action in of(ClearCondition, healed)] == [Condition.ADVISED]
    unsure = stored(verdict=Verdict.UNKNOWN)
    assert decide(a_view(known, latest=(unsure,), runs=SWEPT, rules=OBSERVING), TIMING, NOW).actions == ()
    about = a_node(conditions={Condition.ADVISED: held(detail=f"RESET\n{an_alarm().fault}")})
    assert decide(a_view(about, latest=(unsure,), runs=SWEPT, rules=OBSERVING), TIMING, NOW).actions == ()
    silent = replace(unsure, result=replace(unsure.result, check="time_sync"))
    others = decide(a_view(about, latest=(silent,), runs=SWEPT, rules=OBSERVING), TIMING, NOW)
    assert [action.condition for action in of(ClearCondition, others)] == [Condition.ADVISED]
    acting = decide(a_view(known, alarms=(an_alarm(),), runs=SWEPT), TIMING, NOW)
    assert [action.condition for action in of(ClearCondition, acting)] == [Condition.ADVISED]
    assert next(action.condition for action in of(SetCondition, acting)) is Condition.PENDING


def in_remedy(state: State, outcome: Outcome, **values: Any) -> Decision:
    """What follows for a node whose remedy's last stage ended so."""
    going = an_attempt(id=4, at=SINCE, ended_at=None, helped=None)
    first = a_run(Stage(state.value), opened_at=SINCE, ended_at=SINCE + 10)
    last = a_run(Stage.VERIFY, outcome, opened_at=SINCE + 20, detail="xid: GPU 3", id=8)
    return decide(a_view(a_node(state), **{"attempts": (going,), "runs": (first, last)} | values), TIMING, NOW)


def test_what_came_of_an_attempt_is_remembered() -> None:
    """Verified: it helped. Not: the next rung, or a person."""
    assert of(EndAttempt, in_remedy(State.RESET, Outcome.PASSED))[0].helped is True
    failed = in_remedy(State.RESET, Outcome.FAILED)
    assert of(EndAttempt, failed) == [EndAttempt(4, helped=False, because="xid: GPU 3")]
    assert of(BeginAttempt, failed) == [BeginAttempt(Remedy.REBOOT, an_attempt().faults, "runner")]
    assert event(failed) is Event.FAILED
    triaged = in_remedy(State.REBOOT, Outcome.FAILED)
    assert of(EndAttempt, triaged)[0].helped is False
    assert of(BeginAttempt, triaged) == []
    retired = in_remedy(State.REBOOT, Outcome.PASSED, intents=(an_intent(IntentKind.RETIRE, reason="sold"),))
    assert of(EndAttempt, retired) == [EndAttempt(4, helped=None, because="sold")]
    assert of(EndAttempt, in_remedy(State.REBOOT, Outcome.PASSED, attempts=())) == []


def test_a_reset_that_did_not_help_is_no_reboot_beyond_the_cap() -> None:
    """A person is asked instead; a harder rung is taken where the fleet has no milder one."""
    going = an_attempt(id=4, at=SINCE, ended_at=None, helped=None)
    often = tuple(an_attempt(Remedy.REBOOT, id=10 + number, faults=("other",)) for number in range(3))
    capped = in_remedy(State.RESET, Outcome.FAILED, attempts=(*often, going))
    assert event(capped) is Event.TRIAGE_NEEDED
    assert of(EndAttempt, capped)[0].helped is False
    assert of(BeginAttempt, capped) == []
    hard = in_remedy(State.RESET, Outcome.FAILED, rules=Rules(ladder=(Remedy.RESET, Remedy.POWER_CYCLE)))
    assert of(BeginAttempt, hard)[0].remedy is Remedy.POWER_CYCLE


def test_a_fault_that_is_back_makes_its_remedy_one_that_did_not_help() -> None:
    """And the next rung is pending."""
    helped = an_attempt(helped=True)
    back = decide(a_view(alarms=(an_alarm(),), attempts=(helped,), runs=SWEPT), TIMING, NOW)
    assert of(EndAttempt, back) == [EndAttempt(2, helped=False, because="the fault is back.")]
    assert of(SetCondition, back)[0].held.detail == "REBOOT"


def test_a_drain_is_undone_at_the_scheduler_once_the_node_serves() -> None:
    """After a sweep that is due, tried again as any stage; not while it takes no work. On a customer's node, too."""
    assert [each.stage for each in of(OpenRun, decide(a_view(drained=True), TIMING, NOW))] == [Stage.HEALTH_PASSIVE]
    customers = a_view(a_node(management=Management.CUSTOMER), drained=True, runs=SWEPT)
    assert [each.stage for each in of(OpenRun, decide(customers, TIMING, NOW))] == [Stage.RESUME]
    assert [each.stage for each in of(OpenRun, decide(a_view(drained=True, runs=SWEPT), TIMING, NOW))] == [
        Stage.RESUME
    ]
    failed = a_run(Stage.RESUME, Outcome.UNKNOWN, id=9, detail="slurmctld does not answer")
    waits = decide(a_view(drained=True, runs=(*SWEPT, failed)), TIMING, NOW)
    assert (waits.actions, waits.wake_at) == ((), NOW + 50)
    assert waits.waiting == "UNKNOWN: resume: slurmctld does not answer"
    broken = replace(failed, outcome=Outcome.CANCELLED)
    assert decide(a_view(drained=True, runs=(*SWEPT, broken)), TIMING, NOW).wake_at == NOW + 50
    for node in (
        a_node(conditions=conditions(Condition.CORDONED)),
        a_node(conditions=conditions(Condition.MAINTENANCE)),
        a_node(conditions=conditions(Condition.HELD)),
    ):
        assert of(OpenRun, decide(a_view(node, drained=True, runs=SWEPT), TIMING, NOW)) == []


def test_what_is_known_of_a_node_in_triage_is_gathered_once() -> None:
    """Whatever comes of it; nothing a person asks for waits for it."""
    opened = decide(a_view(a_node(State.TRIAGE)), TIMING, NOW)
    assert [each.stage for each in of(OpenRun, opened)] == [Stage.COLLECT]
    tried = a_run(Stage.COLLECT, Outcome.UNKNOWN)
    assert decide(a_view(a_node(State.TRIAGE), runs=(tried,)), TIMING, NOW).actions == ()
    by_hand = a_run(Stage.COLLECT, fence=0)
    assert of(OpenRun, decide(a_view(a_node(State.TRIAGE), runs=(by_hand,)), TIMING, NOW))
    for node in (
        a_node(State.DEBUG),
        a_node(State.TRIAGE, management=Management.CUSTOMER),
        a_node(State.TRIAGE, conditions=conditions(Condition.MAINTENANCE)),
        a_node(State.TRIAGE, conditions=conditions(Condition.HELD)),
    ):
        assert decide(a_view(node), TIMING, NOW).actions == ()
    going = a_run(Stage.COLLECT, None)
    asked = decide(a_view(a_node(State.TRIAGE), run=going, intents=(an_intent(IntentKind.DEBUG),)), TIMING, NOW)
    assert event(asked) is Event.DEBUG
    run = an_intent(IntentKind.RUN, detail="verify")
    assert decide(a_view(a_node(State.TRIAGE), run=going, intents=(run,)), TIMING, NOW).actions == ()


def test_a_customers_node_is_neither_moved_nor_remembered() -> None:
    """Whatever is told of it."""
    node = a_node(management=Management.CUSTOMER)
    told = decide(a_view(node, alarms=(FALLEN,), latest=(stored(a_finding()),), runs=SWEPT), TIMING, NOW)
    assert of(SetCondition, told) == of(Move, told) == of(BeginAttempt, told) == []
