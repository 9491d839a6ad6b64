"""What is offered for a node is what the reconciler would not refuse."""

import pytest

from fleet_runner.core.lifecycle.actions import Answer
from fleet_runner.core.lifecycle.intents import answer
from fleet_runner.core.lifecycle.offers import ELSEWHERE, ROWS, applies, elsewhere, offers, stages
from fleet_runner.core.lifecycle.runs import Held, Intent, IntentKind, Node
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import View


def a_node(state: State, *conditions: Condition) -> Node:
    """A node in a state."""
    held = Held(1.0, "because", "alice", "REBOOT")
    return Node("gpu-01", "t", state, 0.0, 1, conditions=dict.fromkeys(conditions, held))


NODES = [
    a_node(state, *conditions)
    for state in State
    for conditions in (
        (),
        (Condition.HELD,),
        (Condition.MAINTENANCE,),
        (Condition.PENDING,),
        (Condition.HELD, Condition.MAINTENANCE),
    )
    if state not in {State.WATCHED, State.RETIRED}
]


@pytest.mark.parametrize("node", NODES, ids=lambda node: f"{node.state}-{'-'.join(node.conditions)}")
def test_what_is_offered_is_taken_and_what_is_not_is_refused(node: Node) -> None:
    for intent in IntentKind:
        if intent is IntentKind.RUN or (intent is IntentKind.ADOPT and node.state is State.REGISTERED):
            continue  # what the first leads to depends on its stage, the second has the node looked at first
        asked = Intent(7, node.name, intent, "alice", 2.0, "a reason")
        (said,) = [each for each in answer(View(node, "active", intents=(asked,)), 0.0) if isinstance(each, Answer)]
        again = intent in {IntentKind.HOLD, IntentKind.MAINTENANCE} and not applies(
            node, intent
        )  # held twice is held
        assert said.accepted is (applies(node, intent) or again), (intent, said.sentence)


def test_every_request_has_its_row_or_its_place_elsewhere() -> None:
    assert ROWS.keys() | ELSEWHERE.keys() == set(IntentKind)
    assert not ROWS.keys() & ELSEWHERE.keys()


def test_what_is_offered_comes_with_what_it_does() -> None:
    found = offers(a_node(State.ONBOARD))
    assert [offer.kind for offer in found] == [
        IntentKind.CERTIFY,
        IntentKind.HOLD,
        IntentKind.MAINTENANCE,
        IntentKind.RUN,
        IntentKind.RETIRE,
    ]
    assert elsewhere(a_node(State.ONBOARD)) == (
        "fleet-runner wipe gpu-01 on the server's machine shows what would be lost, then asks",
    )


def test_nothing_is_offered_of_what_has_left_or_is_no_node() -> None:
    assert offers(a_node(State.RETIRED)) == offers(a_node(State.WATCHED)) == ()


def test_a_stage_is_offered_where_it_may_run() -> None:
    assert stages(State.PRODUCTION) == (Stage.VERIFY, Stage.HEALTH_PASSIVE, Stage.HEALTH_ACTIVE, Stage.CABLING)
    assert Stage.BURN_IN in stages(State.BURN_IN)
    assert Stage.HEALTH_ACTIVE not in stages(State.ONBOARD)
    run = next(offer for offer in offers(a_node(State.BURN_IN)) if offer.kind is IntentKind.RUN)
    assert run.stages == stages(State.BURN_IN)
