"""Carries batches on PostgreSQL, where any runner may take them: for whoever decides, and for each runner.

Whoever decides offers a batch in the store and looks there what became of it. A runner whose worker was given its job
starts the same detached supervisor as `playbooks` does.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays import batch_folder as batches
from fleet_runner.adapters.plays import engine, lease, lease_holder, processes
from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.inventory.placement import BatchSummary, Offer
from fleet_runner.core.lifecycle.spool import Decoded
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings

UNOFFERED = "the runner that decided it ended before it offered the batch; nothing ran"

START_SECONDS = 60.0
"""How long a supervisor may take until it has begun its batch, however busy the computer is; and a folder, until its
batch is written there."""

LOST_RC = -1
"""Of a play of which nobody saw the end."""


@dataclass(frozen=True, slots=True)
class Leased:
    """The engine of whoever decides; supervisors bring what plays say to the store themselves."""

    store: Store

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Offer a batch to every runner; ConflictError where its runs are over."""
        del settings
        engine.check(batch)
        self.store.offer(Offer(batch.id, batch.stage.value, batch.runs, batch.places))

    def look(self, settings: Settings, batch_id: str) -> Look:
        """Tell what became of a batch, from its row."""
        del settings
        return self.looks([batch_id])[batch_id]

    def looks(self, batches: Iterable[str]) -> dict[str, Look]:
        """Tell what became of many, at once."""
        wanted = list(batches)
        found = {parcel.batch: state(parcel) for parcel in self.store.parcels(wanted)} if wanted else {}
        unoffered = Look(BatchState.DROPPED, detail=UNOFFERED)
        return {batch: found.get(batch, unoffered) for batch in wanted}

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """Return nothing: it is in the store."""
        del settings, batch_id, offset
        return Decoded((), 0, 0)

    def stop(self, settings: Settings, batch_id: str) -> None:
        """Have a running batch ended by its supervisor, wherever that is."""
        del settings
        self.store.stop_parcel(batch_id, "It was stopped on request.")

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Forget a batch that is over."""
        del settings
        self.store.forget_parcel(batch_id)


def state(parcel: BatchSummary) -> Look:
    """Tell what became of a batch."""
    if parcel.started_at is None:
        ended = parcel.ended_at is not None
        return Look(BatchState.DROPPED if ended else BatchState.OFFERED, detail=parcel.detail)
    if parcel.ended_at is None:
        return Look(BatchState.RUNNING, age=parcel.read_at - parcel.started_at)
    if parcel.rc is None:
        return Look(BatchState.LOST, detail=f"{parcel.runner} began it, and {parcel.detail}.")
    return Look(BatchState.ENDED, parcel.rc, parcel.detail)


def begin(settings: Settings, store: Store, runner: str, batch: str) -> None:
    """Start a batch whose job a runner was given, unless its row says that it is not to be.

    Raises:
        FleetError: it could not be started here; its runs are cancelled, and its nodes decided again.
    """
    at = lease.ticks()
    offer = store.claim_parcel(batch, runner, START_SECONDS)
    if offer is None:
        return
    told = {"seconds": settings.lease_seconds, "at": at, "runner": runner}
    try:
        with engine.files(f"batch {batch} was not started"):
            folder = settings.batches_dir / batch
            engine.begin(settings, folder, Batch(batch, Stage(offer.stage), offer.runs), lease=told)
    except FleetError:
        store.drop_parcel(batch)
        raise


def sweep(settings: Settings, store: Store) -> None:
    """See to folders whose supervisor is gone: bring what is not in the store yet, and remove what nobody needs.

    Raises:
        StoreError: the store is away; the next sweep goes on.
    """
    engine.reap()
    if not settings.batches_dir.is_dir():
        return
    for folder in sorted(settings.batches_dir.iterdir()):
        try:
            _see_to_folder(folder, store)
        except FileNotFoundError:  # its supervisor has just removed it
            continue
        except (OSError, ConflictError) as error:
            log.warning("what a batch left behind is seen to later", folder=str(folder), why=str(error))


def _see_to_folder(folder: Path, store: Store) -> None:
    if folder.name.startswith("."):
        return
    if not (folder / batches.SPEC).exists():  # whoever wanted to write it was killed
        if time.time() - folder.stat().st_mtime > START_SECONDS:
            batches.discard(folder)
        return
    spec = batches.read_json(folder / batches.SPEC)
    if "lease" in spec and not (folder / batches.TOLD).exists() and not batches.locked(folder):
        _see_to(folder, str(spec["batch"]), store)


def _age(folder: Path) -> float:
    return time.time() - (folder / batches.SPEC).stat().st_mtime


def _see_to(folder: Path, batch: str, store: Store) -> None:
    """Bring what a supervisor that is gone left; one that never came up begins nothing any more."""
    found = next(iter(store.parcels([batch])), None)
    mine = found is not None and found.ended_at is None
    if not (folder / batches.STARTED).exists():
        if not mine or _age(folder) > START_SECONDS:
            batches.discard(folder)
        return
    ended = batches.read_rc(folder)
    if ended is None and not _is_over(folder, mine=mine):
        return
    if mine:
        lease_holder.bring(store, batch, folder / batches.SPOOL)
        if ended is not None:
            store.finish_parcel(batch, *ended)
        else:
            store.drop_parcel(batch)  # nobody will say how it ended: it is lost now, not in half a minute
    lease_holder.settle(folder, lease_holder.Delivery.ALL, ended[0] if ended is not None else LOST_RC)


def _is_over(folder: Path, *, mine: bool) -> bool:
    """Whether nothing is left of a play; what should have ended is ended here, where no warden is left to do it."""
    alive = processes.tagged(folder.name)
    if alive and (not mine or lease.overdue(folder / batches.ALIVE, lease.KILLED)):
        alive = processes.end(folder.name, grace=0.0)
        log.warning("a play without a supervisor was ended", folder=str(folder), left=[one.pid for one in alive])
    return not alive
