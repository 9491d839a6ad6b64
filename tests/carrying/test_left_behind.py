"""What a runner finds of batches that it took before it was killed or cut off, or that their supervisor left."""

import os
import signal
import time
from contextlib import closing
from pathlib import Path
from secrets import token_hex

import pytest

from fleet_runner.adapters.plays import batch_folder, engine, lease, lease_holder, leased_engine, processes
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.settings import Settings
from tests.adapters.plays.engine.conftest import Site
from tests.carrying.conftest import LEASE, Hall
from tests.taking import take
from tests.waiting import until


def test_a_folder_in_which_no_batch_was_written_is_removed_once_it_is_old(hall: Hall) -> None:
    """Its runner was killed just after it made it: it may be making it only now."""
    mine = hall.settings("r1")
    folder = hall.folder(mine, hall.batch)
    folder.mkdir(parents=True)
    leased_engine.sweep(mine, hall.store)
    assert folder.exists()
    at = time.time() - leased_engine.START_SECONDS - 1.0
    os.utime(folder, (at, at))
    leased_engine.sweep(mine, hall.store)
    assert not folder.exists()


def orphaned(hall: Hall) -> Settings:
    """Begin a play, and kill its supervisor and that one's warden in the middle of a task; return whose it was."""
    mine = hall.settings("r1", lease_seconds=3600.0)
    hall.site.play("say one; until_ gate", "say two")
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    folder = hall.folder(mine, hall.batch)
    for one in processes.tagged(folder.name):
        if "fleet_runner.adapters.plays.supervisor" in one.command:
            processes.send(one, folder.name, signal.SIGKILL)
    until(lambda: not batch_folder.locked(folder))
    leased_engine.sweep(mine, hall.store)
    assert processes.tagged(folder.name)
    assert not (folder / batch_folder.TOLD).exists()
    return mine


def written(folder: Path, secret: str) -> list[str]:
    """Return the files of a batch that name its store, and the password with it."""
    return [each.name for each in folder.rglob("*") if each.is_file() and secret in each.read_text(errors="replace")]


def test_a_play_that_nobody_watches_is_ended_when_its_lease_was_not_renewed(hall: Hall) -> None:
    mine = orphaned(hall)
    folder = hall.folder(mine, hall.batch)
    lease.mark(folder, lease.ticks() - 3600.0 * lease.KILLED - 1.0, 3600.0)
    leased_engine.sweep(mine, hall.store)
    assert not processes.tagged(folder.name)
    assert hall.look(hall.batch).state is BatchState.LOST
    assert (folder / batch_folder.TOLD).exists()


def test_a_play_that_nobody_watches_is_ended_when_it_is_lost_for_everybody(hall: Hall) -> None:
    """Another runner may have its nodes by now, whatever this machine's clock says of the lease."""
    mine = orphaned(hall)
    folder = hall.folder(mine, hall.batch)
    assert written(folder, hall.url)
    hall.store.drop_parcel(hall.batch)
    assert hall.look(hall.batch).state is BatchState.LOST
    leased_engine.sweep(mine, hall.store)
    assert not processes.tagged(folder.name)
    assert (folder / batch_folder.TOLD).exists()
    assert written(folder, hall.url) == []


def test_a_play_that_cannot_be_ended_is_looked_at_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """What hangs in the kernel keeps its folder, and with it that anybody looks."""
    mine = orphaned(hall)
    folder = hall.folder(mine, hall.batch)
    hall.store.drop_parcel(hall.batch)
    hall.look(hall.batch)
    with monkeypatch.context() as patched:
        patched.setattr(processes, "send", lambda *_: False)
        leased_engine.sweep(mine, hall.store)
    assert not (folder / batch_folder.TOLD).exists()
    leased_engine.sweep(mine, hall.store)
    assert not processes.tagged(folder.name)


def test_of_a_lost_play_without_a_lease_no_environment_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its log is, for weeks; ansible-runner had written down the whole environment."""
    batch = f"verify-{token_hex(6)}"
    monkeypatch.setenv("FLEET_SOME_SECRET", "hunter-7")
    with closing(Site(tmp_path)) as site:
        site.play("say one; until_ gate")
        engine.launch(site.settings, site.batch(batch))
        site.wait_for_witness("one")
        folder = site.settings.batches_dir / batch
        assert written(folder, "hunter-7")
        for signum in (signal.SIGSTOP, signal.SIGKILL):  # a supervisor that lives for an instant would tidy up itself
            for one in processes.tagged(batch):
                processes.send(one, batch, signum)
        site.wait_for(batch, BatchState.LOST)
        assert written(folder, "hunter-7") == []
        assert (folder / batch_folder.LOG).exists()


def test_what_meets_other_writers_again_and_again_is_brought_at_last(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store refuses for the moment, which says nothing about whose the batch is."""
    mine, refused = hall.settings("r1"), list[str]()
    hall.offer(hall.batch)
    take(hall.store, "r1")
    folder = hall.folder(mine, hall.batch)
    folder.mkdir(parents=True)
    told = {"seconds": LEASE, "at": lease.ticks()}
    mine_to_bring = lease_holder.LeaseHolder(folder, {"batch": hall.batch, "lease": told}, hall.url)
    hall.store.start_parcel(hall.batch, "carrier", LEASE)
    finish = Store.finish_parcel

    def meets(store: Store, batch: str, rc: int | None, detail: str) -> bool:
        if len(refused) <= lease_holder.TRIES:
            refused.append(batch)
            raise ConflictError("two writers met")
        return finish(store, batch, rc, detail)

    monkeypatch.setattr(lease_holder, "PULSE", 0.05)
    monkeypatch.setattr(Store, "finish_parcel", meets)
    assert mine_to_bring.end(0, "", 60.0) is lease_holder.Delivery.ALL
    refused.clear()
    assert mine_to_bring.end(0, "", 60.0) is lease_holder.Delivery.REFUSED
    assert len(refused) == lease_holder.TRIES
    mine_to_bring._forget()
