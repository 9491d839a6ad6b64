"""Decisions as a whole: a simulated node meets everything that can happen to it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.firmware.flash import Phase
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import (
    ClearCondition,
    CloseTicket,
    Decision,
    Move,
    OpenRun,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.decisions import decide, withhold
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Node, Outcome
from fleet_runner.core.lifecycle.states import MOVING, REMEDIED, STATES, TRANSITIONS, Condition, Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing
from tests.core.firmware.bmc_model import a_flash
from tests.making import (
    NOW,
    a_fabric,
    a_finding,
    a_node,
    a_run,
    a_ticket,
    a_view,
    an_intent,
    conditions,
    stored,
    sweep,
    usage,
)

TIMING = Timing()
SWAP = stored(a_finding(Remedy.RECABLE), check="cabling")


def after(node: Node, decision: Decision) -> Node:
    """The node with a decision applied to it."""
    holding: dict[Condition, Held] = dict(node.conditions)
    for action in decision.actions:
        match action:
            case SetCondition(condition, why):
                holding[condition] = why
            case ClearCondition(condition):
                holding.pop(condition, None)
            case Move(transition):
                node = replace(node, state=transition.to)
            case _:
                pass
    return replace(node, conditions=holding)


steps = st.lists(
    st.one_of(
        st.sampled_from(list(Outcome)),
        st.sampled_from(list(IntentKind)),
        st.booleans(),
        st.sampled_from(list(Remedy)),
    ),
    max_size=40,
)


@given(steps)
def test_no_story_leads_to_production_without_a_passed_burn_in(
    story: list[Outcome | IntentKind | bool | Remedy],
) -> None:
    """Outcomes, requests, work and faults in any order: and a held node never moves."""
    node = a_node(State.REGISTERED)
    earned = False
    for chapter in story:
        stages = STATES[node.state].stages
        runs = tuple(a_run(stage, chapter) for stage in stages) if isinstance(chapter, Outcome) else ()
        latest = (stored(a_finding(chapter)),) if isinstance(chapter, Remedy) else ()
        latest += (usage(in_use=chapter),) if isinstance(chapter, bool) else ()
        intents = (an_intent(chapter, detail="verify"),) if isinstance(chapter, IntentKind) else ()
        decision = decide(a_view(node, runs=runs, latest=latest, intents=intents), TIMING, NOW)
        moved = after(node, decision)
        assert sum(isinstance(action, Move) for action in decision.actions) <= 1
        assert Condition.HELD not in node.conditions or moved.state is node.state
        earned = moved.state is not State.ONBOARD and (
            earned or (node.state is State.BURN_IN and moved.state is State.PRODUCTION)
        )
        assert moved.state is not State.PRODUCTION or earned
        node = moved


@given(st.sampled_from(list(State)), st.floats(0, 1e7), st.sets(st.sampled_from(list(Condition))))
def test_deciding_is_calm(state: State, later: float, holding: set[Condition]) -> None:
    """With nothing new it rests or does one thing, and always names when it looks again."""
    node = a_node(state, conditions=conditions(*holding, detail="REBOOT"))
    decision = decide(a_view(node), TIMING, NOW + later)
    assert decision.wake_at >= NOW + later
    assert decision.actions or decision.waiting or state is State.PRODUCTION


def test_every_moving_state_can_start_its_stages() -> None:
    """From nothing."""
    for state in MOVING:
        (action,) = decide(a_view(a_node(state)), TIMING, NOW).actions
        assert isinstance(action, OpenRun)
        assert action.stage is STATES[state].stages[0]


@pytest.mark.parametrize(
    ("status", "waiting"),
    [
        ("planned", "the source of truth must call it active or staged; it is 'planned' there"),
        (None, "the source of truth must call it active or staged; it is not in it any more"),
    ],
)
def test_a_node_that_the_source_does_not_offer_is_left_alone(status: str | None, waiting: str) -> None:
    """It says why."""
    decision = decide(a_view(a_node(State.REGISTERED), status=status), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), waiting)


def test_an_open_run_is_left_to_run() -> None:
    """Its progress is what people read."""
    decision = decide(a_view(a_node(State.VERIFY), run=a_run(Stage.VERIFY, None), estimate=9.0), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), "verify runs, usually 9 s")


def test_a_hold_says_who_and_why() -> None:
    """And keeps the tickets true."""
    node = a_node(State.VERIFY, conditions=conditions(Condition.HELD, by="ann", reason="visitors"))
    decision = decide(a_view(node, latest=(SWAP,)), TIMING, NOW)
    assert decision.waiting == "held by ann: visitors"
    assert [type(action) for action in decision.actions] == [OpenTicket]


def test_maintenance_opens_no_tickets() -> None:
    """Findings are kept, nothing follows from them."""
    node = a_node(State.ONBOARD, conditions=conditions(Condition.MAINTENANCE))
    assert decide(a_view(node, latest=(SWAP,)), TIMING, NOW).actions == ()


@pytest.mark.parametrize("condition", [Condition.HELD, Condition.MAINTENANCE])
def test_nothing_follows_from_the_sweeps_of_a_fabric_on_hold_or_in_maintenance(condition: Condition) -> None:
    """No ticket opens, opens again or closes; released, the same sweeps count."""
    fault = a_finding(Remedy.RECABLE, fault="cabling/1")
    seen = {"latest": (sweep(fault),), "before": (sweep(fault),), "runs": (a_run(Stage.FABRIC),)}
    gone = {"latest": (sweep(),), "tickets": (a_ticket(check="fabric_cabling"),), "runs": (a_run(Stage.FABRIC),)}
    on_hold = a_fabric(conditions=conditions(condition))
    for values, after in ((seen, OpenTicket), (gone, CloseTicket)):
        assert not any(isinstance(each, after) for each in decide(a_view(on_hold, **values), TIMING, NOW).actions)
        assert any(isinstance(each, after) for each in decide(a_view(a_fabric(), **values), TIMING, NOW).actions)


def test_a_held_fabric_says_how_many_faults_lead_to_no_ticket() -> None:
    """Each once, whatever saw it; what only needs to be written down is none."""
    node = a_fabric(conditions=conditions(Condition.HELD, by="ann", reason="works"))
    one, two = (a_finding(Remedy.RECABLE, fault=f"cabling/{n}") for n in (1, 2))
    noted = a_finding(Remedy.RECORD, fault="cabling/3")
    mute = sweep(two, check="fabric_counters", verdict=Verdict.UNKNOWN)
    waiting = decide(a_view(node, latest=(sweep(one, noted), mute)), TIMING, NOW).waiting
    assert waiting == "held by ann: works; 1 fault seen, no ticket while it is held"
    waiting = decide(a_view(node, latest=(sweep(one, two),)), TIMING, NOW).waiting
    assert waiting.endswith("; 2 faults seen, no ticket while it is held")
    assert decide(a_view(node, latest=(sweep(noted),)), TIMING, NOW).waiting == "held by ann: works"


def test_a_failed_verification_opens_its_ticket_with_the_move() -> None:
    """In one decision: no move without its ticket."""
    failed = a_run(Stage.VERIFY, Outcome.FAILED)
    decision = decide(a_view(a_node(State.VERIFY), runs=(failed,), latest=(SWAP,)), TIMING, NOW)
    assert [type(action) for action in decision.actions] == [OpenTicket, Move]


@pytest.mark.parametrize(("state", "tickets"), [(State.VERIFY, 1), (State.PRODUCTION, 0), (State.REBOOT, 1)])
def test_before_service_every_fault_is_a_ticket(state: State, tickets: int) -> None:
    """A node that may not go on says to a person why; one that serves is only watched."""
    view = a_view(a_node(state), run=a_run(outcome=None), latest=(stored(a_finding(Remedy.WATCH)),))
    assert len(decide(view, TIMING, NOW).actions) == tickets


def test_every_fault_of_a_customers_node_is_a_ticket() -> None:
    """Nothing is done to it, so a person must know."""
    node = a_node(management=Management.CUSTOMER)
    (ticket,) = decide(a_view(node, run=a_run(outcome=None), latest=(stored(a_finding()),)), TIMING, NOW).actions
    assert isinstance(ticket, OpenTicket)


def test_earning_production_closes_what_was_left_about_the_node() -> None:
    """A ticket that names another node too stays; so does all of it when a reboot is over."""
    tickets = (a_ticket(check="rebooted"), a_ticket(id=6, fault="x", check="c", nodes=("gpu-01", "gpu-02")))
    view = a_view(a_node(State.BURN_IN), runs=(a_run(Stage.BURN_IN),), tickets=tickets)
    assert [each.ticket for each in decide(view, TIMING, NOW).actions if isinstance(each, CloseTicket)] == [5]
    runs = (a_run(Stage.REBOOT), a_run(Stage.VERIFY, id=8, opened_at=NOW - 10.0))
    back = a_view(a_node(State.REBOOT), runs=runs, tickets=tickets)
    assert not [each for each in decide(back, TIMING, NOW).actions if isinstance(each, CloseTicket)]
    failed = a_view(a_node(State.BURN_IN), runs=(a_run(Stage.BURN_IN, Outcome.FAILED),), tickets=tickets)
    assert not [each for each in decide(failed, TIMING, NOW).actions if isinstance(each, CloseTicket)]


def test_returning_to_service_uncordons() -> None:
    """Nothing keeps work away any more; a hold would have kept it from moving."""
    node = a_node(State.REBOOT, conditions=conditions(Condition.CORDONED, Condition.IN_USE))
    runs = (a_run(Stage.REBOOT), a_run(Stage.VERIFY, id=8, opened_at=NOW - 10.0))
    assert set(after(node, decide(a_view(node, runs=runs), TIMING, NOW)).conditions) == {Condition.IN_USE}


def test_a_resting_node_names_its_open_tickets() -> None:
    """So that a technician finds them."""
    collected = (a_run(Stage.COLLECT),)
    resting = decide(a_view(a_node(State.TRIAGE), tickets=(a_ticket(check="gpu_burn"),), runs=collected), TIMING, NOW)
    assert resting.waiting == "Out of service; a person decides what to do. Open tickets: #5."
    assert decide(a_view(a_node(State.RMA)), TIMING, NOW).waiting == STATES[State.RMA].meaning


def test_a_node_whose_firmware_failed_names_its_open_flash() -> None:
    """Nothing goes on with it there."""
    flash = a_flash(id=7, phase=Phase.SENT)
    said = decide(a_view(a_node(State.FIRMWARE_FAILED), flash=flash), TIMING, NOW).waiting
    assert said.startswith(STATES[State.FIRMWARE_FAILED].meaning)
    assert said.endswith(f" Flash 7 (AB) is open still, at sent: fleet-runner firmware show {flash.node}")


def test_a_withheld_decision_keeps_its_tickets() -> None:
    """The budget stops the move, not the truth."""
    ticket = OpenTicket("f", "c", "t", "b", ("gpu-01",), "TRIAGE")
    move = Move(TRANSITIONS[State.PRODUCTION, Event.REBOOT_NEEDED], "runner")
    kept = withhold(Decision((ticket, move), "", NOW), "the budget is spent", NOW + 60)
    assert kept == Decision((ticket,), "waits: the budget is spent", NOW + 60)


def test_maintenance_pauses_what_moves_as_a_hold_does() -> None:
    """And a customer's node gets no remedy, though one was begun; it comes up and is burned in as any."""
    planned = conditions(Condition.MAINTENANCE)
    for state in MOVING:
        decision = decide(a_view(a_node(state, conditions=planned)), TIMING, NOW)
        assert (decision.actions, decision.waiting) == ((), "in maintenance by ann: because")
        assert decide(a_view(a_node(state)), TIMING, NOW).actions
        theirs = decide(a_view(a_node(state, management=Management.CUSTOMER)), TIMING, NOW)
        assert bool(theirs.actions) is (state not in REMEDIED)
        assert bool(theirs.actions) or "its customer manages it" in theirs.waiting
