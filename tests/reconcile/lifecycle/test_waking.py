"""A process that serves ticks at once when its bell rings, and a burst of rings leaves time to others."""

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import pytest

from fleet_runner.adapters.plays.wakeup import hearing, ring
from fleet_runner.core.base.errors import StoreError
from fleet_runner.reconcile.lifecycle.apply import act
from fleet_runner.reconcile.lifecycle.polling import poll
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext

LONG = 120.0


def _rung_for_a_second(world: TickContext) -> tuple[int, float]:
    """Serve while somebody rings without end, for a second or more; return how often it looked, and for how long."""
    stop, looks, began = Event(), [0], time.monotonic()

    def tell(report: object) -> None:
        del report
        looks[0] += 1

    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=control_loop.serve, args=(world, stop, bell, tell))
        thread.start()
        while not looks[0] or time.monotonic() < began + 1.0:
            ring(world.settings.state_dir)
            time.sleep(0.001)
        stop.set()
        bell.ring()
        thread.join(LONG)
    return looks[0], time.monotonic() - began


def test_a_ring_makes_it_tick_and_a_stop_ends_it_at_once(make_world: Callable[..., TickContext]) -> None:
    """The pause between two ticks is half a minute: none of this waits for it."""
    made = make_world()
    world = replace(made, settings=made.settings.model_copy(update={"tick_seconds": LONG}))
    ticks, stop, ticked = [0], Event(), Event()

    def tell(report: object) -> None:
        del report
        ticks[0] += 1
        ticked.set()

    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=control_loop.serve, args=(world, stop, bell, tell))
        began = time.monotonic()
        thread.start()
        for number in (1, 2, 3):
            assert ticked.wait(LONG)
            assert ticks[0] == number
            ticked.clear()
            ring(world.settings.state_dir)
        assert ticked.wait(LONG)
        stop.set()
        bell.ring()
        thread.join(LONG)
        assert not thread.is_alive()
        assert time.monotonic() - began < LONG / 2


def test_it_rests_for_as_long_as_it_took_whatever_rings(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody rings without end, and to decide takes a twentieth of a second."""
    world, slow = make_world(), 0.05

    def slowly(*given: Any) -> None:
        time.sleep(slow)
        act(*given)

    monkeypatch.setattr(control_loop, "act", slowly)

    looks, seconds = _rung_for_a_second(world)
    assert 1 <= looks <= seconds / (2 * slow) + 2


def test_a_ring_is_no_tick_and_ticks_come_all_the_same(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody rings without end: plays are still looked at every tenth of a second, and not at each ring."""
    made = make_world()
    world = replace(made, settings=made.settings.model_copy(update={"tick_seconds": 0.1}))
    polls = [0]

    def counted(*given: Any) -> None:
        polls[0] += 1
        poll(*given)

    monkeypatch.setattr(control_loop, "poll", counted)

    looks, seconds = _rung_for_a_second(world)
    assert 1 <= polls[0] <= seconds / 0.1 + 2
    assert looks >= polls[0]


def test_a_glance_that_fails_is_followed_by_another(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is in trouble once, after the fleet was read."""
    world, stop, looked, trouble = make_world(), Event(), Event(), Event()

    def once(*given: Any) -> None:
        if trouble.is_set():
            trouble.clear()
            raise StoreError("store: it is locked; try again")
        act(*given)

    monkeypatch.setattr(control_loop, "act", once)

    def tell(report: object) -> None:
        del report
        looked.set()

    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=control_loop.serve, args=(world, stop, bell, tell))
        thread.start()
        assert looked.wait(LONG)
        looked.clear()
        trouble.set()
        ring(world.settings.state_dir)
        while trouble.is_set():
            time.sleep(0.01)
        ring(world.settings.state_dir)
        assert looked.wait(LONG)
        stop.set()
        bell.ring()
        thread.join(LONG)
    assert not thread.is_alive()
