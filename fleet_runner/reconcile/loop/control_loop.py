"""The control loop: tick, glance between ticks, and serve until told to stop."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event

import structlog

from fleet_runner.adapters.plays.wakeup import Wakeup
from fleet_runner.core.base.errors import FleetError, SettingsError, SourceError
from fleet_runner.core.cabling.fabrics import watched
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.cabling.cable_status import tell_source
from fleet_runner.reconcile.faults.urgent import LEAST_REST, Attention
from fleet_runner.reconcile.firmware.rollouts import roll
from fleet_runner.reconcile.inventory.registration import register
from fleet_runner.reconcile.lifecycle.apply import act
from fleet_runner.reconcile.lifecycle.polling import poll
from fleet_runner.reconcile.loop import store_ownership
from fleet_runner.reconcile.loop.context import Report, TickContext, source_due
from fleet_runner.reconcile.loop.liveness import Steady
from fleet_runner.reconcile.loop.single_instance import alone

log = structlog.get_logger()

SET_ON = "the time of day was set on: all that became due by it is done now; check the time service"
SET_BACK = (
    "the time of day was set back: every node is looked at now, and a pause that began before reaches further by so"
    " much; `fleet-runner run` does a stage at once; check the time service"
)


def _go_on(report: Report) -> None:
    """Do nothing between two steps: nobody rings."""
    del report


def tick(world: TickContext, now: float | None = None, between: Callable[[Report], None] = _go_on) -> Report:
    """Do everything that is due, once. Without `now` the clock is read after all that can take long."""
    report = Report()
    clock = time.time if now is None else partial(float, now)
    with alone(world.settings), _unsearched():
        fleet = _sync(world, clock())
        now = clock()
        if store_ownership.is_strange(world, now):
            return report
        fleet = register(world, fleet, now)
        poll(world, now, report, between)
        roll(world, fleet, now, report)
        act(world, fleet, clock, report, between)
        tell_source(world, fleet, report)
        store_ownership.remember(world)
    return report


def glance(world: TickContext, between: Callable[[Report], None] = _go_on) -> Report:
    """Decide for the nodes that are due, and no more: what plays have said, and all else, waits for the next tick."""
    report = Report()
    with alone(world.settings):
        if world.fleet is not None and not store_ownership.is_strange(world, time.time()):
            fleet = register(world, world.fleet, time.time())
            act(world, fleet, time.time, report, between)
    return report


def serve(world: TickContext, stop: Event, bell: Wakeup, tell: Callable[[Report], None]) -> None:
    """Tick every `tick_seconds` until `stop` is set; when the bell rings meanwhile, glance.

    A store that cannot be written stops a tick, never the server. After each it rests for as long as that took,
    whatever rings: however much is pushed, half of the time is left to others. Only that a node takes no new work is
    decided meanwhile, and between the steps of a tick.

    Raises:
        FleetError: the first tick could not even read the source of truth, so there is nothing to serve.
    """
    attention, kept, clock, back = Attention(world, bell), None, Steady(), False
    due = time.monotonic()
    while not stop.is_set():
        if by := clock.jumped():
            log.warning(SET_ON if by > 0 else SET_BACK, seconds=round(by))
            back = back or by < 0
        if not world.decides():
            _stand_by(world, bell)
            continue
        began = time.monotonic()
        back = _round(world, attention, tell, whole=began >= due, anew=back)
        if world.fleet is not kept:
            kept = _keep(world)
        ended = time.monotonic()
        if began >= due:
            due = ended + world.settings.tick_seconds
        rested = Report()
        attention.rest(min(max(ended - began, LEAST_REST), world.settings.tick_seconds), stop, rested)
        if rested.moves:
            tell(rested)
        attention.wait(due - time.monotonic())


def _round(
    world: TickContext, attention: Attention, tell: Callable[[Report], None], *, whole: bool, anew: bool
) -> bool:
    """Tick, or glance; `anew` has every node be looked at, and is returned while that is still to be done."""
    began = time.monotonic()
    with _going_on(world):
        if anew:
            world.store.wake_all()
            anew = False
        tell(tick(world, between=attention.between) if whole else glance(world, attention.between))
        if whole and world.pulse.worked(time.monotonic() - began):
            log.info("ticks do their work again")
    return anew


@contextmanager
def _going_on(world: TickContext) -> Iterator[None]:
    """Say once what the store or the source refuses, and go on; but not before there is a fleet."""
    try:
        yield
    except FleetError as error:
        if world.fleet is None:
            raise
        if world.pulse.failed(str(error)):
            log.error("this tick failed; the next ones try again", error=str(error))  # noqa: TRY400  the sentence says it


@contextmanager
def _unsearched() -> Iterator[None]:
    """Have nothing searched for garbage meanwhile: what a tick reads stays, and is walked through each time."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


def _keep(world: TickContext) -> Fleet | None:
    """Have the fleet, which stays, be walked through no more by every search for garbage: that stops all threads."""
    gc.unfreeze()  # what was kept before, and is garbage now, goes
    gc.collect()
    gc.freeze()
    return world.fleet


def _sync(world: TickContext, now: float) -> Fleet:
    """Read the source of truth when its copy is old; the fleet goes on with the copy when it cannot be read."""
    if world.fleet is not None and now < source_due(world, now):
        return world.fleet
    try:
        found = world.read_source()
    except (SourceError, SettingsError) as error:
        if world.fleet is None:
            raise
        if world.pulse.source_failed(str(error)):
            log.warning("the source of truth cannot be read; the last good copy stays in use", error=str(error))
        world.fleet_read_at = now
        return world.fleet
    world.pulse.source_failed("")
    if world.fleet is None or found.revision != world.fleet.revision:
        for note in found.notes:
            log.warning(note)
        world.designed = watched(found)
        world.fabrics = {fabric.name: fabric for fabric in world.designed}
        world.fleet = found
    world.fleet_read_at = now
    return world.fleet


def _stand_by(world: TickContext, bell: Wakeup) -> None:
    """Wait while another runner decides, and know the fleet meanwhile: others here ask for it."""
    with _going_on(world):
        _sync(world, time.time())
        world.pulse.worked(0.0)
    world.registered = ""
    if bell.wait(world.settings.tick_seconds) and not world.decides():
        _pass_on(world)


def _pass_on(world: TickContext) -> None:
    """Have whoever decides look: it rang here."""
    try:
        world.store.ring()
    except FleetError as error:
        log.warning("a wakeup could not be passed on; the next tick looks anyway", error=str(error))
