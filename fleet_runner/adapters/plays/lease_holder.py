"""Holds a batch's lease beside its play, and brings what the play says to the store.

A batch lives no longer than its lease: one that is not renewed for half of it is ended, which needs nobody's word and
no clock but this machine's own since it was started. It is renewed beside what is brought (`renewal`). What was said
and could not be brought stays in the folder, and is brought when the store is back, as long as the runs are still
open there.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from secrets import token_hex
from threading import Event, Lock, Thread
from typing import Any

from fleet_runner.adapters.plays import batch_folder, engine
from fleet_runner.adapters.plays.lease import ASKED, PULSE, ticks
from fleet_runner.adapters.plays.lease_renewal import Renewal, opened
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError

TRIES = 3
"""How often the store may refuse what is brought at the end of a lease that it does not keep, to be believed."""

PART = 128 * 1024
"""Bytes that are brought at a time, in one transaction: on a computer with ten times the work that it can do, a
hundred nodes' results at once would keep others who write the same evidence waiting for many seconds."""


class Delivery(Enum):
    """What became of what was brought at the end."""

    ALL = "all"
    REFUSED = "refused"  # the batch is its courier's no more: nothing was written
    LATER = "later"  # the store is away


SENTENCES = {
    Delivery.ALL: "all of it is in the store",
    Delivery.REFUSED: "the store no longer expects results of it; nothing was written",
    Delivery.LATER: "the store is away; the runner reports the rest later",
}


def settle(folder: Path, told: Delivery, rc: int) -> None:
    """Remove the folder of a batch that has nothing more to tell; one whose log may be wanted is kept, and marked."""
    if told is Delivery.LATER:
        return
    if rc != 0:
        engine.forget_environment(folder)  # its supervisor did, unless it was killed
        batch_folder.create(folder / batch_folder.TOLD, "")
        return
    batch_folder.discard(folder)


def bring(store: Store, batch: str, spool: Path) -> int:
    """Bring to the store what a spool says that is not there yet; return how many bytes of it are there then."""
    while True:
        before = store.offset(batch)
        heard = engine.said(spool, before, PART)
        if not heard.used:
            return before
        store.ingest(batch, before, before + heard.used, heard.lines)


class LeaseHolder:
    """Carries for one batch, in a thread of its own while its play runs."""

    def __init__(self, folder: Path, spec: Mapping[str, Any], url: str) -> None:
        self.batch = str(spec["batch"])
        self._lease = Renewal(folder, self.batch, spec["lease"], url)
        self._folder, self._url = folder, url
        self._carrier = token_hex(8)
        self._brought = -1
        self._store: Store | None = None
        self._one = Lock()
        self._stop = Event()
        self._thread = Thread(target=self._carry, name="courier", daemon=True)

    def start(self, nodes: Mapping[str, Any]) -> dict[str, Any]:
        """Begin the batch in the store, and to carry: return what is told of the nodes whose runs are open.

        Nothing is told where the batch is another's to begin, or where the store stays away for too long.
        """
        lease = self._lease
        while True:
            at = ticks()
            try:
                begun = self._opened().start_parcel(self.batch, self._carrier, lease.seconds)
            except StoreError:
                self._forget()
                if lease.overdue(ASKED):
                    return {}
                time.sleep(PULSE)
            else:
                break
        if begun:
            lease.begin(at)
            self._thread.start()
        return {node: told for node, told in nodes.items() if node in begun}

    def over(self) -> str:
        """Return why the play has to end, "" while it need not."""
        return self._lease.over()

    def left(self, part: float) -> float:
        """Return the seconds until the lease was not renewed for that part of its time."""
        return self._lease.left(part)

    def deliver(self, rc: int, detail: str, patience: float) -> str:
        """Bring the rest, and how it ended, for so many seconds; leave the folder as that wants it, and say so."""
        told = self.end(rc, detail, patience) if self._thread.ident else Delivery.REFUSED
        self._lease.end()
        self._forget()
        settle(self._folder, told, rc if self._thread.ident else 0)
        return SENTENCES[told]

    def end(self, rc: int, detail: str, patience: float) -> Delivery:
        """Bring the rest, and how it ended; try for so many seconds where the store is away."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(patience)
        until = time.monotonic() + patience
        refused = 0
        while True:
            try:
                with self._one:
                    self._tell()
                    taken = self._opened().finish_parcel(self.batch, rc, detail)
            except ConflictError:  # it is another's by now; or two writers met, and the next try finds out
                refused += 1
            except StoreError:
                self._forget()
            else:
                return Delivery.ALL if taken else Delivery.REFUSED
            if refused == TRIES:
                return Delivery.REFUSED
            if time.monotonic() > until:
                return Delivery.LATER
            time.sleep(PULSE)
            if self._renew_quietly():
                refused = 0

    def _carry(self) -> None:
        """Bring until it ends; what the store cannot take now, it may take later."""
        while not self._stop.wait(PULSE):
            try:
                with self._one:
                    self._tell()
            except ConflictError:
                self._renew_quietly()  # which learns whether its runs are over
            except (StoreError, OSError):
                self._forget()

    def _renew_quietly(self) -> bool:
        with suppress(StoreError):
            return self._lease.renew(self._opened())
        return False

    def _tell(self) -> None:
        """Bring what the play has said since the last time."""
        path = self._folder / batch_folder.SPOOL
        if path.exists() and path.stat().st_size > self._brought:
            self._brought = bring(self._opened(), self.batch, path)

    def _opened(self) -> Store:
        if self._store is None:
            self._store = opened(self._url, self._lease.seconds)
        return self._store

    def _forget(self) -> None:
        """Begin anew with a store that failed: its server may be another one by now."""
        store, self._store, self._brought = self._store, None, -1
        if store is not None:
            store.close()
