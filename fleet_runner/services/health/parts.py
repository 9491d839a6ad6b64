"""The parts that a runner needs, looked at when somebody asks, and no more often than every few seconds."""

import time
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread

import structlog

from fleet_runner.adapters.files import policy
from fleet_runner.adapters.redfish.credentials import trouble
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.schedules.health import Alive, Part, heard
from fleet_runner.reconcile.loop.context import TickContext

log = structlog.get_logger()

FRESH = 3.0
"""Seconds that a look at the store stays true: whoever asks often does not make it busier."""

PATIENCE = 3.0
"""Seconds that the store is waited for."""


class StoreLook:
    """Whether the store can be reached and has the schema of this release; at most one look is under way."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._lock = Lock()
        self._looking = False
        self._looked_at = -FRESH
        self._part = Part(ok=False, said="it was not checked yet")
        self._trouble = ""

    def part(self) -> Part:
        """Return what a look found, waiting for it no longer than the store may take."""
        with self._lock:
            begin = not self._looking and self._clock() - self._looked_at >= FRESH
            self._looking = self._looking or begin
        if begin:
            thread = Thread(target=self._look, name="store look", daemon=True)
            thread.start()
            thread.join(PATIENCE)
            with self._lock:
                if self._looking:
                    self._part = Part(
                        ok=False, said=f"it gave no answer within {PATIENCE:.0f} s; see to the database"
                    )
        return self._part

    def _look(self) -> None:
        trouble = ""
        try:
            Store.open(self._url, patience=PATIENCE).close()
            part = Part(ok=True, said="it is reached and has the schema of this release")
        except FleetError as error:
            trouble = str(error)
            part = Part(ok=False, said="it cannot be used, or has the schema of another release; the log says why")
        if trouble and trouble != self._trouble:
            log.error("the store cannot be used", error=trouble)
        with self._lock:
            self._part, self._trouble = part, trouble
            self._looked_at, self._looking = self._clock(), False


class Health:
    """What a runner says of itself. `listener` gives a sentence where signals are not taken from the settings."""

    def __init__(self, world: TickContext, stop: Event, listener: Callable[[], str]) -> None:
        self._world = world
        self._stop = stop
        self._listener = listener
        self._store = StoreLook(world.settings.store_url)
        self._policy_seen: tuple[policy.Stamp, Part] | None = None

    def alive(self) -> Alive:
        """Say whether the loop goes round."""
        return self._world.pulse.alive(self._world.settings.tick_seconds)

    def parts(self) -> Mapping[str, Part]:
        """Return every part's state; this may take as long as the store does."""
        alive, ending = self.alive(), self._stop.is_set()
        return {
            "loop": self._loop() if alive.ok else Part(ok=False, said=alive.said),
            "store": self._store.part(),
            "ownership": self._ownership(),
            "lease": self._lease(),
            "source": self._source(),
            "policy": self._policy(),
            "listener": self._listening(),
            "bmc": self._bmc(),
            "ending": Part(ok=not ending, said="it was asked to stop" if ending else "nobody asked it to stop"),
        }

    def _loop(self) -> Part:
        pulse = self._world.pulse
        if pulse.trouble:
            return Part(ok=False, said="rounds cannot do their work; the log says why")
        if not pulse.rounds:
            return Part(ok=False, said="the first round is not over yet")
        return Part(ok=True, said=f"rounds do their work; the longest took {pulse.longest:.1f} s")

    def _ownership(self) -> Part:
        if self._world.unaccepted:
            return Part(ok=False, said="nothing is decided by this store: see fleet-runner status and db accept")
        return Part(ok=True, said="the store is this fleet's")

    def _lease(self) -> Part:
        world = self._world
        if not world.store.shared:
            return Part(ok=True, said="no other runner shares this store")
        if world.heard is None:
            return Part(ok=False, said="it shares no work with other runners: it has only begun, or it ends")
        return heard(world.heard.silent(), world.settings.lease_seconds, decides=world.decides())

    def _source(self) -> Part:
        world = self._world
        if world.fleet is None:
            return Part(ok=False, said="the source of truth was not read yet")
        if world.pulse.source_trouble:
            return Part(ok=False, said="it cannot be read, the last good copy is in use; the log says why")
        return Part(ok=True, said="it was read")

    def _policy(self) -> Part:
        path = self._world.settings.policy
        stamp = policy.stamp(path)
        if self._policy_seen is None or self._policy_seen[0] != stamp:
            try:
                policy.read(path)
                part = Part(ok=True, said="it can be used")
            except FleetError:
                part = Part(ok=False, said="it cannot be used: fleet-runner policy check")
            self._policy_seen = stamp, part
        return self._policy_seen[1]

    def _listening(self) -> Part:
        if not self._world.settings.signals_listen:
            return Part(ok=True, said="no signals are taken, as the settings have it")
        if self._listener():
            return Part(ok=False, said="signals are not taken now; the log says why")
        return Part(ok=True, said="signals are taken")

    def _bmc(self) -> Part:
        if trouble(self._world.settings):
            return Part(ok=False, said="the BMC credentials are unusable; fleet-runner tick says why")
        return Part(ok=True, said="nothing is wrong with bmc_credentials or the variables, or none are set")
