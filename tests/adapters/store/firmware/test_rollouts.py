"""Rollouts: changed by whoever saw them as they are, with the requests that they leave, or not at all."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, turned
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.firmware.waves import NO_WAVE
from fleet_runner.core.lifecycle.actions import Answer, Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held, Intent, IntentKind
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.adapters.store.builders import decision, device, failing_after, judged, node, opened
from tests.adapters.store.flashing import intended

FIRST = Member("gpu-01", 0)
MEMBERS = (FIRST, Member("gpu-02", 1), Member("gpu-03", NO_WAVE, RolloutStep.SKIPPED, "it is retired"))


def a_rollout(**values: Any) -> Rollout:
    """A rollout of Ada's, not stored yet."""
    given = {"id": 0, "device_type": "hgx", "by": "ada", "at": 100.0, "reason": "BMC 1.2", "changed_at": 100.0}
    return Rollout(**given | {"canary": 1, "wave": 5, "failed_share": 0.1} | values)


def started(store: Store, **values: Any) -> Rollout:
    """A rollout over three nodes, of which one is skipped."""
    return store.start_rollout(a_rollout(**values), MEMBERS)


def asked(store: Store, rollout: Rollout, name: str = "gpu-01", now: float = 200.0) -> Member:
    """Ask a node, and return its row."""
    store.change_rollout(rollout, rollout, [Member(name, 0, RolloutStep.ASKED)], now=now)
    return next(each for each in store.rollout_members(rollout.id) if each.node == name)


def moved(store: Store, state: State, event: Event, now: float, name: str = "gpu-01") -> None:
    """Move a node along the lifecycle."""
    store.apply(node(store, name), decision(Move(TRANSITIONS[state, event], "runner")), now)


def in_production(store: Store, name: str = "gpu-01") -> None:
    """Take a node the whole way."""
    moved(store, State.REGISTERED, Event.START, 101.0, name)
    moved(store, State.PROVISION, Event.PASSED, 102.0, name)
    moved(store, State.ONBOARD, Event.CERTIFIED, 103.0, name)
    for state in (State.VERIFY, State.FIRMWARE, State.BURN_IN):
        moved(store, state, Event.PASSED, 104.0, name)


def test_a_rollout_is_read_as_it_was_started(stocked: Store) -> None:
    """With its nodes in the order of their turns, whoever is skipped first."""
    rollout = started(stocked)
    assert rollout == replace(a_rollout(), id=rollout.id)
    assert stocked.rollout(rollout.id) == rollout
    assert stocked.rollout_members(rollout.id) == (MEMBERS[2], MEMBERS[0], MEMBERS[1])
    assert stocked.live_rollouts() == stocked.rollouts() == (rollout,)
    assert stocked.rollout(99) is None
    assert stocked.asking("gpu-01") is None


def test_a_device_type_has_one_rollout_that_goes_on(stocked: Store) -> None:
    """Whoever comes second is told so; neither a start nor a resume leaves anything behind."""
    first = started(stocked)
    with pytest.raises(ConflictError, match="device type hgx: another rollout of it is running or paused"):
        started(stocked)
    stopped = stocked.change_rollout(
        first, turned(first, RolloutStatus.STOPPED, "stopped by ada: no", 150.0), (), now=150.0
    )
    second = started(stocked)
    with pytest.raises(ConflictError, match="another rollout"):
        stocked.change_rollout(stopped, turned(stopped, RolloutStatus.RUNNING, "", 160.0), (), now=160.0)
    assert stocked.rollouts() == (stopped, second)
    assert stocked.rollout_members(second.id)
    started(stocked, device_type="other")
    assert stocked.rollouts(1)[0].device_type == "other"


def test_who_is_asked_gets_a_request_in_the_same_transaction(stocked: Store) -> None:
    """In the rollout's name, with who started it and why."""
    rollout = started(stocked)
    member = asked(stocked, rollout)
    because = f"rollout {rollout.id} of ada: BMC 1.2"
    (intent,) = stocked.intents("gpu-01")
    assert member == Member("gpu-01", 0, RolloutStep.ASKED, "", 200.0, intent.id)
    assert intent == Intent(intent.id, "gpu-01", IntentKind.FIRMWARE, rollout.name, 200.0, because)
    assert node(stocked).wake_at == 0.0
    found = stocked.asking("gpu-01")
    assert found is not None
    assert (found.id, found.version) == (rollout.id, 2)


def test_two_who_saw_the_same_ask_once(stocked: Store) -> None:
    """The second is told to read again."""
    rollout = started(stocked)
    asked(stocked, rollout)
    with pytest.raises(ConflictError, match="it has changed since it was read"):
        stocked.change_rollout(rollout, rollout, [Member("gpu-02", 0, RolloutStep.ASKED)], now=201.0)
    assert stocked.intents("gpu-02") == ()
    assert len(stocked.intents("gpu-01")) == 1


@pytest.mark.parametrize("statements", [1, 3, 5])
def test_a_change_that_is_cut_short_changed_nothing(stocked: Store, statements: int) -> None:
    """A runner that dies asks the same nodes again, once."""
    rollout = started(stocked)
    before = (stocked.rollouts(), stocked.rollout_members(rollout.id), stocked.history("gpu-01"))
    with failing_after(stocked, statements), pytest.raises(OSError, match="injected"):
        stocked.change_rollout(rollout, rollout, [Member("gpu-01", 0, RolloutStep.ASKED)], now=200.0)
    assert (stocked.rollouts(), stocked.rollout_members(rollout.id), stocked.history("gpu-01")) == before
    assert stocked.intents("gpu-01") == ()


def test_a_stopped_rollout_lives_on_while_it_has_nodes_under_way(stocked: Store) -> None:
    """They are judged to their end."""
    rollout = started(stocked)
    asked(stocked, rollout)
    now = stocked.rollouts()[0]
    stopped = stocked.change_rollout(
        now, turned(now, RolloutStatus.STOPPED, "stopped by ada: no", 250.0), (), now=250.0
    )
    assert stocked.live_rollouts() == (stopped,)
    done = Member("gpu-01", 0, RolloutStep.DONE, "", 200.0)
    stocked.change_rollout(stopped, stopped, [done], now=300.0)
    assert stocked.live_rollouts() == ()
    assert stocked.asking("gpu-01") is None


def test_news_is_what_happened_since_a_node_was_asked(stocked: Store) -> None:
    """The answer to its request, its moves and its flashes; nothing of another's, nor from before."""
    rollout = started(stocked)
    in_production(stocked)
    intended(stocked)
    member = asked(stocked, rollout)
    assert stocked.news([member])["gpu-01"] == (None, (), ())
    assert member.intent is not None
    yes = Answer(member.intent, accepted=True, sentence="It is pending.")
    stocked.apply(node(stocked), decision(yes), 210.0)
    moved(stocked, State.PRODUCTION, Event.FIRMWARE_NEEDED, 220.0)
    found = stocked.news([member, Member("gpu-02", 1)])
    assert found["gpu-01"].answer == (True, "It is pending.")
    assert [entry.to for entry in found["gpu-01"].moves] == [State.FIRMWARE]
    assert found["gpu-02"] == (None, (), ())
    (flash,) = stocked.news([replace(member, changed_at=100.0)])["gpu-01"].flashes
    assert flash.component == "BIOS"
    assert stocked.news([]) == {}


def test_who_is_out_for_a_rollout_is_known(stocked: Store) -> None:
    """Not who still serves, nor who left production for something else."""
    rollout = started(stocked)
    for name in ("gpu-01", "gpu-02"):
        in_production(stocked, name)
    asked(stocked, rollout)
    assert stocked.rolled_out() == ()
    moved(stocked, State.PRODUCTION, Event.FIRMWARE_NEEDED, 220.0)
    moved(stocked, State.PRODUCTION, Event.REBOOT_NEEDED, 220.0, "gpu-02")
    assert stocked.rolled_out() == ("gpu-01",)


def test_the_first_run_of_a_stay_is_remembered(stocked: Store) -> None:
    """Not that of another stay, stage or node, nor one that a person played."""
    for name in ("gpu-01", "gpu-02"):
        in_production(stocked, name)
        moved(stocked, State.PRODUCTION, Event.FIRMWARE_NEEDED, 190.0, name)
    stocked.record_by_hand(Stage.FIRMWARE, "ada", [judged("gpu-02", at=195.0)], 195.0)
    assert stocked.begun(State.FIRMWARE, Stage.FIRMWARE) == ()
    assert stocked.began("gpu-01", Stage.FIRMWARE) is None
    run = opened(stocked, stage=Stage.FIRMWARE)
    assert stocked.begun(State.FIRMWARE, Stage.FIRMWARE) == ("gpu-01",)
    assert stocked.began("gpu-01", Stage.FIRMWARE) == run.opened_at == 200.0
    assert stocked.began("gpu-01", Stage.VERIFY) is None
    moved(stocked, State.FIRMWARE, Event.FAILED, 210.0)
    moved(stocked, State.FIRMWARE_FAILED, Event.RETRY, 220.0)
    assert stocked.begun(State.FIRMWARE, Stage.FIRMWARE) == ()
    assert stocked.began("gpu-01", Stage.FIRMWARE) is None


def test_some_nodes_and_what_a_check_saw_of_them_are_read_at_once(stocked: Store) -> None:
    """Unknown ones, and those that it never looked at, are left out."""
    opened(stocked)
    stocked.ingest("b-1", 0, 10, [judged(), judged(at=202.0, check="other")])
    held = SetCondition(Condition.HELD, Held(1.0, "Visitors", "ada"))
    stocked.apply(node(stocked, "gpu-02"), decision(held), 300.0)
    assert [each.name for each in stocked.some(["gpu-02", "gpu-01", "gpu-99"])] == ["gpu-01", "gpu-02"]
    assert Condition.HELD in stocked.some(["gpu-02"])[0].conditions
    found = stocked.newest("xid", ["gpu-01", "gpu-02"])
    assert [(name, stored.result.check) for name, stored in found.items()] == [("gpu-01", "xid")]


def test_many_nodes_are_asked_about_in_few_queries(store: Store) -> None:
    """More than a database takes as parameters of one."""
    names = [f"gpu-{number:04}" for number in range(2100)]
    store.register([device(name) for name in names], 1.0)
    rollout = store.start_rollout(a_rollout(), [Member(name, 0) for name in names])
    assert len(store.rollout_members(rollout.id)) == len(store.some(names)) == 2100
    assert len(store.news([Member(name, 0, intent=7) for name in names])) == 2100
