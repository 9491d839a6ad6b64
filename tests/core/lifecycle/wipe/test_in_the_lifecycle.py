"""Who may have a node wiped, from where, and what follows from how it went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.actions import Answer, Move, OpenRun, OpenTicket
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.intents import answer
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing
from tests.making import NOW, a_finding, a_node, a_run, a_view, an_intent, stored

FROM = frozenset({State.ONBOARD, State.TRIAGE, State.DEBUG, State.RMA})


@given(st.sampled_from(State), st.sampled_from(["", " ", "it leaves us"]))
def test_a_node_is_wiped_from_where_people_work_on_it_for_a_reason_and_else_never(state: State, reason: str) -> None:
    *moves, said = answer(a_view(a_node(state), intents=(an_intent(IntentKind.WIPE, reason=reason),)), NOW)
    assert isinstance(said, Answer)
    assert said.accepted is (state in FROM and bool(reason.strip()))
    assert [type(each) for each in moves] == [Move] * said.accepted


def test_a_wipe_without_a_reason_is_refused_with_what_to_do() -> None:
    (said,) = answer(a_view(a_node(State.TRIAGE), intents=(an_intent(IntentKind.WIPE),)), NOW)
    assert isinstance(said, Answer)
    assert "--reason" in said.sentence


@pytest.mark.parametrize(("outcome", "event"), [(Outcome.PASSED, Event.PASSED), (Outcome.FAILED, Event.FAILED)])
def test_however_a_wipe_ends_a_person_says_what_follows(outcome: Outcome, event: Event) -> None:
    run = a_run(Stage.WIPE, outcome)
    decided = decide(a_view(a_node(State.WIPE), runs=(run,)), Timing(), NOW)
    (move,) = decided.actions
    assert isinstance(move, Move)
    assert (move.transition.event, move.transition.to) == (event, State.TRIAGE)


def test_a_wipe_that_was_lost_is_looked_at_again_because_looking_comes_before_erasing() -> None:
    lost = a_run(Stage.WIPE, Outcome.LOST, ended_at=NOW - 1000.0)
    decided = decide(a_view(a_node(State.WIPE), runs=(lost,)), Timing(), NOW)
    assert [type(each) for each in decided.actions] == [OpenRun]


def test_each_device_that_was_not_erased_has_a_ticket_that_says_how_to_close_it() -> None:
    finding = a_finding(Remedy.TRIAGE, code="wipe.hurdle", fault="gpu-01/wipe.hurdle/disk-S1", steps=("Unmount it.",))
    failed = stored(finding, check="wiped", stage=Stage.WIPE)
    run = a_run(Stage.WIPE, Outcome.FAILED)
    decided = decide(a_view(a_node(State.WIPE), runs=(run,), latest=(failed,)), Timing(), NOW)
    (ticket,) = (each for each in decided.actions if isinstance(each, OpenTicket))
    assert "1. Unmount it." in ticket.body
    assert "fleet-runner wipe gpu-01" in ticket.body
