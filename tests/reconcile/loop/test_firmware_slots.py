"""How many nodes are updated at a time, what a paused rollout's nodes are told, and whose time does not run."""

from collections.abc import Callable

import pytest

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.firmware.rollout import RolloutStatus
from fleet_runner.core.firmware.turns import RolloutStep
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import HOUR, TRANSITIONS, Condition, Event, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.rolling import (
    BURNING,
    FLASHING,
    catalogued,
    in_one_rack,
    launched,
    member,
    rolled,
    row,
    script,
    serving,
    ticked,
    turn,
    turns,
    updating,
    write,
)
from tests.reconcile.scripted import GOOD, Scripted, in_state, played

MakeWorld = Callable[..., TickContext]


def flashing(node: str, stage: Stage) -> tuple[Result, ...]:
    """Plays whose flashes go on and on."""
    return (GOOD, FLASHING) if stage is Stage.FIRMWARE else updating(node, stage)


def limited(world: TickContext, **limits: object) -> TickContext:
    """The same world with other settings."""
    world.settings = world.settings.model_copy(update=limits)
    return world


def begun(world: TickContext) -> set[str]:
    """The nodes on which firmware was begun."""
    return {node for stage, node, _ in launched(world) if stage is Stage.FIRMWARE}


def arrived(world: TickContext) -> float:
    """Let every node come to `firmware` on its way into service; return the time."""
    script(world, flashing)
    return played(world, in_state(State.FIRMWARE))


@pytest.mark.parametrize(
    ("limits", "watts", "said"),
    [
        ({"firmware_at_once": 2}, 0, "waits: 2 of at most 2 nodes of the fleet have their firmware updated"),
        ({"firmware_at_once_rack": 2}, 0, "waits: 2 of at most 2 nodes of rack hall/A have their firmware updated"),
        (
            {"firmware_rack_watts": 15_000.0},
            6500,
            "waits: updates in rack hall/A draw 13000 of at most 15000 W, and it would draw 6500 W",
        ),
    ],
)
def test_only_so_many_nodes_begin_and_the_others_say_why(
    make_world: MakeWorld, limits: dict[str, float], watts: int, said: str
) -> None:
    """Who has begun goes on at every visit; when one is done the next begins, in time that is its own."""
    world = limited(catalogued(make_world(fleet=in_one_rack(4)), watts=watts), **limits)
    now = ticked(world, arrived(world), 20)
    first = begun(world)
    assert len(first) == 2
    assert {row(world, name).waiting for name in turns_of(world) - first} == {said}
    visits = [node for stage, node, _ in launched(world) if stage is Stage.FIRMWARE]
    assert all(visits.count(name) > 5 for name in first)
    now += 5 * HOUR
    world.settings = world.settings.model_copy(update={"firmware_at_once": 9, "firmware_at_once_rack": 1})
    assert begun(world) == first
    script(world, lambda node, stage: updating(node, stage) if node in first else flashing(node, stage))
    now = played(world, lambda world: len(begun(world)) > 2, now=now)
    now = ticked(world, now + 2 * HOUR, 2)
    assert {row(world, name).state for name in begun(world) - first} == {State.FIRMWARE}


def turns_of(world: TickContext) -> set[str]:
    """Every node's name."""
    return {node.name for node in world.store.nodes()}


def test_a_catalogue_that_cannot_be_read_counts_no_watts(make_world: MakeWorld) -> None:
    """Nor one that is not there; the limits that count nodes hold."""
    world = limited(catalogued(make_world(fleet=in_one_rack(3))), firmware_rack_watts=100.0, firmware_at_once_rack=2)
    write(world.settings.inventory_file.parent, {"fleet_profile": {"firmware": "nonsense"}})
    ticked(world, arrived(world), 10)
    assert len(begun(world)) == 2


def test_a_node_with_a_flash_under_way_takes_a_slot_wherever_it_is(make_world: MakeWorld) -> None:
    """It may have been begun by hand."""
    world = limited(catalogued(make_world(count=2)), firmware_at_once=1)
    flash = Flash(0, "gpu-02", "BMC", {"BMC": "1"}, {"BMC": "2"}, "f", "0", Activate.NONE, 1, 60.0, 1, 1000.0)
    script(world, flashing)
    now = played(world, in_state(State.PROVISION))
    world.store.lease("gpu-02", "ann", run=None, now=now, seconds=9999.0)
    world.store.intend(flash, "ann", now=now)
    ticked(world, played(world, in_state(State.FIRMWARE), now=now), 10)
    assert begun(world) == set()


def test_a_flash_that_was_left_open_elsewhere_takes_no_slot(make_world: MakeWorld) -> None:
    """Nobody is at it, and perhaps nobody will be."""
    world = limited(catalogued(make_world(count=2)), firmware_at_once=1)
    flash = Flash(0, "gpu-02", "BMC", {"BMC": "1"}, {"BMC": "2"}, "f", "0", Activate.NONE, 1, 60.0, 1, 1000.0)
    script(world, flashing)
    now = played(world, in_state(State.PROVISION))
    world.store.leave_intent("gpu-02", IntentKind.HOLD, "ann", reason="a play by hand", now=now)
    world.store.lease("gpu-02", "ann", run=None, now=now, seconds=1.0)
    world.store.intend(flash, "ann", now=now)
    played(world, lambda world: row(world, "gpu-01").state is State.FIRMWARE and begun(world) == {"gpu-01"}, now=now)


def test_a_node_in_firmware_failed_says_that_a_flash_is_open_until_it_has_ended(make_world: MakeWorld) -> None:
    world = catalogued(make_world(count=1))
    flash = Flash(0, "gpu-01", "BMC", {"BMC": "1"}, {"BMC": "2"}, "f", "0", Activate.NONE, 1, 60.0, 1, 1000.0)
    now = arrived(world)
    world.store.lease("gpu-01", "ann", run=None, now=now, seconds=1.0)
    world.store.intend(flash, "ann", now=now)
    world.store.apply(
        row(world, "gpu-01"), Decision((Move(TRANSITIONS[State.FIRMWARE, Event.OVERDUE], "test"),), "", now), now
    )
    now = ticked(world, now, 2)
    said = "Flash 1 (BMC) is open still, at intended: fleet-runner firmware show gpu-01"
    assert row(world, "gpu-01").waiting.endswith(said)
    world.store.settle_flash("gpu-01", "ann", "its page says idle", now)
    ticked(world, now, 2)
    assert "Flash" not in row(world, "gpu-01").waiting


def test_a_person_starts_the_stage_whatever_is_spent(make_world: MakeWorld) -> None:
    """What somebody asks for by name is not held back; from then on it goes on."""
    world = limited(catalogued(make_world(count=2)), firmware_at_once=1)
    now = ticked(world, arrived(world), 10)
    (waits,) = turns_of(world) - begun(world)
    world.store.leave_intent(waits, IntentKind.RUN, "ann", detail="firmware", now=now)
    ticked(world, now, 20)
    assert sum(node == waits and stage is Stage.FIRMWARE for stage, node, _ in launched(world)) > 2


def test_a_rollouts_nodes_stay_in_production_until_there_is_a_slot(make_world: MakeWorld) -> None:
    """Where they could be given back."""
    world = limited(catalogued(make_world(fleet=in_one_rack(3))), firmware_at_once=1)
    now = serving(world)
    rolled(world, now, canary=3)
    script(world, flashing)
    said: set[str] = set()
    for _ in range(30):
        now = ticked(world, now)
        assert sum(node.state is State.FIRMWARE for node in world.store.nodes()) <= 1
        said |= {node.waiting for node in world.store.nodes()}
    assert "waits: 1 of at most 1 node of the fleet have their firmware updated" in said
    assert list(turns(world).values()) == [RolloutStep.ASKED] * 3


def test_what_a_play_is_told_of_a_rollout(make_world: MakeWorld) -> None:
    """Only plays of firmware; why no flash may begin, once it is paused."""
    world = catalogued(make_world())
    now = serving(world)
    rolled(world, now)
    script(world, flashing)
    now = ticked(world, now, 20)
    firmware = [told["firmware"] for stage, _, told in launched(world) if stage is Stage.FIRMWARE]
    assert firmware
    assert all(each == {"start": ""} for each in firmware)
    assert all("firmware" not in told for stage, _, told in launched(world) if stage is not Stage.FIRMWARE)
    turn(world, RolloutStatus.PAUSED, now)
    flash = Flash(0, "gpu-01", "BMC", {"BMC": "1"}, {"BMC": "2"}, "f", "0", Activate.NONE, 1, 60.0, 1, now)
    world.store.lease("gpu-01", "play", run=None, now=now, seconds=1e6)
    flash = world.store.intend(flash, "play", now=now)
    now = ticked(world, now, 10)
    assert launched(world)[-1][2]["firmware"] == {"start": "rollout 1 is paused by ann: lunch"}


def test_a_paused_rollouts_node_begins_nothing_and_its_time_does_not_run(make_world: MakeWorld) -> None:
    """However long lunch is; a flash that is under way is still looked after, and the node is asked for no more."""
    world = catalogued(make_world(count=2))
    now = serving(world)
    rolled(world, now)
    script(world, flashing)
    now = ticked(world, now, 20)
    turn(world, RolloutStatus.PAUSED, now)
    count = len(launched(world))
    now = ticked(world, now, 10, pause=2 * HOUR)
    assert [stage for stage, *_ in launched(world)[count:] if stage is Stage.FIRMWARE] == []
    assert row(world, "gpu-01").state is State.FIRMWARE
    assert row(world, "gpu-01").waiting == "waits: rollout 1 is paused by ann: lunch"
    assert turns(world) == {"gpu-01": RolloutStep.ASKED, "gpu-02": RolloutStep.WAITING}
    turn(world, RolloutStatus.RUNNING, now)
    now = ticked(world, now, 8, pause=HOUR / 2)
    assert row(world, "gpu-01").state is State.FIRMWARE
    ticked(world, now, 6, pause=HOUR / 2)
    assert member(world, "gpu-01").detail.startswith(
        "it went to firmware_failed: The firmware update was not finished"
    )


def test_a_paused_rollouts_node_stays_in_production(make_world: MakeWorld) -> None:
    """Drained and cordoned, until it is resumed."""
    world = catalogued(make_world())
    now = serving(world)
    rolled(world, now)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.RUNNING
    now = ticked(world, now, 3)
    turn(world, RolloutStatus.PAUSED, now)
    engine.state = BatchState.ENDED
    said: set[str] = set()
    for _ in range(20):
        now = ticked(world, now)
        said.add(row(world, "gpu-01").waiting)
    assert "waits: rollout 1 is paused by ann: lunch" in said
    assert row(world, "gpu-01").state is State.PRODUCTION
    assert {Condition.CORDONED, Condition.PENDING} <= set(row(world, "gpu-01").conditions)
    turn(world, RolloutStatus.RUNNING, now)
    played(world, lambda world: turns(world) == {"gpu-01": RolloutStep.DONE}, now=now)


def test_a_stopped_rollouts_node_that_came_to_firmware_and_has_not_begun_waits(make_world: MakeWorld) -> None:
    """Until somebody resumes the rollout, or starts the stage by name; then it goes on to its end."""
    world = catalogued(make_world(count=2))
    now = serving(world)
    rolled(world, now, canary=2)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.RUNNING
    now = ticked(world, now)
    engine.state = BatchState.ENDED
    needed = Move(TRANSITIONS[State.PRODUCTION, Event.FIRMWARE_NEEDED], "runner")
    for name in ("gpu-01", "gpu-02"):
        for run in world.store.open_runs():
            world.store.close_run(run, Outcome.CANCELLED, "", now)
        world.store.apply(row(world, name), Decision((needed,), "", 0.0), now)
    turn(world, RolloutStatus.STOPPED, now)
    count = len(launched(world))
    script(world, lambda node, stage: (BURNING,) if stage is Stage.BURN_IN else flashing(node, stage))
    now = ticked(world, now, 20)
    assert {stage for stage, *_ in launched(world)[count:]} == set()
    assert row(world, "gpu-01").waiting == "waits: rollout 1 is stopped by ann: lunch"
    world.store.leave_intent("gpu-01", IntentKind.RUN, "ann", detail="firmware", now=now)
    now = ticked(world, now, 10)
    assert begun_since(world, count) == {"gpu-01"}
    assert launched(world)[-1][2]["firmware"] == {"start": ""}
    turn(world, RolloutStatus.RUNNING, now)
    ticked(world, now, 10)
    assert begun_since(world, count) == {"gpu-01", "gpu-02"}


def begun_since(world: TickContext, count: int) -> set[str]:
    """The nodes on which firmware was begun after so many runs."""
    return {node for stage, node, _ in launched(world)[count:] if stage is Stage.FIRMWARE}
