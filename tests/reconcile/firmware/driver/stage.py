"""One scenario: an emulated BMC with its faults, and drivers that are killed and started again until one reports."""

import os
import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, Event, Tree
from tests.reconcile.firmware.driver import child
from tests.reconcile.firmware.driver.child import OWN_POINTS, Job
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, LEASE_SECONDS, NODE, PACE, Scene, store_in

MOST_STARTS = 40
"""Drivers that one scenario may need; more mean that nothing comes to an end."""

PATIENT = frozenset({"waiting", "working", "unread"})
"""Reports after which the runner comes back."""

KILLED = frozenset({-signal.SIGKILL, 255})
"""What is told of a driver that was killed; 255 where the server that forked it did not see how it ended."""

BMC_POINTS = (
    "upload_begun",
    "upload_done",
    "accepted",
    "staged",
    "update_begun",
    "update_done",
    "bmc_reset",
    "activated",
    "host_reset",
)
"""Events of a BMC at which its driver can be killed."""

WARM = get_context("forkserver")
WARM.set_forkserver_preload(["tests.reconcile.firmware.driver.child"])


class Kill(NamedTuple):
    """Kill a driver at the `nth` of its own points, or of its BMC's events, so many seconds after it."""

    point: str
    nth: int = 1
    after: float = 0.0


@dataclass
class Played:
    """What came of a scenario."""

    report: Mapping[str, Any]
    versions: Mapping[str, str]
    events: Sequence[Event]
    flashes: Sequence[Flash]
    kills: int
    starts: int


@dataclass
class Stage:
    """An emulated BMC, the store of its node, and the driver that is at it."""

    scene: Scene
    folder: Path
    template: Path
    rules: Sequence[Mapping[str, Any]] = ()
    kills: Sequence[Kill] = ()
    habits: BmcBehaviour = field(default_factory=BmcBehaviour)
    pace: Durations = field(default_factory=Durations.quick)
    killed: int = 0
    starts: int = 0
    driver: BaseProcess | None = None
    _seen: dict[str, int] = field(default_factory=dict)
    _timers: list[threading.Timer] = field(default_factory=list)

    def play(self, tree: Tree, seed: int = 0) -> Played:
        """Begin with old versions, and start drivers until one says that there is no more to do."""
        self.folder.mkdir(parents=True)
        url = store_in(self.folder, self.template)
        emulator = Emulator(
            tree,
            credentials=CREDENTIALS,
            pace=self.pace,
            habits=self.habits,
            rules=self.rules,
            seed=seed,
            on=self._hear,
        )
        with emulator as bmc:
            for entry, version in self.scene.old.items():
                bmc.set_version(entry, version)
            report = self._until_reported(bmc, url)
            for timer in self._timers:
                timer.join()
            with Store.open(url) as store:
                flashes = store.flashes(NODE)
            return Played(report, bmc.versions(), bmc.log, flashes, self.killed, self.starts)

    def _until_reported(self, bmc: Emulator, url: str) -> Mapping[str, Any]:
        since = 0.0
        while self.starts < MOST_STARTS:
            report = self._drive(bmc, url, since)
            if report is None or report["state"] in PATIENT:
                continue
            if "power cord" not in report["message"]:
                return report
            bmc.drain()  # the technician
            with Store.open(url) as store:
                since = max(flash.ended_at or 0.0 for flash in store.flashes(NODE))
        return {"state": "endless", "message": f"{self.starts} drivers came to no end"}

    def _drive(self, bmc: Emulator, url: str, since: float) -> Mapping[str, Any] | None:
        """Run one driver to its end; None where it was killed."""
        self.starts += 1
        mine, its = WARM.Pipe()
        job = Job(
            bmc.url, url, dict(self.scene.profile), self.scene.images, CREDENTIALS, PACE, LEASE_SECONDS,
            f"driver-{self.starts}", NODE, since, die_at=self._own_kill(),
        )  # fmt: skip
        self.driver = WARM.Process(target=child.main, args=(job, its), daemon=True)
        self.driver.start()
        its.close()
        try:
            with suppress(EOFError, ConnectionResetError):
                return mine.recv()
        finally:
            mine.close()  # whoever drives on without us ends itself
            self.driver.join()
        if self.driver.exitcode not in KILLED:
            raise AssertionError(f"the driver ended with {self.driver.exitcode} and no report")
        self.killed += job.die_at is not None
        with Store.open(url) as store:
            store.unlease(NODE, job.holder)  # it would run out; that is tested elsewhere
        return None

    def _own_kill(self) -> tuple[str, int] | None:
        """Return the next kill that the driver does to itself; each is done once."""
        if self.starts <= len(self.kills) and (kill := self.kills[self.starts - 1]).point in OWN_POINTS:
            return kill.point, kill.nth
        return None

    def _hear(self, event: Event) -> None:
        """Kill the driver at an event; nothing of it can be seen by then."""
        self._seen[event.kind] = self._seen.get(event.kind, 0) + 1
        for kill in self.kills:
            due = kill.point == event.kind and self._seen[event.kind] == kill.nth
            if due and kill.point in BMC_POINTS:
                if kill.after:
                    self._timers.append(threading.Timer(kill.after, self._kill))
                    self._timers[-1].start()
                else:
                    self._kill()

    def _kill(self) -> None:
        driver = self.driver
        if driver is not None and driver.pid is not None and driver.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(driver.pid, signal.SIGKILL)
                self.killed += 1
