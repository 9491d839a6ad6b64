"""While the queue of a SQLite store is paused nothing begins, and everything else goes on."""

from collections.abc import Callable

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import Scripted, all_good, in_service, in_state, pass_time, played

WAITS = "waits: the queue is paused by ann: a move"


def test_what_runs_comes_to_its_end_and_nothing_follows_until_it_is_resumed(
    make_world: Callable[..., TickContext],
) -> None:
    """So that a store can be copied, which is refused while runs are open."""
    world = make_world(count=2)
    engine = world.engine
    assert isinstance(engine, Scripted)
    now = in_service(world, State.VERIFY)
    engine.state = BatchState.RUNNING
    tick(world, now)
    world.store.pause_queue("ann", "a move")
    tick(world, now + 5.0)
    began = len(engine.launched)
    assert len(world.store.open_runs()) == 2
    engine.state = BatchState.ENDED
    now = pass_time(world, now + 5.0, 300.0)
    assert (len(engine.launched), world.store.open_runs()) == (began, ())
    assert {(node.state, node.waiting) for node in world.store.nodes()} == {(State.FIRMWARE, WAITS)}
    world.store.resume_queue()
    played(world, in_state(State.PRODUCTION), now=now)


def test_a_node_whose_run_is_due_says_what_it_waits_for(make_world: Callable[..., TickContext]) -> None:
    """It serves, and its sweep waits; afterwards it is swept."""
    world = make_world()
    now = in_service(world)
    world.store.pause_queue("ann", "a move")
    now = pass_time(world, now, 300.0)
    assert world.store.open_runs() == ()
    assert [(node.state, node.waiting) for node in world.store.nodes()] == [(State.PRODUCTION, WAITS)]
    world.store.resume_queue()
    pass_time(world, now, 20.0)
    assert isinstance(world.engine, Scripted)
    assert len(world.engine.launched) > 1


def test_a_request_for_a_run_waits_and_one_that_came_after_it_does_not(
    make_world: Callable[..., TickContext],
) -> None:
    """A person holds a node that another wants to be looked at."""
    world = make_world(all_good)
    now = in_service(world)
    now = pass_time(world, now, 50.0)
    world.store.pause_queue("ann", "a move")
    world.store.leave_intent("gpu-01", IntentKind.RUN, "kim", reason="curious", detail="health_passive", now=now)
    world.store.leave_intent("gpu-01", IntentKind.HOLD, "lee", reason="smoke", now=now)
    now = pass_time(world, now, 30.0)
    (node,) = world.store.nodes()
    assert Condition.HELD in node.conditions
    assert [intent.kind for intent in world.store.intents("gpu-01")] == [IntentKind.RUN]
    assert (node.waiting, world.store.open_runs()) == (WAITS, ())
    world.store.resume_queue()
    pass_time(world, now, 30.0)
    assert world.store.intents("gpu-01") == ()
    assert [run.by for run in world.store.runs("gpu-01")][-1] == "kim"
