"""What does not wait for the end of a tick, and what does."""

import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest

from fleet_runner.adapters.plays.wakeup import Wakeup, hearing, ring
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.faults.urgent import AT_ONCE, Attention, press
from fleet_runner.reconcile.lifecycle import polling
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import Report, TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.reconcile.loop.single_instance import alone
from tests.adapters.store.faults.test_alarms import alarm, keep
from tests.reconcile.scripted import in_service, in_state, played
from tests.services.signals.hearing import LONG
from tests.waiting import until

Made = Callable[..., TickContext]


def told_of(world: TickContext, *names: str, code: str = "xid.79", remedy: Remedy = Remedy.POWER_CYCLE) -> None:
    """Write alarms of nodes, as the listener does."""
    now = time.time()
    times: dict[str, Any] = {"first_at": now, "last_at": now, "heard_at": now, "raised_at": now}
    keep(world.store, *(alarm(name, code, remedy=remedy, **times) for name in names), now=now)


def pending(world: TickContext, name: str) -> bool:
    """Whether a remedy is pending on a node."""
    found = world.store.node(name)
    assert found is not None
    return Condition.PENDING in found.conditions


def test_a_node_takes_no_new_work_at_once_and_what_follows_is_left(make_world: Made) -> None:
    """Nothing moves, nothing starts; and it is looked at again when its turn comes."""
    world = make_world(count=2)
    in_service(world)
    told_of(world, "gpu-02")
    assert world.fleet is not None
    assert not press(world, world.fleet, Report())
    assert (pending(world, "gpu-01"), pending(world, "gpu-02")) == (False, True)
    assert (world.store.open_runs(), world.store.pressing(AT_ONCE)) == ((), ())
    assert [node.name for node in world.store.due(time.time())] == ["gpu-01", "gpu-02"]


def test_what_would_start_a_play_is_left_to_the_tick(make_world: Made) -> None:
    """The alarm asks for nothing, and so a sweep is what comes next for its node."""
    world = make_world()
    in_service(world)
    told_of(world, "gpu-01", code="alert.DiskFills", remedy=Remedy.RECORD)
    assert world.fleet is not None
    assert not press(world, world.fleet, Report())
    assert [node.name for node in world.store.pressing(AT_ONCE)] == ["gpu-01"]
    tick(world, time.time())
    assert world.store.pressing(AT_ONCE) == ()
    assert [run.stage for run in world.store.open_runs()] == [Stage.HEALTH_PASSIVE]


def test_a_fault_that_comes_while_plays_are_looked_at_is_decided_before_the_next(
    make_world: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bell rings while the first of two batches is taken in."""
    made = make_world(count=2)
    world = TickContext(
        made.settings.model_copy(update={"batch_nodes": 1}), made.store, made.read_source, made.engine
    )
    now = in_service(world)
    tick(world, now)
    seen: list[bool] = []
    taken_in = polling._poll_batch

    with hearing(world.settings.state_dir) as bell:
        attention = Attention(world, bell)

        def taking(*given: object) -> None:
            seen.append(pending(world, "gpu-02"))
            told_of(world, "gpu-02")
            ring(world.settings.state_dir)
            taken_in(*given)  # type: ignore[arg-type]  # whatever it is given

        monkeypatch.setattr(polling, "_poll_batch", taking)
        tick(world, now + 1, attention.between)
    assert seen == [False, True]


def test_it_decides_while_it_rests_and_looks_as_a_whole_afterwards(make_world: Made) -> None:
    """It would rest for half a minute."""
    world = make_world()
    in_service(world)
    stop = Event()
    with hearing(world.settings.state_dir) as bell:
        attention = Attention(world, bell)
        thread = Thread(target=attention.rest, args=(LONG, stop, Report()))
        thread.start()
        told_of(world, "gpu-01")
        ring(world.settings.state_dir)
        until(lambda: pending(world, "gpu-01"))
        stop.set()
        bell.ring()
        thread.join(LONG)
        assert not thread.is_alive()
        began = time.monotonic()
        attention.wait(LONG)
        assert time.monotonic() - began < LONG / 2
        assert not attention.rung


def test_a_flood_is_decided_in_parts_with_pauses(make_world: Made) -> None:
    """One ring of more nodes than one look takes; on hold, so that no circuit breaker opens."""
    world = make_world(count=AT_ONCE + 1)
    now = in_service(world)
    names = [node.name for node in world.store.nodes()]
    for name in names:
        world.store.leave_intent(name, IntentKind.HOLD, "ada", now=now)
    tick(world, now)
    told_of(world, *names)
    with hearing(world.settings.state_dir) as bell:
        attention, report = Attention(world, bell), Report()
        ring(world.settings.state_dir)
        attention.between(report)
        assert len(world.store.pressing(AT_ONCE)) == 1
        attention.between(report)
        assert len(world.store.pressing(AT_ONCE)) == 1
        attention.rest(LONG, _after(lambda: not world.store.pressing(AT_ONCE), bell), report)
    assert world.store.pressing(AT_ONCE) == ()


def test_trouble_with_the_store_stops_no_tick(make_world: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next look finds it again."""
    world = make_world()
    in_service(world)
    told_of(world, "gpu-01")

    def locked(*given: object) -> None:
        raise StoreError("store: it is locked; try again")

    with hearing(world.settings.state_dir) as bell:
        attention = Attention(world, bell)
        with monkeypatch.context() as broken:
            broken.setattr(Store, "apply", locked)
            ring(world.settings.state_dir)
            attention.between(Report())
        assert attention.rung
        assert not pending(world, "gpu-01")
        control_loop.glance(world, attention.between)
    assert pending(world, "gpu-01")


def test_another_process_that_ticks_for_long_ends_no_rest(make_world: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's tick by hand may take longer than anybody waits for it; the next look decides."""
    monkeypatch.setattr(sys.modules[alone.__module__], "PATIENCE", 0.05)
    world = make_world()
    in_service(world)
    told_of(world, "gpu-01")
    with hearing(world.settings.state_dir) as bell:
        attention = Attention(world, bell)
        with alone(world.settings):
            ring(world.settings.state_dir)
            attention.rest(0.5, Event(), Report())
        assert attention.rung
        assert not pending(world, "gpu-01")
        control_loop.glance(world, attention.between)
    assert pending(world, "gpu-01")


def test_a_tick_by_hand_hears_no_bell(make_world: Made) -> None:
    """All of it is done in its own order."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION))
    told_of(world, "gpu-01")
    tick(world, max(now, time.time()))
    assert pending(world, "gpu-01")


def _after(holds: Callable[[], bool], bell: Wakeup) -> Event:
    """Return what is set as soon as something holds."""
    stop = Event()

    def watch() -> None:
        until(holds)
        stop.set()
        bell.ring()

    Thread(target=watch, daemon=True).start()
    return stop
