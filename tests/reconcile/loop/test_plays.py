"""What becomes of a node when its play does not end as it should."""

from collections.abc import Callable

import pytest

from fleet_runner.adapters.plays.engine import Batch, BatchState
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd, encode
from fleet_runner.core.lifecycle.states import STATES, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings
from tests.reconcile.scripted import GOOD, Scripted, all_good, in_service, in_state, pass_time, played


@pytest.mark.parametrize("lost", [Stage.VERIFY, Stage.FIRMWARE])
def test_a_lost_run_is_asked_for_again(make_world: Callable[..., TickContext], lost: Stage) -> None:
    """It only read, or it finds its own earlier work before it acts."""
    world = make_world(lambda _node, stage: None if stage is lost else (GOOD,))
    engine = world.engine
    assert isinstance(engine, Scripted)
    now = played(world, in_state(State(lost)))
    engine.state = BatchState.LOST
    now = played(world, lambda world: any(run.outcome is Outcome.LOST for run in world.store.runs("gpu-01")), now=now)
    engine.state, engine.script = BatchState.ENDED, all_good
    played(world, in_state(State.PRODUCTION), now=now)


def test_what_a_lost_batch_had_finished_counts(make_world: Callable[..., TickContext]) -> None:
    """Its spool says that the play was over for the node; only the supervisor's own end was not seen."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.LOST
    played(world, in_state(State.PRODUCTION))


def test_a_batch_without_a_word_is_retried_and_no_try_of_the_node(
    make_world: Callable[..., TickContext],
) -> None:
    """No hardware is condemned, no ticket opened, and it is said whose failure it is."""
    world = make_world(lambda _node, _stage: None)
    now = in_service(world, State.PROVISION)
    pass_time(world, now, 4000, pause=20)
    booted = world.store.runs_of("gpu-01", Stage.PROVISION, 10)
    assert {run.outcome for run in booted} - {None} == {Outcome.UNKNOWN}
    assert len(booted) > STATES[State.PROVISION].attempts
    [node] = world.store.nodes()
    assert (node.state, world.store.tickets()) == (State.PROVISION, ())
    assert node.waiting.startswith("not the node: ")


def test_a_batch_that_is_not_seen_to_start_is_lost(make_world: Callable[..., TickContext]) -> None:
    """The runner died before it started it, or another machine has it: nobody knows, so it is not simply repeated."""
    world = make_world(lambda _node, _stage: None)
    engine = world.engine
    assert isinstance(engine, Scripted)
    in_service(world, State.PROVISION)
    engine.state = BatchState.NEW
    tick(world, 1001.0)
    tick(world, 1050.0)
    assert len(world.store.open_runs()) == 1
    tick(world, 1062.0)
    assert [run.outcome for run in world.store.runs("gpu-01")] == [Outcome.LOST]
    for now in range(1100, 4000, 70):
        tick(world, float(now))
    assert world.store.nodes()[0].state is State.PROVISION
    assert {run.outcome for run in world.store.runs("gpu-01")} - {None} == {Outcome.LOST}


def test_a_batch_past_its_deadline_is_ended(make_world: Callable[..., TickContext]) -> None:
    """From outside, because its supervisor did not."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.ORPHANED
    tick(world, 1000.0)
    tick(world, 1000.0 + 1.3 * 2400)
    assert engine.stopped == [engine.launched[0].id]


def test_a_play_that_cannot_be_started_counts_against_no_node(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the controller's trouble: said in status, tried again."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)

    def refuse(_settings: Settings, _batch: Batch) -> None:
        raise FleetError("the disk is full")

    in_service(world, State.PROVISION)
    monkeypatch.setattr(engine, "launch", refuse)
    tick(world, 1001.0)
    (run,) = world.store.runs("gpu-01")
    assert (run.outcome, run.detail) == (Outcome.CANCELLED, "the play could not be started: the disk is full")
    for now in range(1011, 1300, 8):
        tick(world, float(now))
    tick(world, 1302.0)
    node = world.store.nodes()[0]
    assert (node.state, node.waiting) == (State.PROVISION, "the play could not be started: the disk is full")


def test_a_play_that_could_not_run_counts_against_no_node(make_world: Callable[..., TickContext]) -> None:
    """No inventory, a broken playbook: Ansible ended badly without a word about any node."""
    world = make_world(lambda _node, _stage: None)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.rc = 4
    for now in range(1000, 1300, 10):
        tick(world, float(now))
    assert {run.outcome for run in world.store.runs("gpu-01")} - {None} == {Outcome.CANCELLED}
    assert "exit status 4" in world.store.nodes()[0].waiting


def test_what_told_everything_is_discarded_and_what_did_not_is_kept(make_world: Callable[..., TickContext]) -> None:
    """Disks are finite; a log is worth keeping where it is all there is."""
    hung = Result("firmware_update", Verdict.UNKNOWN, "no answer")
    world = make_world(lambda _node, stage: (hung,) if stage is Stage.FIRMWARE else (GOOD,))
    played(world, in_state(State.FIRMWARE_FAILED))
    engine = world.engine
    assert isinstance(engine, Scripted)
    assert {batch.stage for batch in engine.launched if batch.id in engine.spools} == {Stage.FIRMWARE}


def test_the_log_of_a_node_that_was_closed_early_without_a_verdict_is_kept(
    make_world: Callable[..., TickContext],
) -> None:
    """The one that was closed last told everything."""
    unsure = Result("cpu_stress", Verdict.UNKNOWN, "no answer")
    world = make_world(lambda node, _stage: {"gpu-01": (unsure,), "gpu-02": None}.get(node, (GOOD,)), count=3)
    engine = world.engine
    assert isinstance(engine, Scripted)
    in_service(world, State.PROVISION)
    engine.state = BatchState.RUNNING
    tick(world, 1001.0)
    (first,) = engine.launched
    tick(world, 1005.0)
    assert {run.node for run in world.store.open_runs() if run.batch == first.id} == {"gpu-02"}
    lines = encode(Judged("gpu-02", 1006.0, GOOD)) + encode(Ended("gpu-02", 1006.0, PlayEnd.OK))
    engine.spools[first.id] += lines.encode()
    engine.state = BatchState.ENDED
    tick(world, 1010.0)
    assert [run.outcome for run in world.store.runs("gpu-02")][:1] == [Outcome.PASSED]
    assert first.id in engine.spools


def test_a_batch_holds_no_more_nodes_than_the_settings_say(make_world: Callable[..., TickContext]) -> None:
    """What waits for a fork must not eat its own deadline."""
    world = make_world(count=5)
    world.settings = world.settings.model_copy(update={"batch_nodes": 2})
    tick(world, 1000.0)
    engine = world.engine
    assert isinstance(engine, Scripted)
    assert sorted(len(batch.runs) for batch in engine.launched) == [1, 2, 2]


def test_a_node_that_is_through_waits_for_no_other_of_its_batch(make_world: Callable[..., TickContext]) -> None:
    """Two of three have answered: they have moved on while the batch still runs."""
    world = make_world(lambda node, _stage: None if node == "gpu-02" else (GOOD,), count=3)
    engine = world.engine
    assert isinstance(engine, Scripted)
    in_service(world, State.PROVISION)
    engine.state = BatchState.RUNNING
    tick(world, 1001.0)
    (first,) = engine.launched
    tick(world, 1005.0)
    closed = {run.node: run.outcome for node in world.store.nodes() for run in world.store.runs(node.name)[:1]}
    assert closed == {"gpu-01": Outcome.PASSED, "gpu-02": None, "gpu-03": Outcome.PASSED}
    assert [run.batch for run in world.store.open_runs(["gpu-02"])] == [first.id]
    states = {node.name: node.state for node in world.store.nodes()}
    assert states["gpu-01"] == states["gpu-03"] == State.ONBOARD
    assert states["gpu-02"] == State(first.stage)
    assert first.id in engine.spools


def test_the_last_of_a_batch_wait_for_its_end(make_world: Callable[..., TickContext]) -> None:
    """Somebody must see to what it leaves behind: all are through, and it still runs."""
    world = make_world(count=2)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.RUNNING
    for now in (1000.0, 1005.0, 1010.0):
        tick(world, now)
    assert len(engine.launched) == 1
    assert len(world.store.open_runs()) == 2
    engine.state = BatchState.ENDED
    tick(world, 1015.0)
    assert engine.launched[0].id not in engine.spools
