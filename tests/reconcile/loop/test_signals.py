"""From a push to a decision: the listener beside the loop, its bell, and what happens when it fails."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import pytest

from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.services.signals import thread as beside_module
from fleet_runner.services.signals.serving import Listening
from fleet_runner.services.signals.thread import beside
from tests.reconcile.scripted import BUSY, GOOD, in_state, played
from tests.services.signals.hearing import LONG, give, push, xid
from tests.waiting import until

Made = Callable[..., TickContext]


def busy(_node: str, stage: str) -> tuple[Any, ...]:
    """Every check passes, and somebody works on the node."""
    return (GOOD, BUSY) if stage in {"drain", "health_passive"} else (GOOD,)


@contextmanager
def serving(made: TickContext, listen: str = "127.0.0.1:0") -> Iterator[tuple[TickContext, str, list[str]]]:
    """Serve a world whose pauses are half a minute, with a listener beside it; yields a token and what was said."""
    given = {"tick_seconds": LONG, "signals_listen": listen}
    world = replace(made, settings=made.settings.model_copy(update=given))
    said: list[str] = []
    stop = Event()
    token = give(world.store, "vector")
    with hearing(world.settings.state_dir) as bell:
        thread = Thread(target=control_loop.serve, args=(world, stop, bell, lambda _: None))
        with beside(world.settings, world.store, world.read_source, said.append):
            thread.start()
            try:
                yield world, token, said
            finally:
                stop.set()
                bell.ring()
                thread.join(LONG)


def url(said: list[str]) -> str:
    """Return where the listener says it is, once it does."""
    until(lambda: any("signals: http" in each for each in said))
    return next(each for each in said if "://" in each).removeprefix("signals: ")


def test_a_pushed_fault_cordons_its_node_long_before_the_next_tick(make_world: Made) -> None:
    """The tick would come half a minute later; the other node stays as it is."""
    world = make_world(busy, count=2)
    played(world, in_state(State.PRODUCTION))
    while world.store.due(time.time()) or world.store.open_runs():  # sweeps that are due by the clock
        control_loop.tick(world)
    with serving(world) as (served, token, said):
        at = url(said)
        began = time.monotonic()
        assert push(at, "/log", xid("gpu-01", 48), token).json()["taken"] == 1
        until(lambda: Condition.PENDING in _conditions(served, "gpu-01"))
        assert time.monotonic() - began < LONG / 4
        assert Condition.PENDING not in _conditions(served, "gpu-02")
        sentences = [entry.sentence for entry in served.store.history("gpu-01")]
        assert any("xid.48" in sentence for sentence in sentences)


def _conditions(world: TickContext, name: str) -> set[Condition]:
    node = world.store.node(name)
    assert node is not None
    return set(node.conditions)


def test_a_listener_that_fails_never_stops_the_loop_and_begins_again(
    make_world: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it failed with is said in words that show nothing of what was pushed."""
    monkeypatch.setattr(beside_module, "FIRST_PAUSE", 0.05)
    serve, failed = Listening.serve, Event()

    async def fails_once(self: Listening, *given: Any) -> None:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("a secret")
        await serve(self, *given)

    monkeypatch.setattr(Listening, "serve", fails_once)
    with serving(make_world()) as (world, token, said):
        assert push(url(said), "/log", xid("gpu-01"), token).status_code == 200
        assert "the listener failed: RuntimeError at " in said[0]
        assert "secret" not in said[0]
        assert world.store.alarms("gpu-01")


def test_a_port_that_is_taken_is_said_and_tried_again(make_world: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is free, the listener listens."""
    monkeypatch.setattr(beside_module, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(beside_module, "LONGEST_PAUSE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        with serving(make_world(), listen) as (_, token, said):
            until(lambda: any("another program has that port" in each for each in said))
            other.close()
            assert push(url(said), "/log", xid("gpu-01"), token).status_code == 200
