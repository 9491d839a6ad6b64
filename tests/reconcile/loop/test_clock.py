"""A clock that is set on and back: it is said once, and nothing is done twice, lost, or taken for a fault."""

import time
from collections.abc import Callable
from threading import Event, Thread

import pytest
from structlog.testing import capture_logs

from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop import control_loop, liveness
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.reconcile.loop.liveness import Steady
from tests.reconcile.scripted import Scripted, in_state, played
from tests.waiting import PATIENCE

DAY = 86_400.0
ON_THE_WAY = (Stage.PROVISION, Stage.VERIFY, Stage.FIRMWARE, Stage.BURN_IN)


@pytest.mark.parametrize("jump", [DAY, -DAY, 3_600.0, -3_600.0])
@pytest.mark.parametrize("before", range(1, 8))
def test_a_jump_there_and_back_anywhere_on_the_way_costs_no_node_anything(
    make_world: Callable[..., TickContext], jump: float, before: int
) -> None:
    """Each stage once, no ticket, and it serves."""
    world = make_world()
    now = 1_000_000.0
    for _ in range(before):
        tick(world, now)
        now += 5
    for _ in range(3):
        tick(world, now + jump)
        now += 5
    played(world, in_state(State.PRODUCTION), now=now)
    engine = world.engine
    assert isinstance(engine, Scripted)
    stages = [batch.stage for batch in engine.launched]
    assert [stage for stage in stages if stage in ON_THE_WAY] == list(ON_THE_WAY)
    assert world.store.tickets(open_only=False) == ()


def test_only_what_is_set_counts_as_a_jump() -> None:
    """Not time that passes, nor what a time service does to keep a clock right."""
    day, steady = [1_000.0], [10.0]
    clock = Steady(lambda: day[0], lambda: steady[0])
    for set_by, said in ((0.0, 0.0), (4.0, 0.0), (DAY, DAY), (0.0, 0.0), (-DAY, -DAY)):
        day[0] += 60.0 + set_by
        steady[0] += 60.0
        assert clock.jumped() == said


def test_whoever_serves_says_so_and_serves_on(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each jump."""
    world = make_world()
    world.settings = world.settings.model_copy(update={"tick_seconds": 0.05})
    set_by = [0.0]
    monkeypatch.setattr(liveness.Steady, "jumped", jumping(set_by))
    stop = Event()
    with hearing(world.settings.state_dir) as bell, capture_logs() as logged:
        loop = Thread(target=control_loop.serve, args=(world, stop, bell, [].append))
        loop.start()
        for by in (DAY, -DAY):
            set_by[0] = by
            rounds = world.pulse.rounds
            while world.pulse.rounds < rounds + 3:
                stop.wait(0.01)
        stop.set()
        bell.ring()
        loop.join(PATIENCE)
    assert [line["seconds"] for line in logged if "time of day" in line["event"]] == [DAY, -DAY]


def test_a_clock_that_was_wrong_leaves_no_node_alone(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set on by a day and back, in production: what is to be looked at tomorrow only is looked at now."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION), now=time.time() - DAY)
    for _ in range(40):
        tick(world, now := now + 20)
    tick(world, time.time() + DAY)
    assert all(node.wake_at > time.time() + DAY / 2 for node in world.store.nodes())
    world.settings = world.settings.model_copy(update={"tick_seconds": 0.05})
    monkeypatch.setattr(liveness.Steady, "jumped", jumping([-DAY]))
    stop = Event()
    with hearing(world.settings.state_dir) as bell:
        loop = Thread(target=control_loop.serve, args=(world, stop, bell, [].append))
        loop.start()
        while world.pulse.rounds < 3:
            stop.wait(0.01)
        stop.set()
        bell.ring()
        loop.join(PATIENCE)
    assert all(node.wake_at < time.time() + DAY / 2 for node in world.store.nodes())


def jumping(set_by: list[float]) -> Callable[[Steady], float]:
    """Return a jump once."""

    def jumped(_: Steady) -> float:
        by, set_by[0] = set_by[0], 0.0
        return by

    return jumped
