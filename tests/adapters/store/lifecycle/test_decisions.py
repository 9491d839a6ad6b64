"""Applying decisions: as a whole, to the node that was read, or not at all."""

from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import (
    Action,
    Answer,
    ClearCondition,
    CloseTicket,
    Move,
    OpenRun,
    SetCondition,
)
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Outcome
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.adapters.store.builders import START, decision, device, everything, node, opened, run, swap

PROVISION = OpenRun(Stage.PROVISION, "Day 0", batch="b-1")
CORDON = SetCondition(Condition.CORDONED, Held(150.0, "Xid 79 on GPU 3", "runner"), (7,))


def test_a_decision_moves_the_node_and_opens_its_run(stocked: Store) -> None:
    (made,) = stocked.apply(node(stocked), decision(START, PROVISION, waiting="Boots.", wake_at=900.0), 200.0)
    now = node(stocked)
    assert (now.state, now.since, now.version) == (State.PROVISION, 200.0, 2)
    assert (now.waiting, now.wake_at) == ("Boots.", 900.0)
    assert (made.node, made.stage, made.fence, made.batch) == ("gpu-01", Stage.PROVISION, 1, "b-1")
    assert stocked.open_runs() == (made,)
    assert run(stocked, made.id) == made


def test_a_decision_without_actions_still_changes_what_the_node_waits_for(stocked: Store) -> None:
    assert stocked.apply(node(stocked), decision(waiting="A technician.", wake_at=float("inf")), 200.0) == ()
    assert (node(stocked).waiting, node(stocked).wake_at) == ("A technician.", float("inf"))
    assert stocked.history("gpu-01") == ()


def test_a_decision_about_an_older_version_is_refused_whole(stocked: Store) -> None:
    old = node(stocked)
    stocked.apply(old, decision(), 200.0)
    before = everything(stocked)
    with pytest.raises(ConflictError, match="has changed since version 1 was read"):
        stocked.apply(old, decision(START, PROVISION, CORDON, swap("gpu-01")), 201.0)
    assert everything(stocked) == before


def test_a_decision_about_a_node_that_is_not_there_is_refused(stocked: Store) -> None:
    with pytest.raises(ConflictError):
        stocked.apply(replace(node(stocked), name="gpu-99"), decision(START), 200.0)


def test_a_move_out_of_another_state_is_refused(stocked: Store) -> None:
    burn_in = Move(TRANSITIONS[State.BURN_IN, Event.PASSED], "runner")
    with pytest.raises(ConflictError, match="it is in registered, the decision moves it out of burn_in"):
        stocked.apply(node(stocked), decision(burn_in), 200.0)
    assert node(stocked).version == 1


def test_moves_of_one_decision_follow_each_other(stocked: Store) -> None:
    arrived = Move(TRANSITIONS[State.PROVISION, Event.PASSED], "runner")
    stocked.apply(node(stocked), decision(START, arrived), 200.0)
    assert node(stocked).state is State.ONBOARD


def test_a_second_open_run_of_a_node_is_refused_and_nothing_else_happens(stocked: Store) -> None:
    opened(stocked)
    before = everything(stocked)
    with pytest.raises(ConflictError, match="it has an open run already"):
        stocked.apply(node(stocked), decision(START, CORDON, swap("gpu-01"), PROVISION), 201.0)
    assert everything(stocked) == before


def test_two_runs_in_one_decision_are_refused(stocked: Store) -> None:
    with pytest.raises(ConflictError, match="it has an open run already"):
        stocked.apply(node(stocked), decision(PROVISION, OpenRun(Stage.VERIFY, "Also", batch="b-2")), 201.0)
    assert stocked.open_runs() == ()


def test_nodes_share_a_batch(stocked: Store) -> None:
    both = [opened(stocked, name, batch="b-7").batch for name in ("gpu-01", "gpu-02")]
    assert both == ["b-7", "b-7"]


def test_fences_only_grow(stocked: Store) -> None:
    first = opened(stocked)
    stocked.close_run(first, Outcome.PASSED, "", 210.0)
    assert (first.fence, opened(stocked, batch="b-2").fence) == (1, 2)


def test_a_condition_is_set_changed_and_cleared(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(CORDON), 200.0)
    stocked.apply(node(stocked), decision(CORDON), 201.0)  # the same again: no news
    worse = Held(210.0, "Xid 95 too", "runner")
    stocked.apply(node(stocked), decision(SetCondition(Condition.CORDONED, worse)), 210.0)
    assert node(stocked).conditions == {Condition.CORDONED: worse}
    clear = ClearCondition(Condition.CORDONED, "ada", "Looked at and found well.")
    stocked.apply(node(stocked), decision(clear), 220.0)
    stocked.apply(node(stocked), decision(clear), 230.0)
    assert node(stocked).conditions == {}
    said = [(entry.at, entry.kind, entry.sentence, entry.by) for entry in stocked.history("gpu-01")]
    assert said == [
        (200.0, "condition", "Cordoned: Xid 79 on GPU 3", "runner"),
        (210.0, "condition", "Cordoned: Xid 95 too", "runner"),
        (220.0, "condition", "Looked at and found well.", "ada"),
    ]
    assert stocked.history("gpu-01")[0].results == (7,)


@pytest.mark.parametrize(
    "impossible",
    [CloseTicket(99, "gone"), Answer(99, accepted=True, sentence="Yes."), SetCondition(Condition.HELD, None)],  # type: ignore[arg-type]  # a bug on purpose
    ids=["no such ticket", "no such intent", "an error of ours"],
)
def test_a_failure_in_the_last_action_undoes_the_first(stocked: Store, impossible: Action) -> None:
    stocked.leave_intent("gpu-01", IntentKind.CERTIFY, "ada", now=150.0)
    before = everything(stocked)
    with pytest.raises((StoreError, AttributeError)):
        stocked.apply(node(stocked), decision(START, CORDON, PROVISION, swap("gpu-01", "gpu-02"), impossible), 200.0)
    assert everything(stocked) == before
    stocked.apply(node(stocked), decision(START, CORDON, PROVISION, swap("gpu-01", "gpu-02")), 200.0)


def test_a_run_without_a_batch_is_stored(stocked: Store) -> None:
    assert opened(stocked, batch="").batch == ""
    assert stocked.offset("") == 0


def test_people_may_write_what_postgresql_cannot_hold(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(waiting="NUL \0 and half a pair \ud83d"), 200.0)
    assert node(stocked).waiting == "NUL \N{REPLACEMENT CHARACTER} and half a pair ?"


def test_devices_of_other_roles_can_be_named_by_a_ticket(stocked: Store) -> None:
    stocked.register([device("gpu-09")], 1.0)
    stocked.apply(node(stocked), decision(swap("gpu-01", "leaf-1")), 200.0)
    assert stocked.tickets(node="leaf-1")[0].nodes == ("gpu-01", "leaf-1")
