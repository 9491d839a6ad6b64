"""What is to be erased is in the history before anything is, and only where it still may be."""

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.actions import Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held, Outcome
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.adapters.store.builders import START, decision, node, opened

WAY = ((State.PROVISION, Event.FAILED), (State.TRIAGE, Event.WIPE))
ORDERS = ("/dev/nvme0n1 (X, serial S1) by format_erase", "the TPM (IBM 1) by tpm_clear")


@pytest.fixture
def wiping(stocked: Store) -> Store:
    """A store in which gpu-01 is to be wiped."""
    for move in (START, *(Move(TRANSITIONS[row], "ann", "it leaves") for row in WAY)):
        stocked.apply(node(stocked), decision(move), 100.0)
    return stocked


def sentences(store: Store) -> list[str]:
    """Return what the history says of wipes."""
    return [entry.sentence for entry in store.history("gpu-01", kind="wipe")]


def test_every_device_is_named_before_anything_happens_to_it(wiping: Store) -> None:
    run = opened(wiping, stage=Stage.WIPE)
    wiping.intend_wipe("gpu-01", ORDERS, by="runner", run=(run.id, run.fence), now=300.0)
    assert sentences(wiping) == [f"About to be erased for good: {ORDERS[0]}; {ORDERS[1]}."]
    (entry,) = wiping.history("gpu-01", kind="wipe")
    assert (entry.run, entry.by, entry.at) == (run.id, "runner", 300.0)


def test_asking_if_it_still_may_be_leaves_no_trace(wiping: Store) -> None:
    wiping.intend_wipe("gpu-01", (), by="ann", run=None, now=300.0)
    assert sentences(wiping) == []


@pytest.mark.parametrize("orders", [(), ORDERS])
def test_a_run_that_is_over_or_was_taken_over_erases_nothing(wiping: Store, orders: tuple[str, ...]) -> None:
    run = opened(wiping, stage=Stage.WIPE)
    with pytest.raises(ConflictError, match="is over or was taken over"):
        wiping.intend_wipe("gpu-01", orders, by="runner", run=(run.id, run.fence - 1), now=300.0)
    wiping.close_run(run, Outcome.LOST, "", 301.0)
    with pytest.raises(ConflictError, match="is over or was taken over"):
        wiping.intend_wipe("gpu-01", orders, by="runner", run=(run.id, run.fence), now=302.0)
    assert sentences(wiping) == []


def test_nobody_erases_by_hand_while_the_runner_does(wiping: Store) -> None:
    run = opened(wiping, stage=Stage.WIPE)
    with pytest.raises(ConflictError, match=rf"run {run.id}"):
        wiping.intend_wipe("gpu-01", ORDERS, by="ann", run=None, now=300.0)


@pytest.mark.parametrize("name", ["gpu-02", "nobody"])
def test_a_node_in_another_state_is_not_erased_by_hand_either(wiping: Store, name: str) -> None:
    with pytest.raises(ConflictError, match="only one in the state wipe is erased"):
        wiping.intend_wipe(name, ORDERS, by="ann", run=None, now=300.0)


def test_a_held_node_is_not_erased(wiping: Store) -> None:
    wiping.apply(node(wiping), decision(SetCondition(Condition.HELD, Held(1.0, "no", "bob"))), 200.0)
    with pytest.raises(ConflictError, match="it is held"):
        wiping.intend_wipe("gpu-01", ORDERS, by="ann", run=None, now=300.0)
