"""What a runner finds of batches that it took before it was killed or cut off, or that their supervisor left."""

import os
import time

import pytest

from fleet_runner.adapters import leased, playbooks
from tests.carrying.conftest import LEASE, Hall


def test_what_was_taken_and_never_written_down_is_anybodys_again(hall: Hall) -> None:
    """Its runner was killed after it took it, or never learned that it did; while it lives, it renews it."""
    mine, _ = hall.settings("r1"), hall.settings("r2")
    hall.offer(hall.batch)
    hall.store.take_parcels("r1", LEASE)
    leased.sweep(mine, hall.store, "r2")
    assert hall.parcel(hall.batch).runner == "r1"
    leased.sweep(mine, hall.store, "r1")
    assert hall.parcel(hall.batch).runner == ""
    (again,) = hall.store.take_parcels("r2", LEASE)
    assert again.token == 2


def test_what_is_about_to_begin_or_has_begun_is_not_given_up(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first has its folder; the second has none any more, and is its supervisor's."""
    mine, other = hall.settings("r1"), f"{hall.batch}-b"
    monkeypatch.setattr(playbooks, "_spawn", lambda *_: os.getpid())
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.offer(other, "gpu-02")
    (taken,) = hall.store.take_parcels("r1", LEASE)
    hall.store.start_parcel(other, taken.token, "carrier", LEASE)
    leased.sweep(mine, hall.store, "r1")
    assert [hall.parcel(each).runner for each in (hall.batch, other)] == ["r1", "r1"]
    assert hall.parcel(other).left > 0.0


def test_a_folder_in_which_no_batch_was_written_is_removed_once_it_is_old(hall: Hall) -> None:
    """Its runner was killed just after it made it: it may be making it only now."""
    mine = hall.settings("r1")
    folder = hall.folder(mine, hall.batch)
    folder.mkdir(parents=True)
    leased.sweep(mine, hall.store, "r1")
    assert folder.exists()
    at = time.time() - leased.START_SECONDS - 1.0
    os.utime(folder, (at, at))
    leased.sweep(mine, hall.store, "r1")
    assert not folder.exists()
