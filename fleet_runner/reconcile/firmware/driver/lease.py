"""The right to touch one node's firmware: a lease in the store, which only one driver holds at a time."""

import contextlib
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, RunOverError, StoreError
from fleet_runner.reconcile.firmware.driver import shutdown

SHARE = 3.0
"""A lease is renewed after this part of its time, so that one renewal may fail."""

PATIENCE = 5.0  # seconds for which a busy store is asked again before something is sent
WAIT = 0.5  # seconds between two tries to get a lease that another holds


@dataclass(frozen=True, slots=True)
class Target:
    """The node that a driver works on, and in whose name: `holder` is another for every driver.

    `run` is the run's id and its fence, None by hand. `since` is when the node came into its state (epoch seconds):
    attempts and resets from before do not count. `bmc` is the address of its BMC.
    """

    node: str
    holder: str
    run: tuple[int, int] | None = None
    since: float = 0.0
    by: str = "runner"
    bmc: str = ""


Made = TypeVar("Made")

_one_at_a_time = threading.Lock()  # drivers of one process would else starve each other at the store


def written(work: Callable[[], Made], patience: float) -> Made:
    """Do a write of the store, again for so many seconds where it is busy; nothing is ever half-written.

    Raises:
        ConflictError: it is not this driver's to do.
        StoreError: the store cannot be written.
        KeyboardInterrupt: somebody asked for the end; a write that has begun comes to its own first.
    """
    last = time.monotonic() + patience
    while True:
        shutdown.heed()
        try:
            with shutdown.whole(), _one_at_a_time:
                return work()
        except ConflictError:
            raise
        except StoreError:
            if time.monotonic() > last:
                raise
        time.sleep(WAIT * random.uniform(0.1, 1.0))


class LapsedError(ConflictError):
    """A driver did not renew its lease in time; what it knows of the node may be old."""


class Lease:
    """The lease of one driver. Time is also told by a clock that goes on while the whole machine is asleep."""

    def __init__(
        self, store: Store, target: Target, seconds: float, ticks: Callable[[], float] | None = None
    ) -> None:
        self._store = store
        self._target = target
        self._seconds = seconds
        self._ticks = ticks or _ticks
        self._renewed = 0.0

    def wait(self, until: float) -> str:
        """Take the lease, or say who has it once it is not to be had: one that nobody renews runs out meanwhile."""
        last = min(time.time() + self._seconds * (1 + 1 / SHARE), until)
        while True:
            try:
                self.take(self._seconds)
            except RunOverError as error:
                return str(error)
            except ConflictError as error:
                if time.time() >= last:
                    return str(error)
                time.sleep(min(WAIT, self._seconds / SHARE))
            else:
                return ""

    def take(self, patience: float = 0.0) -> None:
        """Take or renew it; ConflictError where another has it, or the run is over."""
        now = self._ticks()  # before the store is asked: the lease never lasts longer there than is believed here
        written(self._take, patience)
        self._renewed = now

    def _take(self) -> None:
        target = self._target
        self._store.lease(
            target.node, target.holder, run=target.run, now=time.time(), seconds=self._seconds, bmc=target.bmc
        )

    def alive(self) -> None:
        """Renew it where that is due, before anything is done that only its holder may do.

        A driver that was frozen, or that cannot reach the store, has no lease any more, whatever it believes: what it
        was about to do, or is sending, must not go on.

        Raises:
            LapsedError: it may be another's by now.
            ConflictError: it is, or the run is over.
            KeyboardInterrupt: somebody asked for the end.
        """
        shutdown.heed()
        held = self._ticks() - self._renewed
        if held > self._seconds:
            raise LapsedError(
                f"{self._target.node}: its lease was not renewed for {held:.0f} s, so another may have it; "
                "nothing more is sent"
            )
        if held > self._seconds / SHARE:
            try:
                self.take()
            except ConflictError:
                raise
            except StoreError:
                return  # a store that is busy for a moment; the next call asks again

    def confirm(self) -> None:
        """Renew it in any case, right before something is sent: the run, too, is still this driver's then.

        Raises:
            ConflictError: it is not, or the lease may be another's.
            StoreError: that cannot be known.
        """
        self.alive()
        self.take(PATIENCE)

    def leave(self) -> None:
        """Give it back; it runs out by itself."""
        with contextlib.suppress(StoreError), shutdown.whole(), _one_at_a_time:
            self._store.unlease(self._target.node, self._target.holder)


def steady() -> float:
    """Return the time as it would be if nobody had set the clock since this process began (epoch seconds)."""
    return _BEGAN + _ticks()


def _ticks() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


_BEGAN = time.time() - _ticks()
