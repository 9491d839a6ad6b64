"""Beside the work, on PostgreSQL: a runner is known to live, decides in its turn, and its worker takes batches."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from secrets import token_hex
from threading import Event, Thread

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays import batch_folder, lease, lease_renewal, leased_engine
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.runs.jobs import BELL
from fleet_runner.core.base import durations
from fleet_runner.core.base.errors import FleetError, NotLeaderError, SettingsError, StoreError
from fleet_runner.core.inventory.placement import Runner, patterns
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.liveness import LastHeard
from fleet_runner.reconcile.loop.single_instance import served
from fleet_runner.settings import Settings

NAME = "runner"
"""In `state_dir`: what tells this runner from another of the same name."""

AGAIN = 3.0
"""Seconds after which a part that failed begins anew."""

GRACE = 5.0
"""Seconds that a thread is given at the end."""


class RunnerStatus:
    """One runner, as the others know it. `ring` has this process look."""

    def __init__(self, settings: Settings, store: Store, ring: Callable[[], object]) -> None:
        from fleet_runner.adapters.plays.job_worker import JobWorker  # noqa: PLC0415  with PostgreSQL alone, and slow

        self.runner = described(settings)
        self.heard = LastHeard(lease.ticks)
        self._settings, self._store, self._ring = settings, store, ring
        self._until = self._rests_until = 0.0
        self._failed: FleetError | None = None
        self._stop = Event()
        self._worker = JobWorker(settings, self.runner.id, self)

    def decides(self) -> bool:
        """Whether it is this runner's turn to decide, as far as it knows: every write is guarded by itself, too."""
        return lease.ticks() < self._until

    def begin(self) -> None:
        """Be known, and take the turn if it is free; StoreError where the store cannot be written."""
        at = lease.ticks()
        self._store.begin_runner(self.runner)
        self.heard.again(at)
        self._turn(self._store)

    def once(self) -> None:
        """Take what there is room for, and start it; FleetError where that could not be."""
        self._worker.run(wait=False)
        if self._failed is not None:
            raise self._failed

    def queues(self) -> list[str]:
        """Return the queues that it takes jobs of now, the bell's where it decides; see to what batches left."""
        leased_engine.sweep(self._settings, self._store)
        rung = self._store.is_rung()
        if rung and not self.decides():  # the one who decided may have given its turn back
            self._turn(self._store)
        found = [] if lease.ticks() < self._rests_until else list(self._store.reached(self.runner.id))
        return [*found, *([BELL] if rung and self.decides() else [])]

    def start(self, batch: str) -> None:
        """Start a batch; where that fails, leave others to those who may have a better disk, for a while."""
        try:
            leased_engine.begin(self._settings, self._store, self.runner.id, batch)
        except FleetError as error:
            self._failed, self._rests_until = error, lease.ticks() + self._settings.lease_seconds
            raise

    def look(self) -> None:
        """Have this process decide what is due now: somebody rang."""
        self._ring()

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Beat, and take batches, for as long as it is open; then take nothing more and let another decide."""
        works = {"beat": self._beat, "take": self._take}
        threads = [Thread(target=self._last, args=each, name=each[0], daemon=True) for each in works.items()]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._worker.end()
            for thread in threads:
                thread.join(GRACE)
            self._until = 0.0
            with suppress(StoreError):  # it is over for others once it is silent for a lease
                self._store.end_runner(self.runner.id)

    def _turn(self, store: Store) -> None:
        at, had, decided = lease.ticks(), self._until > 0.0, self.decides()
        mine = store.take_turn(self.runner.id, self._settings.lease_seconds)
        self._until = at + self._settings.lease_seconds if mine else 0.0
        if mine and not decided:
            log.info("this runner decides from now on", runner=self.runner.id)
            self._ring()
        if had and not mine:
            log.warning("another runner decides now: this one's heartbeat was late", runner=self.runner.id)

    def _last(self, name: str, work: Callable[[], None]) -> None:
        """Work until the end, whatever comes of it: a runner without one of its threads would look well."""
        while not self._stop.is_set():
            try:
                work()
            except Exception:
                log.exception("a background task of this runner failed; it starts again", part=name)
                self._stop.wait(AGAIN)

    def _beat(self) -> None:
        """Beat over a connection of its own: what else this process does may take all others, or hold them up."""
        seconds = self._settings.lease_seconds
        while not self._stop.is_set():
            try:
                with lease_renewal.opened(self._settings.store_url, seconds) as own:
                    while not self._stop.is_set():
                        self._turn(own)
                        self._lives(own)
                        self._stop.wait(seconds / lease.RENEWALS)
            except StoreError as error:
                log.warning("this runner's heartbeat cannot be written", why=str(error))
                self._stop.wait(lease.PULSE)

    def _lives(self, store: Store) -> None:
        at, seconds = lease.ticks(), self._settings.lease_seconds
        store.beat_runner(self.runner.id)
        silent = self.heard.again(at)
        if silent > lease.LATE * seconds:
            said = "other runners saw this one late: its computer, or the store, is overloaded"
            log.warning(said, after=round(silent, 1), lease=seconds)

    def _take(self) -> None:
        while not self._stop.is_set():
            try:
                self._worker.run()
            except StoreError as error:
                log.warning("no batches can be taken; trying again", why=str(error))
            self._stop.wait(AGAIN)


@contextmanager
def one_turn(world: TickContext) -> Iterator[None]:
    """Have a command decide once, and carry what there is room for, where no runner does; with SQLite it just may.

    Where this machine's runner waits for its turn, that one carries: two would share one name, and its slots.

    Raises:
        TurnError: a runner decides, which is said with its name; it is told to look at once.
    """
    store, settings = world.store, world.settings
    if not store.shared:
        yield
        return
    carrier = RunnerStatus(settings, store, lambda: None)
    name = f"{carrier.runner.id}.{os.getpid()}"
    if not store.take_turn(name, settings.lease_seconds):
        store.ring()
        raise NotLeaderError(_who_decides(store, settings.lease_seconds))
    carries = not served(settings)
    with ExitStack() as known:
        try:
            if carries:
                store.begin_runner(carrier.runner)
                known.callback(store.end_runner, carrier.runner.id)  # what was taken begins by itself
            yield
        finally:
            store.give_turn_back(name)
        if carries:
            carrier.once()


def _who_decides(store: Store, seconds: float) -> str:
    name = store.deciding()
    silent = next((runner.silent for runner in store.runners() if runner.id == name), None)
    heard = "" if silent is None else f" (last seen {durations.age(silent)} ago)"
    return (
        f"{name or 'another runner'}{heard} decides for this fleet and was asked to run a tick now; nothing is done "
        "here. fleet-runner runners shows who runs, fleet-runner queue what; a runner that died keeps its turn for "
        f"{seconds:.0f} s"
    )


def described(settings: Settings) -> Runner:
    """Return who this runner is; it is the same one after a restart with the same `state_dir` on the same host."""
    host = socket.gethostname()
    path = settings.state_dir / NAME
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():  # on a full disk nothing can be made, and people still look who runs
            batch_folder.create(path, token_hex(3))
        suffix = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: {error}; name a state_dir of your own, or remove that file") from error
    return Runner(
        id=f"{settings.runner_name or host}-{suffix}",
        host=host,
        release=release(),
        places=patterns(settings.runner_places),
        slots=settings.batches_at_once,
    )


def release() -> str:
    """Return which release this is."""
    try:
        return version("fleet-runner")
    except PackageNotFoundError:
        return "unknown"
