"""With SQLite no more plays run at a time than one runner may carry; what is due beyond them waits its turn."""

from collections.abc import Callable
from dataclasses import replace

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import IDLE, XID, Scripted, all_good, in_service, in_state, pass_time, played

WAITS = "waits: 2 plays run, as many as may at once (batches_at_once)"


def crowded(
    make_world: Callable[..., TickContext], count: int, nodes: int = 2, state: State | None = None
) -> tuple[TickContext, Scripted]:
    """A world of two plays at a time, with so many nodes to each, that do not end; at 1000 all are new to a state."""
    world = make_world(all_good, count=count)
    engine = world.engine
    assert isinstance(engine, Scripted)
    if state is not None:
        in_service(world, state)
        engine.launched.clear()
    world.settings = world.settings.model_copy(update={"batch_nodes": nodes, "batches_at_once": 2})
    engine.state = BatchState.RUNNING
    return world, engine


def waiting(world: TickContext) -> list[str]:
    """Return the nodes that wait for a play."""
    return [node.name for node in world.store.nodes() if node.waiting == WAITS]


def launched(engine: Scripted) -> list[list[str]]:
    """Return the nodes of each batch, in the order in which they were started."""
    return [sorted(batch.runs) for batch in engine.launched]


def test_no_more_plays_run_than_may_and_the_rest_say_so(make_world: Callable[..., TickContext]) -> None:
    """It stays so for as long as they run, also when the others are looked at again."""
    world, engine = crowded(make_world, 7)
    tick(world, 1000.0)
    assert launched(engine) == [["gpu-01", "gpu-02"], ["gpu-03", "gpu-04"]]
    assert waiting(world) == ["gpu-05", "gpu-06", "gpu-07"]
    pass_time(world, 1000.0, 60.0)
    assert len(engine.launched) == 2
    assert waiting(world) == ["gpu-05", "gpu-06", "gpu-07"]


def test_who_waited_is_next_as_soon_as_a_play_ends(make_world: Callable[..., TickContext]) -> None:
    """Before those that are through with their stage and need another, and long before a retry."""
    world, engine = crowded(make_world, 7, state=State.VERIFY)
    tick(world, 1001.0)
    engine.state = BatchState.ENDED
    tick(world, 1002.0)
    stages = [(str(batch.stage), sorted(batch.runs)) for batch in engine.launched[2:]]
    assert stages == [("verify", ["gpu-05", "gpu-06"]), ("verify", ["gpu-07"])]
    assert waiting(world) == ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]
    played(world, in_state(State.PRODUCTION), now=1003.0)


def test_a_batch_that_is_not_full_takes_more_nodes_of_its_stage_alone(make_world: Callable[..., TickContext]) -> None:
    """One that a person wants to be looked at otherwise needs a play of its own."""
    world, engine = crowded(make_world, 4, nodes=3, state=State.PRODUCTION)
    engine.state = BatchState.ENDED
    now = pass_time(world, 1001.0, 50.0)
    engine.launched.clear()
    engine.state = BatchState.RUNNING
    for node, stage in (("01", "cabling"), ("02", "health_passive"), ("03", "cabling"), ("04", "verify")):
        world.store.leave_intent(f"gpu-{node}", IntentKind.RUN, "kim", reason="curious", detail=stage, now=now)
    tick(world, now)
    stages = [(batch.stage, sorted(batch.runs)) for batch in engine.launched]
    assert stages == [(Stage.CABLING, ["gpu-01", "gpu-03"]), (Stage.HEALTH_PASSIVE, ["gpu-02"])]
    assert [intent.kind for intent in world.store.intents("gpu-04")] == [IntentKind.RUN], "it is not forgotten"
    assert waiting(world) == ["gpu-04"]
    engine.state = BatchState.ENDED
    tick(world, now + 1.0)
    assert world.store.intents("gpu-04") == ()
    assert [run.stage for run in world.store.open_runs(["gpu-04"])] == [Stage.VERIFY]


def test_who_left_the_line_holds_nobody_up(make_world: Callable[..., TickContext]) -> None:
    """A person holds one that waits: the next one's play begins."""
    world, engine = crowded(make_world, 4, nodes=1)
    tick(world, 1000.0)
    assert waiting(world) == ["gpu-03", "gpu-04"]
    world.store.leave_intent("gpu-03", IntentKind.HOLD, "ann", reason="smoke", detail="", now=1000.0)
    engine.state = BatchState.ENDED
    tick(world, 1001.0)
    assert ["gpu-04"] in launched(engine)
    assert ["gpu-03"] not in launched(engine)
    assert "gpu-03" not in world.line


def test_who_waited_for_a_runner_that_died_is_tried_again(make_world: Callable[..., TickContext]) -> None:
    """Another process knows nothing of the line; the pause between tries is the longest that anybody waits."""
    world, engine = crowded(make_world, 3, nodes=1)
    tick(world, 1000.0)
    assert waiting(world) == ["gpu-03"]
    engine.state = BatchState.ENDED
    again = replace(world, line={})
    pass_time(again, 1000.0, world.settings.retry_seconds + 10.0)
    assert ["gpu-03"] in launched(engine)


def test_who_may_not_leave_service_waits_in_line_for_its_next_look(make_world: Callable[..., TickContext]) -> None:
    """All are sick, one may be out, and the others are swept meanwhile: that is a play, too."""
    world = make_world(lambda _node, _stage: (XID, IDLE), count=3)
    engine = world.engine
    assert isinstance(engine, Scripted)
    now = in_service(world)
    barred = {"max_out_share": 0.01, "small_fleet": 1, "batch_nodes": 1, "batches_at_once": 1}
    world.settings = world.settings.model_copy(update=barred)
    now = played(world, lambda _: [run.stage for run in world.store.runs("gpu-01")][-1] is Stage.COLLECT, now=now)
    engine.state = BatchState.RUNNING
    now = pass_time(world, now, 200.0)
    assert [node.state for node in world.store.nodes()].count(State.PRODUCTION) == 2
    assert len(world.store.open_runs()) == 1
