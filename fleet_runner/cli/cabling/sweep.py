"""A sweep of fabrics now, through the runner: a request is left as for any other stage, and its end is waited for."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import typer

from fleet_runner.adapters import source
from fleet_runner.adapters.plays import wake
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, age, opened, whoami
from fleet_runner.cli.cabling.captures import Capture, Neighbours, of_run, sweeps
from fleet_runner.cli.cabling.text import note
from fleet_runner.core.base.errors import FleetError, NotLeaderError, StoreError
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.lifecycle.runs import IntentKind, Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.leader import one_turn
from fleet_runner.reconcile.loop.single_instance import served
from fleet_runner.settings import Settings

QUIET = 2.0
"""Seconds without a word: what takes longer says where it is."""

PATIENCE = 3
"""Ticks of a running `serve` to wait for an answer; then this command ticks itself."""

FEW = 5
"""Runs that may come to a fabric while its sweep is waited for."""

LOOK_AGAIN = 0.2


@dataclass(slots=True)
class _Sweep:
    """One fabric's request, its run once there is one, and what was last said of it."""

    fabric: Fabric
    intent: int
    before: int
    started: float
    run: Run | None = None
    said: str = ""
    said_at: float = field(default_factory=time.monotonic)


def sweep(fabrics: Sequence[Fabric], wait: float) -> list[tuple[Fabric, Capture | Neighbours]]:
    """Sweep fabrics and return what each sweep saw.

    Raises:
        FleetError: the source of truth has no fabric, or the store does not know one yet.
        StoreError: a sweep ended without having seen its fabric; it says why.
        typer.Exit: the request was refused (1), or no sweep ended in `wait` seconds (4).
    """
    if not fabrics:
        raise FleetError(
            "the source of truth has no fabric that can be swept: no cable ends at a switch's InfiniBand interface, "
            "and no Ethernet switch has an address and an ansible_network_os that is known; "
            "name files with --expected and --observed"
        )
    with opened(create=True) as (settings, store):
        waiting = [_leave(store, fabric) for fabric in fabrics]
        wake.wake(settings.state_dir, store)
        try:
            _wait(settings, store, waiting, wait)
        except KeyboardInterrupt:
            note("interrupted: the sweep goes on; fleet-runner cabling sweeps shows its result")
            raise
        return [(each.fabric, _seen(store, each)) for each in waiting]


def _leave(store: Store, fabric: Fabric) -> _Sweep:
    name = fabric.name
    if store.node(name) is None:
        raise FleetError(f"no fabric {name!r} in the store yet; fleet-runner tick (or serve) registers it")
    before = max((run.id for run in sweeps(store, name)), default=0)
    reason = "fleet-runner cabling check"
    intent = store.leave_intent(
        name, IntentKind.RUN, whoami(), reason=reason, detail=Stage.FABRIC.value, now=time.time()
    )
    return _Sweep(fabric, intent, before, time.monotonic())


def _wait(settings: Settings, store: Store, waiting: Sequence[_Sweep], wait: float) -> None:
    """Wait for every sweep's end. Whoever serves does the work; if nobody does, this command ticks."""
    begun = time.monotonic()
    world: TickContext | None = None
    while True:
        for each in waiting:
            _look(store, each)
        if all(each.run is not None and each.run.ended_at is not None for each in waiting):
            return
        now = time.monotonic()
        if now - begun >= wait:
            note(f"no sweep ended in {age(wait)}; it goes on: fleet-runner cabling sweeps shows its result")
            raise typer.Exit(Exit.WAITING)
        alone = any(store.answer(each.intent) is None for each in waiting) and now - begun > _patience(settings)
        if world is None and alone:
            note(_why_it_ticks(settings, store))
            world = TickContext(settings, store, source.Reader(settings))
        if world is not None:
            with suppress(NotLeaderError), one_turn(world):  # a runner decides again: it answers
                control_loop.tick(world)
        time.sleep(LOOK_AGAIN)


def _why_it_ticks(settings: Settings, store: Store) -> str:
    """Say that nobody serves, or who does and is slow: that one goes on, and may hold its turn."""
    here = "a process of this machine" if served(settings) else ""
    slow = store.deciding() if store.shared else here
    if not slow:
        return "no runner serves, so this command ticks until the sweep has ended"
    return f"{slow} has not come to it in {age(_patience(settings))}, so this command ticks, too, where it may"


def _patience(settings: Settings) -> float:
    return PATIENCE * settings.tick_seconds


def _look(store: Store, each: _Sweep) -> None:
    """Take in what became of a request and its run, and say so every few seconds."""
    answer = store.answer(each.intent)
    if answer is not None and not answer[0]:
        note(f"{each.fabric.name}: {answer[1]}")
        raise typer.Exit(Exit.NO)
    if answer is not None:
        new = [run for run in store.runs(each.fabric.name, limit=FEW) if run.stage is Stage.FABRIC]
        each.run = next((run for run in new if run.id > each.before), None)
    now = time.monotonic()
    words = _progress(each, answered=answer is not None)
    if words != each.said and now - each.said_at >= QUIET:
        each.said, each.said_at = words, now
        note(f"{each.fabric.name}: {words}")


def _progress(each: _Sweep, *, answered: bool) -> str:
    if each.run is None:
        return "the sweep is about to start" if answered else "asked for a sweep, waiting for the runner"
    done = f", {each.run.done} of {each.run.total} tasks" if each.run.total else ""
    return f"run {each.run.id} sweeps it{done}{f': {each.run.task}' if each.run.task else ''}"


def _seen(store: Store, each: _Sweep) -> Capture | Neighbours:
    run = each.run
    found = of_run(store, run) if run is not None else None
    if run is None or found is None:
        why = run.detail if run is not None and run.detail else "it brought nothing that can be read"
        raise StoreError(f"{each.fabric.name}: the sweep saw nothing: {why}; fleet-runner history {each.fabric.name}")
    return found
