"""Rollouts in the loop: a real store, scripted plays, nodes that leave production and come back."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.firmware.rollout import RolloutStatus, unturnable
from fleet_runner.core.firmware.turns import RolloutStep
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.examples import UNHURRIED
from tests.reconcile.rolling import (
    ASKED,
    BURNING,
    catalogued,
    member,
    rolled,
    row,
    script,
    serving,
    standing_of,
    ticked,
    turn,
    turns,
    updating,
)
from tests.reconcile.scripted import BUSY, GOOD, IDLE, XID, Script, Scripted, path, played

WRONG = Finding("firmware.drift", "BMC", "BMC has version 1.0", Remedy.REFLASH, "f")
FAILED = Result("firmware_update", Verdict.FAIL, "BMC failed twice", (WRONG,))
DRIFT = Result("firmware_pins", Verdict.FAIL, "drift", (WRONG,))
MakeWorld = Callable[..., TickContext]


def over(world: TickContext) -> bool:
    """Whether the rollout asks nobody any more."""
    return standing_of(world).standing in {RolloutStatus.DONE, RolloutStatus.STOPPED}


def test_a_rollout_takes_a_canary_and_then_waves_through_firmware_and_burn_in(make_world: MakeWorld) -> None:
    """And ends with every node back in production."""
    world = catalogued(make_world(count=6))
    now = serving(world)
    rolled(world, now)
    most: list[int] = []
    waves: list[set[str]] = []
    while not over(world):
        now = ticked(world, now)
        out = {name for name, each in turns(world).items() if each is RolloutStep.ASKED}
        most.append(len(out))
        waves += [out] if out and not any(out <= wave for wave in waves) else []
    assert [len(wave) for wave in waves] == [1, 3, 2]
    assert max(most) == 3
    assert standing_of(world).detail == "6 done, 0 failed, 0 skipped"
    assert {node.state for node in world.store.nodes()} == {State.PRODUCTION}
    assert path(world)[-3:] == [State.FIRMWARE, State.BURN_IN, State.PRODUCTION]
    said = [entry.sentence for entry in world.store.history("gpu-01") if entry.by == "rollout 1"]
    assert said[0] == "rollout 1 asks: firmware (rollout 1 of ann: BMC 1.2)."


def test_drift_alone_moves_no_node(make_world: MakeWorld) -> None:
    """However plainly a check sees it; a person's request does, and is not held back by the budget."""
    world = catalogued(make_world(count=2))
    now = serving(world)
    world.settings = world.settings.model_copy(update={"max_out_rack": 1, "max_out_share": 0.01, "small_fleet": 9})
    script(world, lambda node, stage: (DRIFT, IDLE) if stage is Stage.HEALTH_PASSIVE else updating(node, stage))
    now = ticked(world, now, 60)
    assert {node.state for node in world.store.nodes()} == {State.PRODUCTION}
    for name in ("gpu-01", "gpu-02"):
        world.store.leave_intent(name, IntentKind.FIRMWARE, "ann", reason="BMC 1.2", now=now)
    script(world, lambda node, stage: (BURNING,) if stage is Stage.BURN_IN else updating(node, stage))
    now = ticked(world, now, 10)
    assert {node.state for node in world.store.nodes()} == {State.BURN_IN}


def test_a_busy_node_is_drained_first(make_world: MakeWorld) -> None:
    """It takes no new work, and the rollout waits for it."""
    world = catalogued(make_world())
    now = serving(world)
    rolled(world, now)
    script(world, lambda node, stage: (GOOD, BUSY) if stage in ASKED else updating(node, stage))
    now = ticked(world, now, 20)
    node = row(world, "gpu-01")
    assert node.state is State.PRODUCTION
    assert node.conditions[Condition.PENDING].by == "rollout 1"
    assert {Condition.CORDONED, Condition.DRAINING} <= set(node.conditions)
    script(world, updating)
    played(world, over, now=now)
    assert turns(world) == {"gpu-01": RolloutStep.DONE}
    assert not set(row(world, "gpu-01").conditions) & {Condition.PENDING, Condition.CORDONED, Condition.DRAINING}


def test_a_failed_canary_stops_it_and_a_person_resumes_it(make_world: MakeWorld) -> None:
    """Nobody else is asked meanwhile; the next node is the canary then."""
    world = catalogued(make_world(count=3))
    now = serving(world)
    rolled(world, now)
    script(world, lambda node, stage: (FAILED,) if stage is Stage.FIRMWARE else updating(node, stage))
    now = played(world, over, now=now)
    assert standing_of(world).standing is RolloutStatus.STOPPED
    assert standing_of(world).detail.startswith("stopped: gpu-01 of the canary failed: it went to firmware_failed:")
    assert "BMC failed twice" in member(world, "gpu-01").detail
    now = ticked(world, now, 20)
    assert turns(world) == {
        "gpu-01": RolloutStep.FAILED,
        "gpu-02": RolloutStep.WAITING,
        "gpu-03": RolloutStep.WAITING,
    }
    script(world, updating)
    turn(world, RolloutStatus.RUNNING, now)
    played(world, over, now=now)
    assert standing_of(world).detail == "2 done, 1 failed, 0 skipped"
    assert member(world, "gpu-02").wave == 0
    assert row(world, "gpu-01").state is State.FIRMWARE_FAILED


def test_a_node_that_does_not_come_back_from_burn_in_has_failed(make_world: MakeWorld) -> None:
    """Its firmware is the first suspect."""
    world = catalogued(make_world())
    now = serving(world)
    rolled(world, now)
    script(world, lambda node, stage: (XID,) if stage is Stage.BURN_IN else updating(node, stage))
    played(world, lambda world: turns(world) == {"gpu-01": RolloutStep.FAILED}, now=now)
    assert member(world, "gpu-01").detail.startswith("it went to triage: Burn-in found a fault;")


def test_stopping_gives_back_who_has_not_begun(make_world: MakeWorld) -> None:
    """Uncordoned, it serves on and waits for its turn; who has begun is brought to its end."""
    world = catalogued(make_world(count=2))
    now = serving(world)
    rolled(world, now, canary=2)

    def plays(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.BURN_IN:
            return (BURNING,)
        return (GOOD, BUSY) if stage in ASKED and node == "gpu-02" else updating(node, stage)

    script(world, plays)
    now = ticked(world, now, 20)
    assert row(world, "gpu-01").state is State.BURN_IN
    assert Condition.PENDING in row(world, "gpu-02").conditions
    turn(world, RolloutStatus.STOPPED, now)
    script(world, updating)
    now = ticked(world, now, 20)
    assert turns(world) == {"gpu-01": RolloutStep.DONE, "gpu-02": RolloutStep.WAITING}
    assert row(world, "gpu-02").state is State.PRODUCTION
    assert not set(row(world, "gpu-02").conditions) & {Condition.PENDING, Condition.CORDONED}
    said = [entry.sentence for entry in world.store.history("gpu-02")]
    assert "rollout 1 is stopped by ann: lunch; the node stays in service." in said
    turn(world, RolloutStatus.RUNNING, now)
    played(world, over, now=now)
    assert standing_of(world).detail == "2 done, 0 failed, 0 skipped"


def test_a_fault_comes_before_an_update(make_world: MakeWorld) -> None:
    """The node is rebooted, and skipped; the rollout takes another canary."""
    world = catalogued(make_world(count=2))
    now = serving(world)
    rolled(world, now)
    sick = {"gpu-01"}

    def plays(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.REBOOT:
            sick.discard(node)
        if stage in {Stage.DRAIN, Stage.HEALTH_PASSIVE}:
            return (XID if node in sick else Result("xid", Verdict.PASS, "none"), BUSY if node in sick else IDLE)
        return updating(node, stage)

    script(world, plays)
    played(world, over, now=now + 200)
    assert member(world, "gpu-01").turn is RolloutStep.SKIPPED
    assert member(world, "gpu-01").detail.startswith("REBOOT came first: GPU 3 fell off the bus.")
    assert member(world, "gpu-02").turn is RolloutStep.DONE


def test_who_is_not_fit_when_its_turn_comes_is_skipped(make_world: MakeWorld) -> None:
    """Held, cancelled, on target: each with its reason, and the next one is asked."""
    world = catalogued(make_world(count=4))
    now = serving(world)
    world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", reason="visitors", now=now)
    now = ticked(world, now)
    script(world, lambda node, stage: (GOOD, BUSY) if stage in ASKED else updating(node, stage))
    rolled(world, now)
    now = ticked(world, now, 3)
    assert member(world, "gpu-01").detail == "it is held by ann: visitors"
    assert turns(world)["gpu-02"] is RolloutStep.ASKED
    world.store.leave_intent("gpu-02", IntentKind.CANCEL, "bob", now=now)
    now = ticked(world, now, 3)
    assert member(world, "gpu-02").detail == "its update was cancelled before it began"
    assert turns(world)["gpu-03"] is RolloutStep.ASKED
    catalogued(world, target="1.1")
    world.store.leave_intent("gpu-03", IntentKind.HOLD, "ann", now=now)
    played(world, over, now=now)
    assert member(world, "gpu-03").detail == "it is held by ann: no reason given"
    assert member(world, "gpu-04").detail == "everything is already on its target"
    assert standing_of(world).standing is RolloutStatus.DONE


def test_a_held_node_is_given_back_once_it_is_released(make_world: MakeWorld) -> None:
    """What a rollout asked and asks no more is not carried out later."""
    world = catalogued(make_world())
    now = serving(world)
    rolled(world, now)
    script(world, lambda node, stage: (GOOD, BUSY) if stage in ASKED else updating(node, stage))
    now = ticked(world, now, 3)
    world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", now=now)
    now = ticked(world, now, 3)
    assert Condition.PENDING in row(world, "gpu-01").conditions
    script(world, updating)
    world.store.leave_intent("gpu-01", IntentKind.RELEASE, "ann", now=now)
    ticked(world, now, 20)
    assert row(world, "gpu-01").state is State.PRODUCTION
    assert Condition.PENDING not in row(world, "gpu-01").conditions
    said = [entry.sentence for entry in world.store.history("gpu-01")]
    assert "rollout 1 no longer asks for it; the node stays in service." in said


def test_without_a_catalogue_that_can_be_read_nobody_is_asked(make_world: MakeWorld) -> None:
    """What was asked goes on; once the file is put right, so does the rollout."""
    world = catalogued(make_world(count=2))
    now = serving(world)
    catalogued(world, target="")
    rolled(world, now)
    now = ticked(world, now, 10)
    assert set(turns(world).values()) == {RolloutStep.WAITING}
    catalogued(world)
    played(world, over, now=now)
    assert standing_of(world).detail == "2 done, 0 failed, 0 skipped"


def test_a_rollout_waits_for_the_disruption_budget_and_does_not_spend_that_of_healing(make_world: MakeWorld) -> None:
    """One node at a time in a small fleet; a fault elsewhere is healed meanwhile all the same."""
    world = catalogued(make_world(count=4))
    now = serving(world)
    world.settings = world.settings.model_copy(update={"max_out_share": 0.1, "small_fleet": 20})
    rolled(world, now, canary=3)
    sick = {"gpu-04"}

    def plays(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.BURN_IN:
            return (BURNING,)
        if stage is Stage.REBOOT:
            sick.discard(node)
        usage = (XID if node in sick else Result("xid", Verdict.PASS, "none"), IDLE)
        return usage if stage in {Stage.DRAIN, Stage.HEALTH_PASSIVE} else updating(node, stage)

    script(world, plays)
    said: set[str] = set()
    for _ in range(60):
        now = ticked(world, now)
        out = [node for node in world.store.nodes() if node.state in {State.FIRMWARE, State.BURN_IN}]
        assert len(out) <= 1
        said |= {node.waiting for node in world.store.nodes()}
    assert any(each.startswith("waits: the fleet's budget is spent: 1 of at most 1 node out") for each in said)
    assert path(world, "gpu-04")[-2:] == [State.REBOOT, State.PRODUCTION]


def test_a_second_tick_changes_nothing(make_world: MakeWorld) -> None:
    """Nor does another runner that saw the same."""
    world = catalogued(make_world(count=3))
    now = serving(world)
    rollout = rolled(world, now)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.RUNNING
    tick(world, now + 1)
    before = (standing_of(world), turns(world), [len(world.store.history(f"gpu-0{n}")) for n in (1, 2, 3)])
    tick(world, now + 1)
    assert before == (standing_of(world), turns(world), [len(world.store.history(f"gpu-0{n}")) for n in (1, 2, 3)])
    with pytest.raises(ConflictError):
        world.store.change_rollout(rollout, rollout, (), now=now + 2)


def fated(fate: str) -> Script:
    """Plays that fail in a stage, that find work or that say nothing."""

    def plays(node: str, stage: Stage) -> tuple[Result, ...] | None:
        if fate == "silent":
            return None
        if fate == "busy" and stage is Stage.DRAIN:
            return (GOOD, BUSY)
        return (FAILED,) if fate == stage.value else updating(node, stage)

    return plays


@given(
    st.lists(
        st.one_of(
            st.sampled_from([RolloutStatus.PAUSED, RolloutStatus.STOPPED, RolloutStatus.RUNNING]),
            st.tuples(st.sampled_from(["ok", "firmware", "burn_in", "busy", "silent"]), st.integers(1, 15)),
        ),
        max_size=8,
    )
)
@settings(max_examples=6, deadline=None, suppress_health_check=UNHURRIED)
def test_whatever_plays_and_people_do_a_wave_is_never_exceeded(
    make_world: MakeWorld, story: list[RolloutStatus | tuple[str, int]]
) -> None:
    """And with everything well again, and whatever was stopped resumed, every node ends in one way."""
    world = catalogued(make_world(count=3))
    now = serving(world)
    rolled(world, now, wave=2, failed_share=0.5)
    for chapter in [*story, ("ok", 10)]:
        if isinstance(chapter, RolloutStatus):
            if not unturnable(standing_of(world), chapter):
                turn(world, chapter, now)
            continue
        script(world, fated(chapter[0]))
        for _ in range(chapter[1]):
            now = ticked(world, now, pause=8.0)
            asked = [each for each in world.store.rollout_members(1) if each.turn is RolloutStep.ASKED]
            assert len(asked) <= (1 if any(each.wave == 0 for each in asked) else 2)
            assert len({each.wave for each in asked}) <= 1
    for _ in range(200):
        if standing_of(world).standing in {RolloutStatus.PAUSED, RolloutStatus.STOPPED}:
            turn(world, RolloutStatus.RUNNING, now)
        if standing_of(world).standing is RolloutStatus.DONE:
            break
        now = ticked(world, now, pause=8.0)
    assert standing_of(world).standing is RolloutStatus.DONE
    assert set(turns(world).values()) <= {RolloutStep.DONE, RolloutStep.FAILED, RolloutStep.SKIPPED}
