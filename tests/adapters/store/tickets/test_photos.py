"""Photos of tickets: kept once each, so many of a ticket, noted there."""

from hashlib import sha256

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.tickets import photos
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.tickets.photos import MOST, Photo
from fleet_runner.core.tickets.trackers.changes import Act
from tests.adapters.store.builders import decision, node, swap


def test_a_photo_is_kept_once_and_noted_once(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    digest = sha256(b"picture").hexdigest()
    photo = Photo(1, digest, 7, "ann", 210.0)
    assert stocked.add_photo(1, b"picture", "ann", 210.0) == photo
    assert stocked.add_photo(1, b"picture", "bob", 220.0) == photo, "it was there already"
    assert stocked.photos(1) == (photo,)
    assert stocked.photo(1, digest) == b"picture"
    assert stocked.photo(2, digest) is None
    assert stocked.photo(1, "0" * 64) is None
    noted = [each.sentence for each in stocked.ticket_changes(1) if each.act is Act.NOTED]
    assert noted == [f"A photo is on the ticket's page (SHA-256 {digest})."]
    assert digest in stocked.history("gpu-01")[-1].sentence


def test_a_ticket_has_so_many_photos_and_no_more(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    for number in range(MOST):
        assert stocked.add_photo(1, bytes([number]), "ann", 210.0 + number)
    assert stocked.add_photo(1, b"one more", "ann", 300.0) is None
    assert stocked.add_photo(1, bytes([3]), "ann", 300.0) == stocked.photos(1)[3], "it was there already"
    assert stocked.add_photo(99, b"of no ticket", "ann", 300.0) is None
    assert len(stocked.photos(1)) == MOST


def test_all_photos_together_have_so_many_bytes(stocked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for fault in ("a", "b"):
        stocked.apply(node(stocked), decision(swap("gpu-01", fault=fault)), 200.0)
    monkeypatch.setattr(photos, "ALL_BYTES", 10)
    assert stocked.add_photo(1, b"picture", "ann", 210.0)
    with pytest.raises(StoreError, match="photos of tickets have 10 bytes, which is as many as are kept"):
        stocked.add_photo(2, b"drawing", "ann", 220.0)
    assert stocked.photos(2) == ()
    assert all("photo" not in change.sentence for change in stocked.ticket_changes(2))
    assert stocked.add_photo(1, b"picture", "ann", 230.0), "it was there already"
    assert stocked.add_photo(2, b"dot", "ann", 240.0), "it fits"
