"""A node of which it is not settled which machine it is: looked at, and nothing else; and how a person settles it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets.modes import READING
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.identity import DesignedMachine, Refused
from fleet_runner.core.lifecycle.actions import Answer, BeginAttempt, Identify, Move, OpenRun, SetCondition
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.intents import RECORD, answer
from fleet_runner.core.lifecycle.pending import HOLDS
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import STATES, Condition, Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from tests.making import NOW, OFF, a_finding, a_node, a_run, a_view, an_alarm, an_intent, held, paced, stored, usage

TIMING = Timing(passive=paced(900), cabling=paced(14_400), active=OFF)
WHY = "its serial was S-1, the source of truth says S-2 now"
OTHER = DesignedMachine("S-2", "", "10.0.0.2")
REFUSED = Refused(WHY, OTHER)
TWO_RECORDS = Refused("the source of truth has one machine as gpu-01 and gpu-02")


def refused(state: State, why: Refused = REFUSED, **values: object) -> View:
    """A node of which it is not settled which machine it is."""
    node = a_node(state, conditions=values.pop("conditions", {}))
    return a_view(node, refused=why, **values)


def acts(view: View) -> list[object]:
    """What a decision does to a node or for good."""
    return [
        each
        for each in decide(view, TIMING, NOW).actions
        if isinstance(each, Move | BeginAttempt)
        or (isinstance(each, OpenRun) and each.stage not in READING)
        or (isinstance(each, SetCondition) and each.condition in HOLDS)
    ]


@given(
    st.sampled_from([state for state in State if state is not State.WATCHED]),
    st.sampled_from(list(Outcome)),
    st.sets(st.sampled_from([Condition.PENDING, Condition.CORDONED, Condition.IN_USE, Condition.DRAINING])),
    st.sampled_from([None, *Remedy]),
    st.booleans(),
    st.sampled_from(["active", "planned", None]),
)
def test_nothing_acts_on_it_whatever_is_known(  # noqa: PLR0917  the axes of what can be known
    state: State,
    outcome: Outcome,
    holding: set[Condition],
    remedy: Remedy | None,
    alarmed: bool,
    status: str | None,
) -> None:
    conditions = {each: held(detail="REBOOT") for each in holding}
    runs = tuple(a_run(stage, outcome) for stage in STATES[state].stages)
    latest = (usage(in_use=False), *((stored(a_finding(remedy)),) if remedy else ()))
    alarms = (an_alarm(at_once=True),) if alarmed else ()
    view = refused(state, conditions=conditions, runs=runs, latest=latest, alarms=alarms, status=status)
    for drained in (False, True):
        assert acts(replace(view, drained=drained)) == []


def test_stages_that_have_passed_move_it_nowhere() -> None:
    runs = tuple(a_run(stage, Outcome.PASSED) for stage in STATES[State.BURN_IN].stages)
    settled = a_view(a_node(State.BURN_IN), runs=runs)
    assert any(isinstance(each, Move) for each in decide(settled, TIMING, NOW).actions)
    decision = decide(replace(settled, refused=REFUSED), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), WHY)


@pytest.mark.parametrize("state", [State.PROVISION, State.FIRMWARE, State.BURN_IN, State.WIPE])
def test_it_says_why_nothing_begins_and_is_looked_at_again(state: State) -> None:
    decision = decide(refused(state), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), WHY)
    assert decision.wake_at > NOW


@pytest.mark.parametrize(
    ("state", "look"), [(State.PRODUCTION, Stage.HEALTH_PASSIVE), (State.REGISTERED, Stage.SURVEY)]
)
def test_a_node_is_looked_at_on_and_says_why_nothing_else_is_done(state: State, look: Stage) -> None:
    decision = decide(refused(state), TIMING, NOW)
    assert [each.stage for each in decision.actions if isinstance(each, OpenRun)] == [look]
    assert decision.waiting == WHY


def test_one_that_the_source_calls_otherwise_is_not_even_looked_at() -> None:
    assert decide(refused(State.VERIFY, status=None), TIMING, NOW).actions == ()
    assert decide(refused(State.VERIFY), TIMING, NOW).actions != ()


def test_an_open_run_goes_on_and_a_hold_is_kept() -> None:
    assert decide(refused(State.VERIFY, run=a_run(Stage.VERIFY, None)), TIMING, NOW).waiting == "verify runs"
    assert decide(refused(State.VERIFY, conditions={Condition.HELD: held()}), TIMING, NOW).waiting == WHY


@pytest.mark.parametrize(
    ("state", "intent", "detail", "accepted"),
    [
        (State.PRODUCTION, IntentKind.REBOOT, "", False),
        (State.PRODUCTION, IntentKind.FIRMWARE, "", False),
        (State.PRODUCTION, IntentKind.TRIAGE, "", False),
        (State.WIPE, IntentKind.TRIAGE, "", True),
        (State.TRIAGE, IntentKind.WIPE, "", False),
        (State.TRIAGE, IntentKind.RETRY, "", False),
        (State.TRIAGE, IntentKind.REPAIRED, "", False),
        (State.ONBOARD, IntentKind.CERTIFY, "", False),
        (State.TRIAGE, IntentKind.RMA, "", True),
        (State.PRODUCTION, IntentKind.HOLD, "", True),
        (State.PRODUCTION, IntentKind.RETIRE, "", True),
        (State.PRODUCTION, IntentKind.RUN, "health_passive", True),
        (State.BURN_IN, IntentKind.RUN, "burn_in", False),
    ],
)
def test_people_may_ask_for_what_does_nothing_to_a_machine(
    state: State, intent: IntentKind, detail: str, *, accepted: bool
) -> None:
    said = answer(refused(state, intents=(an_intent(intent, detail=detail, reason="because"),)), NOW)[-1]
    assert isinstance(said, Answer)
    assert said.accepted is accepted
    assert accepted or WHY in said.sentence


def replaced(view: View, detail: str = "") -> tuple[object, ...]:
    """What follows when a person says that its chassis was replaced."""
    return answer(replace(view, intents=(an_intent(IntentKind.REPLACED, detail=detail),)), NOW)


@pytest.mark.parametrize("state", [State.RMA, State.TRIAGE, State.BURN_IN, State.VERIFY, State.FIRMWARE_FAILED])
def test_another_machine_begins_anew_at_onboard(state: State) -> None:
    identify, move, said = replaced(refused(state))
    assert isinstance(identify, Identify)
    assert (identify.machine, identify.by) == (OTHER, "ann")
    assert isinstance(move, Move)
    assert (move.transition.event, move.transition.to) == (Event.REPLACED, State.ONBOARD)
    assert isinstance(said, Answer)
    assert said.accepted


@pytest.mark.parametrize("state", [State.REGISTERED, State.ONBOARD])
def test_what_has_not_begun_goes_on_from_where_it_is(state: State) -> None:
    identify, said = replaced(refused(state))
    assert isinstance(identify, Identify)
    assert isinstance(said, Answer)
    assert said.accepted


def test_from_production_it_leaves_for_triage_once_it_is_idle() -> None:
    identify, *pending, said = replaced(refused(State.PRODUCTION))
    assert isinstance(identify, Identify)
    assert {each.condition for each in pending if isinstance(each, SetCondition)} == set(HOLDS)
    assert isinstance(said, Answer)
    assert "repaired" in said.sentence


def test_where_only_its_record_was_wrong_it_goes_on_in_its_state() -> None:
    identify, said = replaced(refused(State.PRODUCTION), RECORD)
    assert isinstance(identify, Identify)
    assert isinstance(said, Answer)
    assert said.accepted


def test_a_held_node_is_not_moved_and_keeps_its_machine() -> None:
    (said,) = replaced(refused(State.RMA, conditions={Condition.HELD: held()}))
    assert isinstance(said, Answer)
    assert not said.accepted


@pytest.mark.parametrize("why", [None, TWO_RECORDS])
def test_without_another_serial_nothing_was_replaced(why: Refused | None) -> None:
    (said,) = replaced(a_view(a_node(State.RMA), refused=why))
    assert isinstance(said, Answer)
    assert not said.accepted
    assert "the serial that it had" in said.sentence or TWO_RECORDS.sentence in said.sentence
