"""Beside the work: what comes by the clock for the fleet is begun by one runner, and told of where it hangs.

A job runs in a thread of its own, under a lease by the database's clock. It asks `go_on` between its steps: a runner
that was frozen for longer than its lease learns there that it has nothing more to do.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import NamedTuple

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays.lease import ticks
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, FleetError, StoreError
from fleet_runner.core.inventory.switch import Switch
from fleet_runner.core.schedules.firing import Outcome, Row, step
from fleet_runner.core.schedules.known import KNOWN, SWEEPS
from fleet_runner.core.schedules.retention import Pruned
from fleet_runner.core.schedules.schedule import Scope
from fleet_runner.core.schedules.sweep import SweepHistory
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.leader import described
from fleet_runner.reconcile.reliability import nightly
from fleet_runner.reconcile.schedules import cleanup, retention
from fleet_runner.reconcile.schedules.cleanup import LocalRetention
from fleet_runner.settings import Settings

GoOn = Callable[[], None]
"""What a job calls between its steps; it raises where the job is to end."""

PULSE = 5.0
"""Seconds between two looks at the schedules, at most."""

RENEWALS = 3.0
"""How often a lease is renewed while it lasts."""

SEEN = 30.0
"""Seconds between two signs that somebody sees to the sweeps."""

GRACE = 5.0
"""Seconds that jobs are given at the end; what they leave undone another runner takes up."""


class Job(NamedTuple):
    """What one runner does for the fleet; it hangs, and is told of, when it takes longer than `longest` seconds."""

    does: Callable[[Settings, Store, GoOn], str]
    longest: float


def _prune(settings: Settings, store: Store, go_on: GoOn) -> str:
    """Take away what is too old or too much until nothing more is; say what went."""
    done = Pruned()
    while True:
        go_on()
        part = retention.pruned(settings, store, time.time())
        done += replace(part, more=False)
        if not part.more:
            return done.sentence()


JOBS: Mapping[str, Job] = {
    "retention": Job(_prune, longest=4 * 3600.0),
    "trend": Job(nightly.look, longest=6 * 3600.0),
}
"""By the name of their schedule, which `core.schedules.known` has."""


@dataclass(slots=True)
class Firing:
    """One firing that this runner has begun. `renewed_at` is by the clock of this machine's own start."""

    row: Row
    lease: float
    began_at: float
    renewed_at: float
    thread: Thread | None = None
    is_lost: bool = False
    hangs: bool = False
    stop: Event = field(default_factory=Event)

    def go_on(self) -> None:
        """Return if the job may go on; ConflictError where it is another's by now, or this runner ends."""
        if self.stop.is_set():
            raise ConflictError(f"schedule {self.row.name}: this runner ends; another one takes over")
        if self.is_lost or ticks() - self.renewed_at >= self.lease:
            raise ConflictError(f"schedule {self.row.name}: its lease is over; another runner takes over")


class ScheduleRunner:
    """The jobs of the fleet, as one runner sees to them; `wake` ends the pause of whoever looks."""

    def __init__(self, settings: Settings, store: Store, runner: str, jobs: Mapping[str, Job] = JOBS) -> None:
        self.settings, self.store, self.runner, self.jobs = settings, store, runner, jobs
        self.running: dict[str, Firing] = {}
        self.wake = Event()

    def look(self) -> float:
        """Begin what is due and renew what runs; return the seconds after which to look again."""
        now, rows, off = self.store.schedules()
        return self.see(now, rows, off)

    def see(self, now: float, rows: Mapping[str, Row], off: Mapping[str, Switch]) -> float:
        """Do the same with what was read."""
        pause = PULSE
        for name in self.jobs:
            if (firing := self.running.get(name)) is not None:
                self._keep(name, firing)
                pause = min(pause, firing.lease / RENEWALS / 2)
                continue
            schedule = self.settings.schedule(name)
            row = rows.get(name, Row(name))
            after, fires = step(row, schedule, self.settings.source, now, paused=name in off)
            if fires or after != row:
                self._begin(name)
            pause = min(pause, max(0.05, after.due_at - now))
        return pause

    def end(self) -> None:
        """Have all jobs end, and let others take them up."""
        for firing in self.running.values():
            firing.stop.set()
        for firing in self.running.values():
            if firing.thread is not None:
                firing.thread.join(GRACE)

    def _begin(self, name: str) -> None:
        lease, at = self.settings.lease_seconds, ticks()
        row = self.store.take_schedule(self.settings.schedule(name), self.settings.source, self.runner, lease)
        if row is None:
            return
        firing = self.running[name] = Firing(row, lease, began_at=at, renewed_at=at)
        firing.thread = Thread(target=self._run, args=(firing,), name=f"schedule {name}", daemon=True)
        firing.thread.start()

    def _keep(self, name: str, firing: Firing) -> None:
        """Renew a job's lease, once a third of it is over; one that hangs keeps nobody else from it."""
        if firing.thread is not None and not firing.thread.is_alive():
            del self.running[name]
            return
        at = ticks()
        if firing.is_lost or firing.hangs or at - firing.renewed_at < firing.lease / RENEWALS:
            return
        over = at - firing.began_at - self.jobs[name].longest
        words = f"it has run for more than {self.jobs[name].longest:g} s: does it hang?" if over > 0 else ""
        try:
            self.store.renew_schedule(firing.row, firing.lease, words)
            firing.renewed_at, firing.hangs = at, bool(words)
        except ConflictError as error:
            firing.is_lost = True
            log.warning("another runner has a scheduled job now", why=str(error))
        if words:
            log.error("a scheduled job hangs", schedule=name, why=words)

    def _run(self, firing: Firing) -> None:
        name = firing.row.name
        try:
            outcome, said = Outcome.DONE, self.jobs[name].does(self.settings, self.store, firing.go_on)
        except FleetError as error:
            outcome, said = Outcome.FAILED, str(error)
        except Exception as error:
            log.exception("a scheduled job failed", schedule=name)
            outcome, said = Outcome.FAILED, f"{type(error).__name__}; this runner's log says more"
        try:
            self._told(firing, outcome, said)
        except ConflictError as error:
            log.warning("another runner had a scheduled job meanwhile", why=str(error))
        finally:
            self.wake.set()

    def _told(self, firing: Firing, outcome: Outcome, said: str) -> None:
        """Write down how a job ended; again while the store is away, but no longer than the lease."""
        while not firing.is_lost:
            try:
                if firing.stop.is_set() and outcome is Outcome.FAILED:
                    self.store.renew_schedule(firing.row, 0.0, said)
                else:
                    self.store.end_schedule(firing.row, outcome, said)
            except ConflictError:
                raise
            except StoreError as error:
                if firing.stop.is_set() or ticks() - firing.renewed_at >= firing.lease:
                    raise ConflictError(str(error)) from error
                firing.stop.wait(1.0)
            else:
                return


def run_now(settings: Settings, store: Store, name: str, runner: str, jobs: Mapping[str, Job] = JOBS) -> Row:
    """Have a job of the fleet done now, here or by the runner that is sooner; return how it ended."""
    store.ask_schedule(name)
    clockwork = ScheduleRunner(settings, store, runner, {name: jobs[name]})
    try:
        while True:
            pause = min(clockwork.look(), 1.0)
            row = store.schedules()[1][name]
            if row.asked_at is None and not row.is_running:
                return row
            clockwork.wake.wait(pause)
            clockwork.wake.clear()
    finally:
        clockwork.end()


def standings(rows: Mapping[str, Row], off: Mapping[str, Switch]) -> dict[str, SweepHistory]:
    """Return how the schedules stand that nodes and runners keep for themselves."""
    return {
        name: SweepHistory(
            awake_since=(row.began_at or 0.0) if name in SWEEPS else 0.0,
            asked_at=row.asked_at or 0.0,
            paused=f"paused by {off[name].by}: {off[name].reason}" if name in off else "",
        )
        for name, known in KNOWN.items()
        if known.whose is not Scope.FLEET
        for row in (rows.get(name, Row(name)),)
    }


class Beside:
    """What a runner that serves does about schedules: its sweeps as people set them, and the fleet's jobs."""

    def __init__(self, world: TickContext, jobs: Mapping[str, Job] = JOBS) -> None:
        self.world = world
        self.clockwork = ScheduleRunner(world.settings, world.store, described(world.settings).id, jobs)
        self.seen_at = -SEEN
        self.wanted: dict[str, tuple[float | None, bool]] | None = None
        self.read_at = world.fleet_read_at
        self.tidying = LocalRetention(world.settings, world.store, self.clockwork.runner)

    def look(self) -> float:
        """Look once; return the seconds after which to look again."""
        world, runner = self.world, self.clockwork.runner
        now, rows, off = world.store.schedules()
        news = world.decides() and self._is_news(rows, off)
        if world.decides() and ticks() - self.seen_at >= SEEN:
            world.store.see_to(SWEEPS, runner)
            self.seen_at = ticks()
            now, rows, off = world.store.schedules()
        world.standings = standings(rows, off)
        if news:  # what people changed is decided anew for all nodes, whose next look may be far away
            world.store.wake_serving()
        if world.fleet is not None and world.fleet_read_at != self.read_at:
            self.read_at, trouble = world.fleet_read_at, world.pulse.source_trouble
            said = trouble or f"{len(world.fleet.devices)} devices, revision {world.fleet.revision[:12]}"
            world.store.note_schedule("source", runner, Outcome.FAILED if trouble else Outcome.DONE, said)
        self.tidying.follow(rows.get(cleanup.NAME, Row(cleanup.NAME)))
        return self.clockwork.see(now, rows, off)

    def _is_news(self, rows: Mapping[str, Row], off: Mapping[str, Switch]) -> bool:
        """Whether a person asked for, paused or resumed a sweep, since the last look, or while nobody was there."""
        before = self.wanted
        self.wanted = {name: (rows.get(name, Row(name)).asked_at, name in off) for name in SWEEPS}
        if before is not None:
            return before != self.wanted
        return any((row.asked_at or 0.0) > (row.ended_at or 0.0) for name, row in rows.items() if name in SWEEPS)


@contextmanager
def by_the_clock(world: TickContext, jobs: Mapping[str, Job] = JOBS) -> Iterator[None]:
    """See to the schedules for as long as it is open."""
    beside, stop = Beside(world, jobs), Event()
    pause = _look(beside)  # before the first tick: what was missed is known then
    thread = Thread(target=_see_to, args=(beside, stop, pause), name="schedules", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        beside.clockwork.wake.set()
        thread.join(GRACE)
        with suppress(FleetError):
            beside.clockwork.end()


def _see_to(beside: Beside, stop: Event, pause: float) -> None:
    while not stop.is_set():
        beside.clockwork.wake.wait(pause)
        beside.clockwork.wake.clear()
        if not stop.is_set():
            pause = _look(beside)


def _look(beside: Beside) -> float:
    """Look once, whatever comes of it; return the seconds after which to look again."""
    try:
        return beside.look()
    except FleetError as error:
        log.warning("schedules could not be processed; trying again", why=str(error))
    except Exception:
        log.exception("schedules could not be processed; trying again")
    return PULSE
