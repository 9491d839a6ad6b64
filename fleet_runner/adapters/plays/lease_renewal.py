"""Renews a batch's lease, in a thread and over a connection that have nothing else to do.

What a play said may take the store long to write, or wait for others who write: none of that may cost the lease. A
process that is frozen renews nothing, since all of its threads are.
"""

from collections.abc import Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays.lease import ASKED, LATE, PULSE, RENEWALS, mark, ticks
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError

GRACE = 5.0
"""Seconds that the thread is given at the end; it may be waiting for a store that is away."""


class Renewal:
    """The lease of one batch, as whoever carries it knows it."""

    def __init__(self, folder: Path, batch: str, lease: Mapping[str, Any], url: str) -> None:
        self.batch, self.seconds = batch, float(lease["seconds"])
        self._folder, self._url = folder, url
        self._renewed = float(lease["at"])
        self._over, self._trouble = "", ""
        self._stop = Event()
        self._thread = Thread(target=self._go_on, name="renewal", daemon=True)

    def begin(self, at: float) -> None:
        """Renew from now on; the lease was had at a moment of this machine's clock."""
        self.keep(at)
        self._thread.start()

    def end(self) -> None:
        """Renew no more: how the batch ended is told, or it is another's."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(GRACE)

    def over(self) -> str:
        """Return why the play has to end, "" while it need not."""
        if not self._over and self.overdue(ASKED):
            why = f" ({self._trouble})" if self._trouble else ""
            self._over = f"Its lease was not renewed for {ticks() - self._renewed:.0f} s; it was ended.{why}"
        return self._over

    def overdue(self, part: float) -> bool:
        """Whether the lease was not renewed for that part of its time."""
        return ticks() - self._renewed > part * self.seconds

    def left(self, part: float) -> float:
        """Return the seconds until the lease was not renewed for that part of its time."""
        return max(0.0, self._renewed + part * self.seconds - ticks())

    def keep(self, at: float) -> None:
        """Remember since when the lease counts: before the store was asked, so never too late."""
        self._renewed = max(self._renewed, at)
        mark(self._folder, self._renewed, self.seconds)

    def renew(self, store: Store) -> bool:
        """Keep the lease; False where it is over, or its runs are.

        Raises:
            StoreError: the store did not say; it may next time.
        """
        at, before = ticks(), self._renewed
        why = store.renew_parcel(self.batch, self.seconds)
        if why is None:
            self._over = self._over or "Its lease is over, or its runs are; it was ended."
            return False
        self._over = self._over or why
        self.keep(at)
        self._say_if_late(ticks() - before)
        return True

    def _say_if_late(self, silent: float) -> None:
        if silent > LATE * self.seconds:
            said = "a lease was renewed late: this computer, or the store, is busier than its work allows"
            log.warning(said, batch=self.batch, after=round(silent, 1), lease=self.seconds, trouble=self._trouble)
        self._trouble = ""

    def _go_on(self) -> None:
        """Renew in time, until the end; a store that failed is opened anew, since its server may be another one."""
        store: Store | None = None
        while not self._stop.wait(PULSE):
            if not self.overdue(1 / RENEWALS):
                continue
            try:
                store = store or opened(self._url, self.seconds)
                self.renew(store)
            except (StoreError, OSError) as error:  # or the disk is full, which is no reason to give the node up
                self._trouble = str(error)
                if store is not None:
                    store.close()
                store = None
        if store is not None:
            store.close()


def opened(url: str, seconds: float) -> Store:
    """Open a store for whoever holds a lease of so many seconds: what it waits for must not cost that."""
    return Store.open(url, patience=max(2.0, seconds / RENEWALS))
