"""One visit to one node: what a driver has at hand, and how it waits, tells and reports."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import BmcError, ConflictError, StoreError
from fleet_runner.core.firmware.catalogue import Catalogue
from fleet_runner.core.firmware.flash import Flash, FlashTiming
from fleet_runner.core.firmware.planner import Step
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report, under_way
from fleet_runner.core.firmware.unobserved import Gap, gaps
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.firmware.driver import identity
from fleet_runner.reconcile.firmware.driver.activate import HOST
from fleet_runner.reconcile.firmware.driver.lease import Lease, Made, Target, written
from fleet_runner.reconcile.firmware.driver.look import BmcReadings

NO_STORE = (
    "a flash is written down before it is sent, and no store knows this node yet; `fleet-runner tick` makes one and "
    "registers the nodes"
)

MOST_DETAIL = 500
"""Letters of what is written down with a flash's end."""

MOST_RUNS = 300
"""Runs of the stage that are looked at, more than there are in six hours; of more nothing is said."""

SLACK_SECONDS = 120.0
"""What may lie between two visits beside their length; what is longer only makes waits longer."""

CLOCK_SECONDS = 2.0  # by which a BMC's clock, that counts whole seconds, may be wrong about its last reset


def _silent(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class DriverContext:
    """What a driver works with, the same for every node of a device type but for `open`, which opens its BMC.

    Without a store nothing is sent: there would be no intent. `images` is the folder of the images, `url` where BMCs
    fetch it from (SimpleUpdate). `lease_seconds` is how long a node stays with a driver that was killed. `say` takes
    a sentence whenever something has changed. `customer` says that its customer manages the node; `device` is what
    the source of truth says of it (`fleet_device`).
    """

    store: Store | None
    open: Callable[[], AbstractContextManager[Bmc]]
    catalogue: Catalogue
    images: Path
    pace: FlashTiming = field(default_factory=FlashTiming)
    url: str = ""
    lease_seconds: float = 60.0
    say: Callable[[str], None] = _silent
    customer: bool = False
    device: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Chosen(NamedTuple):
    """A step that is to be taken; `switched` says that the host was told to be on or off for it."""

    step: Step
    rolls_back: int | None = None
    switched: bool = False


class Unsent(NamedTuple):
    """A flash whose image the BMC surely has not: this driver was told so, so many times."""

    flash: int
    tries: int
    why: str


@dataclass(slots=True)
class Visit:
    """What a driver knows while it is with a node. `then` are the components after the one under way."""

    target: Target
    means: DriverContext
    lease: Lease | None  # none where nothing is done, only planned
    looks: BmcReadings
    until: float
    start: str = ""
    chosen: Chosen | None = None
    unsent: Unsent | None = None
    checked: bool = False  # whether the images of a whole plan were seen to be right
    then: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    switched_at: float | None = None  # when this visit last switched the host on or off
    silent: int = 0  # how often in a row it was waited for what the BMC did not tell, and for nothing else
    changed: bool = False  # whether this visit did anything to the node
    said: str = ""
    began: float = field(default_factory=time.time)
    apart: tuple[int, tuple[Gap, ...]] | None = None  # a flash, and what `gaps` found of it
    proven: bool = False  # whether the BMC was asked whose it is

    def wait(self, stand: FirmwareStatus, message: str, seconds: float, flash: Flash | None = None) -> Report | None:
        """Tell what is waited for, and wait; a report where the visit is over before that."""
        self.say(message)
        self.silent = self.silent if stand is FirmwareStatus.UNREAD else 0
        if time.time() + seconds > self.until:
            return self.report(stand, message, flash)
        left = time.monotonic() + seconds
        while (rest := left - time.monotonic()) > 0:
            time.sleep(min(rest, self.means.lease_seconds / 4))
            self.alive()
        return None

    def alive(self) -> None:
        """Go on only with the lease; a ConflictError without."""
        if self.lease is None:
            raise ConflictError(f"{self.target.node}: it may only be planned, not changed")
        self.lease.alive()

    def confirm(self) -> None:
        """Send only to the right machine, with the lease, and for a run that is not over; a ConflictError without."""
        try:
            why = self.stranger()
        except BmcError as error:
            raise ConflictError(str(error)) from error
        if why:
            raise ConflictError(why)
        self.alive()
        if self.lease is not None:
            self.lease.confirm()

    def stranger(self) -> str:
        """Say that the BMC is another machine's, "" where it does not say so; in a visit it is asked once."""
        why = "" if self.proven else identity.stranger(self.looks.bmc, self.means.device)
        self.proven = not why
        return why

    def say(self, message: str) -> None:
        """Tell something once."""
        if message != self.said:
            self.said = message
            self.means.say(message)

    def report(
        self,
        stand: FirmwareStatus,
        message: str,
        flash: Flash | None = None,
        steps: tuple[Mapping[str, Any], ...] = (),
    ) -> Report:
        """Return what there is to say at the end."""
        return Report(
            stand,
            message,
            steps,
            under_way(flash) if flash else None,
            self.notes,
            changed=self.changed,
            rebooted=stand is FirmwareStatus.DONE and self._rebooted(),
        )

    def flashes(self) -> tuple[Flash, ...]:
        """Return the node's flashes since it came into its state, oldest first."""
        store = self.means.store
        return store.flashes(self.target.node, since=self.target.since) if store else ()

    def gaps(self, flash: Flash) -> tuple[Gap, ...]:
        """Return the times since a flash was written down in which no run of the stage looked, up to this visit.

        A person's play is no run, and stays: its own time goes on whatever is done to the clock.
        """
        if self.target.run is None:
            return ()
        if self.apart is None or self.apart[0] != flash.id:
            runs = self.store.runs_of(self.target.node, Stage.FIRMWARE, MOST_RUNS)
            looks = [run.opened_at for run in runs if run.opened_at > flash.intended_at]
            found = gaps((flash.intended_at, *looks), self.began, self.until - self.began + SLACK_SECONDS)
            self.apart = flash.id, found if len(runs) < MOST_RUNS else ()
        return self.apart[1]

    @property
    def store(self) -> Store:
        """Return the store; StoreError where there is none."""
        if self.means.store is None:
            raise StoreError(NO_STORE)
        return self.means.store

    def write(self, work: Callable[[Store], Made]) -> Made:
        """Write something down, however busy the store is, as long as the lease would last."""
        store = self.store
        return written(lambda: work(store), self.means.lease_seconds)

    def _rebooted(self) -> bool:
        """Say whether the host was reset since the node came into its state, by anybody's account."""
        reset = any(flash.activate in HOST and flash.activations for flash in self.flashes())
        if reset or self.switched_at is not None:
            return True
        try:
            age = self.looks.bmc.last_reset_age()
        except BmcError:
            return False
        return age is not None and age < time.time() - self.target.since - CLOCK_SECONDS
