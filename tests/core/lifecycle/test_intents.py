"""What people ask for, and what they are told."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import Action, Answer, ClearCondition, Move, OpenRun, SetCondition
from fleet_runner.core.lifecycle.intents import OF_FABRICS, READ_ONLY, WITHDRAWN, answer
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.core.lifecycle.states import STATES, Condition, Stage, State
from fleet_runner.core.lifecycle.view import View
from tests.making import NOW, a_finding, a_node, a_run, a_view, an_intent, conditions, held, stored, usage

HELD = conditions(Condition.HELD)


def asked(intent: IntentKind, state: State = State.PRODUCTION, **values: object) -> tuple[tuple[Action, ...], Answer]:
    """What a request leads to, and its answer."""
    node_values = {name: values.pop(name) for name in ("conditions", "management") if name in values}
    detail = str(values.pop("detail", ""))
    view = a_view(a_node(state, **node_values), intents=(an_intent(intent, detail=detail),), **values)
    *actions, said = answer(view, NOW - 600)
    assert isinstance(said, Answer)
    return tuple(actions), said


@given(st.sampled_from(list(IntentKind)), st.sampled_from(list(State)), st.sets(st.sampled_from(list(Condition))))
def test_every_request_gets_exactly_one_answer(intent: IntentKind, state: State, holding: set[Condition]) -> None:
    """A refused one changes nothing. One to adopt a node that nobody looked at waits for a look."""
    assume((intent, state) != (IntentKind.ADOPT, State.REGISTERED) or Condition.HELD in holding)
    actions, said = asked(intent, state, conditions=conditions(*holding), detail="verify")
    assert said.intent == 9
    assert said.sentence.endswith((".", " "))
    assert said.accepted or not actions


@given(st.sampled_from(list(IntentKind)), st.sampled_from(list(State)), st.sampled_from(list(Stage)))
def test_a_held_node_never_moves(intent: IntentKind, state: State, stage: Stage) -> None:
    """Nor is anything done to it that is more than reading."""
    actions, _ = asked(intent, state, conditions=HELD, detail=stage.value)
    assert not any(isinstance(action, Move) for action in actions)
    assert all(action.stage in READ_ONLY | OF_FABRICS for action in actions if isinstance(action, OpenRun))


@pytest.mark.parametrize(
    ("intent", "state", "to"),
    [
        (IntentKind.CERTIFY, State.ONBOARD, State.VERIFY),
        (IntentKind.RETIRE, State.PRODUCTION, State.RETIRED),
        (IntentKind.RETRY, State.FIRMWARE_FAILED, State.FIRMWARE),
        (IntentKind.DEBUG, State.TRIAGE, State.DEBUG),
        (IntentKind.RMA, State.DEBUG, State.RMA),
        (IntentKind.REPAIRED, State.RMA, State.ONBOARD),
        (IntentKind.TRIAGE, State.FIRMWARE_FAILED, State.TRIAGE),
    ],
)
def test_a_request_that_is_an_event_moves_the_node(intent: IntentKind, state: State, to: State) -> None:
    """In the name of who asked."""
    (action,), said = asked(intent, state)
    assert isinstance(action, Move)
    assert (action.transition.to, action.by, said.accepted) == (to, "ann", True)


def test_an_impossible_request_is_refused_with_what_is_possible() -> None:
    """One sentence, and the next step."""
    actions, said = asked(IntentKind.CERTIFY, State.PRODUCTION)
    assert actions == ()
    assert said.sentence.startswith("'certified' does not apply in production; from here it knows:")
    assert not asked(IntentKind.TRIAGE, State.RETIRED)[1].accepted
    assert asked(IntentKind.REBOOT, State.TRIAGE)[1].sentence.startswith("'reboot' is for a node in production")


@pytest.mark.parametrize(
    ("intent", "detail"),
    [
        (IntentKind.RESET, "RESET"),
        (IntentKind.REBOOT, "REBOOT"),
        (IntentKind.TRIAGE, "TRIAGE"),
        (IntentKind.FIRMWARE, "REFLASH"),
    ],
)
def test_a_request_to_take_a_node_out_waits_until_it_is_idle(intent: IntentKind, detail: str) -> None:
    """It is pending like any other remedy."""
    actions, said = asked(intent)
    assert [action.condition for action in actions if isinstance(action, SetCondition)] == [
        Condition.PENDING,
        Condition.CORDONED,
        Condition.DRAINING,
    ]
    assert said.sentence == f"{detail} is pending: it waits until the node is idle."


def test_hold_and_release() -> None:
    """Holding twice is fine, releasing nothing is refused."""
    (action,), _ = asked(IntentKind.HOLD)
    assert isinstance(action, SetCondition)
    (cleared,), said = asked(IntentKind.RELEASE, conditions=HELD)
    assert isinstance(cleared, ClearCondition)
    assert said.sentence == "Released: automation continues."
    assert asked(IntentKind.RELEASE)[1].sentence == "The node is neither held nor in maintenance."


def test_planned_work_begins_and_is_released_after_the_hold() -> None:
    """Each release ends one of them, and says what goes on."""
    (action,), said = asked(IntentKind.MAINTENANCE)
    assert isinstance(action, SetCondition)
    assert (action.condition, action.held.by, said.accepted) == (Condition.MAINTENANCE, "ann", True)
    planned = conditions(Condition.MAINTENANCE)
    (cleared,), said = asked(IntentKind.RELEASE, conditions=planned | HELD)
    assert isinstance(cleared, ClearCondition)
    assert cleared.condition is Condition.HELD
    assert said.sentence == "Released; it is still in maintenance: release it again to end that."
    (cleared,), _ = asked(IntentKind.RELEASE, conditions=planned)
    assert isinstance(cleared, ClearCondition)
    assert cleared.condition is Condition.MAINTENANCE


def test_cancel_drops_the_remedy_and_waives_what_called_for_it() -> None:
    """A cancelled move is cancelled, also when the next sweep sees the same fault."""
    holding = conditions(Condition.PENDING, Condition.CORDONED)
    actions, said = asked(IntentKind.CANCEL, conditions=holding, latest=(stored(a_finding()),))
    assert said.accepted
    assert [type(action) for action in actions] == [ClearCondition, ClearCondition, SetCondition]
    waived = actions[-1]
    assert isinstance(waived, SetCondition)
    assert waived.held.detail == "gpu-01/gpu.lost/GPU 3"
    assert len(asked(IntentKind.CANCEL, conditions=holding)[0]) == 2
    assert asked(IntentKind.CANCEL)[1].sentence == "No remedy is pending."


def test_a_stage_is_run_on_request() -> None:
    """Reading ones in any state, the others in their own; a held node is only read."""
    (action,), _ = asked(IntentKind.RUN, State.TRIAGE, detail="verify")
    assert action == OpenRun(Stage.VERIFY, "ann asked for it", "ann")
    assert asked(IntentKind.RUN, State.BURN_IN, detail="burn_in")[1].accepted
    refused = asked(IntentKind.RUN, State.TRIAGE, detail="reboot")[1].sentence
    assert "it can run: cabling, health_active, health_passive, verify" in refused
    held = asked(IntentKind.RUN, State.BURN_IN, detail="burn_in", conditions=HELD)[1]
    assert held.sentence == "The node is held; release it before 'burn_in' can run."


def test_a_node_is_tested_on_request_while_nobody_uses_it() -> None:
    """In triage nobody does; in service somebody must have looked."""
    assert asked(IntentKind.RUN, State.TRIAGE, detail="health_active")[1].accepted
    idle = {"detail": "health_active", "tested": True, "latest": (usage(in_use=False),)}
    assert asked(IntentKind.RUN, **idle)[1].accepted
    for latest in ((), (usage(in_use=True),), (usage(in_use=False, at=NOW - 601),)):
        said = asked(IntentKind.RUN, **idle | {"latest": latest})[1]
        assert (said.accepted, said.sentence[:36]) == (False, "The node is in use, or it is unknown")
    for changed, words in [
        ({"tested": False}, "names no tests"),
        ({"management": Management.CUSTOMER}, "management is 'customer'"),
        ({"conditions": conditions(Condition.MAINTENANCE, Condition.CORDONED)}, "is cordoned, maintenance:"),
    ]:
        said = asked(IntentKind.RUN, **idle | changed)[1]
        assert not said.accepted
        assert words in said.sentence
    assert "cannot be run on a node in wipe" in asked(IntentKind.RUN, State.WIPE, detail="health_active")[1].sentence


def test_a_request_to_move_waits_for_the_open_run() -> None:
    """A hold does not."""
    busy = {"run": a_run(Stage.VERIFY, None)}
    view: View = a_view(
        a_node(State.ONBOARD), intents=(an_intent(IntentKind.CERTIFY), an_intent(IntentKind.HOLD, id=10)), **busy
    )
    (action, said) = answer(view, NOW - 600)
    assert isinstance(action, SetCondition)
    assert isinstance(said, Answer)
    assert said.intent == 10
    assert answer(a_view(intents=(an_intent(IntentKind.RETIRE),), **busy), NOW) == ()
    assert answer(a_view(), NOW) == ()


def test_every_state_has_a_meaning() -> None:
    """Resting states say it to people who wait."""
    assert all(place.meaning.endswith(".") for place in STATES.values())


def test_a_rollouts_request_takes_no_other_remedys_place() -> None:
    """A person's does."""
    busy = a_node(conditions={Condition.PENDING: held("GPU 3 fell off the bus.", "runner", detail="REBOOT")})
    (said,) = answer(a_view(busy, intents=(an_intent(IntentKind.FIRMWARE, by="rollout 3"),)), NOW)
    assert said == Answer(9, accepted=False, sentence="REBOOT is pending already: GPU 3 fell off the bus.")
    *actions, yes = answer(a_view(busy, intents=(an_intent(IntentKind.FIRMWARE),)), NOW)
    assert isinstance(yes, Answer)
    assert yes.accepted
    assert len(actions) == 3


CLUSTERS = "NodeRemediation fleet/gpu-01 (1a2b3c4d)"


def by_cluster(intent: IntentKind, node: Node, **values: object) -> tuple[Action, ...]:
    """What a cluster's request leads to."""
    view = a_view(node, intents=(an_intent(intent, by=CLUSTERS, **values),))
    return answer(view, NOW - 600)


@pytest.mark.parametrize(
    ("pending", "accepted", "told"),
    [
        (Remedy.RESET, False, "RESET is pending already; ask again once it has ended."),
        (Remedy.REBOOT, True, "REBOOT is pending already."),
        (Remedy.TRIAGE, True, "TRIAGE is pending already."),
    ],
)
def test_a_clusters_request_takes_no_others_place(pending: Remedy, accepted: bool, told: str) -> None:
    """What is pending goes on as it was; a person's request takes its place."""
    node = a_node(conditions=conditions(Condition.PENDING, detail=pending.value, by="runner"))
    (said,) = by_cluster(IntentKind.REBOOT, node)
    assert isinstance(said, Answer)
    assert (said.accepted, said.sentence) == (accepted, told)
    assert len(asked(IntentKind.REBOOT, conditions=node.conditions)[0]) == 3


@pytest.mark.parametrize("state", [State.RESET, State.WIPE, State.FIRMWARE_FAILED, State.TRIAGE])
def test_a_cluster_takes_no_node_from_what_is_done_with_it(state: State) -> None:
    """A node that is being reset or wiped is not ready, which is why a cluster asks; a person may mean it."""
    (said,) = by_cluster(IntentKind.TRIAGE, a_node(state))
    assert isinstance(said, Answer)
    assert (said.accepted, said.sentence) == (
        False,
        f"'triage' is for a node in production; this one is in {state}.",
    )
    assert asked(IntentKind.TRIAGE, State.RESET)[1].accepted


def test_a_clusters_request_waits_while_budgets_have_no_room() -> None:
    """A person's does not, and what is withdrawn need not wait."""
    barred = "1 of 1 node of rack A is out"
    theirs = [an_intent(kind, by=CLUSTERS) for kind in (IntentKind.RESET, IntentKind.CANCEL)]
    (said,) = answer(a_view(intents=tuple(theirs), barred=barred), NOW - 600)
    assert isinstance(said, Answer)
    assert said.sentence == "No remedy is pending."
    assert answer(a_view(intents=tuple(theirs[:1]), barred=barred), NOW - 600) == ()
    assert answer(a_view(intents=(an_intent(IntentKind.RESET),), barred=barred), NOW - 600)


def test_who_withdraws_a_request_ends_that_one_alone_and_waives_no_fault() -> None:
    """What somebody else has made pending since stays."""
    mine = a_node(conditions=conditions(Condition.PENDING, Condition.CORDONED, detail="REBOOT", by=CLUSTERS))
    *cleared, said = by_cluster(IntentKind.CANCEL, mine, detail=WITHDRAWN)
    assert isinstance(said, Answer)
    assert (said.accepted, said.sentence) == (True, "The request was withdrawn; the node stays in service.")
    assert {each.condition for each in cleared if isinstance(each, ClearCondition)} == set(mine.conditions)
    theirs = a_node(conditions=conditions(Condition.PENDING, detail="REBOOT", by="runner"))
    (said,) = by_cluster(IntentKind.CANCEL, theirs, detail=WITHDRAWN)
    assert isinstance(said, Answer)
    assert (said.accepted, said.sentence) == (False, f"What {CLUSTERS} asked for is not pending any more.")
