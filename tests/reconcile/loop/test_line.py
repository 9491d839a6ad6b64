"""The line of those who wait for a play, where each tick is a process of its own, as from cron, or a runner died."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.faults.urgent import press
from fleet_runner.reconcile.lifecycle import queue
from fleet_runner.reconcile.loop.context import Report, TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.faults.test_urgent import pending, told_of
from tests.reconcile.scripted import Scripted, all_good, in_service


def lined_up(make_world: Callable[..., TickContext]) -> tuple[TickContext, Scripted, float, str]:
    """A world of four nodes and one play, the time of it, and the node that it is for; the others stand in line."""
    world = make_world(all_good, count=4)
    engine, now = world.engine, in_service(world, State.PRODUCTION)
    assert isinstance(engine, Scripted)
    world.settings = world.settings.model_copy(update={"batch_nodes": 1, "batches_at_once": 1})
    engine.state = BatchState.RUNNING
    tick(world, now)
    (busy,) = world.store.open_runs()
    return world, engine, now, busy.node


def test_nobody_waits_for_ever_though_more_is_due_than_may_run(make_world: Callable[..., TickContext]) -> None:
    """Whoever is due anew comes after those who wait, also for a process that never saw them come."""
    world = make_world(all_good, count=9)
    engine, now = world.engine, in_service(world, State.PRODUCTION)
    assert isinstance(engine, Scripted)
    engine.launched.clear()
    world.settings = world.settings.model_copy(update={"batch_nodes": 1, "batches_at_once": 1})
    for minute in range(36):
        tick(replace(world, line={}), now + 20.0 * minute)
    swept = Counter(node for batch in engine.launched for node in batch.runs)
    assert len(swept) == 9
    assert max(swept.values()) - min(swept.values()) <= 1, swept


def test_what_a_person_asked_for_is_the_first_in_line(make_world: Callable[..., TickContext]) -> None:
    """They wait for it; sweeps come again anyway."""
    world, engine, now, busy = lined_up(make_world)
    last = list(world.line)[-1]
    world.store.leave_intent(last, IntentKind.RUN, "kim", reason="curious", detail="verify", now=now)
    tick(world, now + 1.0)
    engine.state = BatchState.ENDED
    tick(world, now + 2.0)
    (run,) = world.store.open_runs()
    assert busy != run.node == last
    assert (run.stage, run.by) == (Stage.VERIFY, "kim")


def test_the_queue_shows_who_stands_in_line(make_world: Callable[..., TickContext]) -> None:
    """As a batch that has no name yet, beside those that run."""
    world = make_world(all_good, count=3)
    now = in_service(world, State.PRODUCTION)
    world.settings = world.settings.model_copy(update={"batch_nodes": 1, "batches_at_once": 1})
    tick(world, now)
    running, waiting = queue.queue(world.settings, world.store)
    assert (running.nodes, waiting.nodes) == (("gpu-01",), ("gpu-02", "gpu-03"))
    assert (waiting.batch, waiting.state) == ("", "waits")
    assert waiting.why == "1 play runs, as many as may at once (batches_at_once)"


def test_an_alarm_takes_nobody_out_of_line(make_world: Callable[..., TickContext]) -> None:
    """Its node takes no new work at once, and comes before those that came after it."""
    world, engine, now, busy = lined_up(make_world)
    first, *others = world.line
    told_of(world, first)
    assert world.fleet is not None
    press(world, world.fleet, Report())
    assert pending(world, first)
    assert list(world.line) == [first, *others]
    engine.state = BatchState.ENDED
    tick(world, now + 1.0)
    assert [run.node for run in world.store.open_runs()] == [first]
    assert busy not in {first, *others}
