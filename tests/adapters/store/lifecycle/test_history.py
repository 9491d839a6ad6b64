"""The history: one journal in the order of time."""

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.actions import Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Outcome
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.adapters.store.builders import START, decision, node, opened, swap

ARRIVED = Move(TRANSITIONS[State.PROVISION, Event.PASSED], "runner", "cloud-init is done.", (3, 4), None)


def test_everything_that_happens_to_a_node_is_one_story(stocked: Store) -> None:
    stocked.leave_intent("gpu-01", IntentKind.CERTIFY, "ada", now=110.0)
    stocked.apply(node(stocked), decision(START), 120.0)
    mine = opened(stocked, stage=Stage.PROVISION)
    stocked.close_run(mine, Outcome.PASSED, "", 210.0)
    stocked.apply(node(stocked), decision(ARRIVED, swap("gpu-01")), 220.0)
    stocked.apply(node(stocked), decision(SetCondition(Condition.HELD, Held(230.0, "Audit", "ada"))), 230.0)
    story = stocked.history("gpu-01")
    assert [entry.kind for entry in story] == ["intent", "transition", "run", "transition", "ticket", "condition"]
    assert [entry.at for entry in story] == sorted(entry.at for entry in story)
    move = story[3]
    assert (move.state, move.event, move.to) == (State.PROVISION, Event.PASSED, State.ONBOARD)
    assert move.sentence == f"{ARRIVED.transition.sentence} cloud-init is done."
    assert (move.results, move.by) == ((3, 4), "runner")


def test_the_limit_keeps_the_newest(stocked: Store) -> None:
    for number in range(5):
        stocked.leave_intent("gpu-01", IntentKind.HOLD, f"p{number}", now=100.0 + number)
    assert [entry.by for entry in stocked.history("gpu-01", limit=2)] == ["p3", "p4"]


def test_what_came_late_stands_where_it_belongs(stocked: Store) -> None:
    stocked.leave_intent("gpu-01", IntentKind.HOLD, "late", now=300.0)
    stocked.leave_intent("gpu-01", IntentKind.HOLD, "early", now=200.0)
    assert [entry.by for entry in stocked.history("gpu-01")] == ["early", "late"]
