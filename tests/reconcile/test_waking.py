"""A process that serves ticks at once when its bell rings, and a burst of rings leaves time to others."""

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread

from fleet_runner import reconcile
from fleet_runner.adapters.bell import hearing, ring
from fleet_runner.core.errors import StoreError
from fleet_runner.core.records import Fleet
from fleet_runner.reconcile.world import World

LONG = 30.0


def test_a_ring_makes_it_tick_and_a_stop_ends_it_at_once(make_world: Callable[..., World]) -> None:
    """The pause between two ticks is half a minute: none of this waits for it."""
    made = make_world()
    world = replace(made, settings=made.settings.model_copy(update={"tick_seconds": LONG}))
    ticks, stop, ticked = [0], Event(), Event()

    def tell(report: object) -> None:
        del report
        ticks[0] += 1
        ticked.set()

    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=reconcile.serve, args=(world, stop, bell, tell))
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


def test_it_rests_for_as_long_as_a_tick_took_whatever_rings(make_world: Callable[..., World]) -> None:
    """Somebody rings without end; a tick takes a twentieth of a second."""
    world = make_world()
    world.source_seconds = 0.0
    read, stop, slow = world.read_source, Event(), 0.05

    def slowly() -> Fleet:
        time.sleep(slow)
        return read()

    world.read_source = slowly
    ticks = [0]

    def tell(report: object) -> None:
        del report
        ticks[0] += 1

    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=reconcile.serve, args=(world, stop, bell, tell))
        thread.start()
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            ring(world.settings.state_dir)
            time.sleep(0.001)
        stop.set()
        bell.ring()
        thread.join(LONG)
    assert 3 <= ticks[0] <= 1.0 / (2 * slow) + 2


def test_a_tick_that_fails_is_tried_again_at_the_next_ring(make_world: Callable[..., World]) -> None:
    """The store is in trouble once, after the fleet was read."""
    world = make_world()
    read, stop, ticked, troubles = world.read_source, Event(), Event(), [False]
    world.source_seconds = 0.0

    def once() -> Fleet:
        if troubles[0]:
            troubles[0] = False
            raise StoreError("store: it is locked; try again")
        return read()

    world.read_source = once

    def tell(report: object) -> None:
        del report
        ticked.set()

    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=reconcile.serve, args=(world, stop, bell, tell))
        thread.start()
        assert ticked.wait(LONG)
        ticked.clear()
        troubles[0] = True
        ring(world.settings.state_dir)
        while troubles[0]:
            time.sleep(0.01)
        ring(world.settings.state_dir)
        assert ticked.wait(LONG)
        stop.set()
        bell.ring()
        thread.join(LONG)
    assert not thread.is_alive()
