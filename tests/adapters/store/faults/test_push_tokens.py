"""Tokens: given once by name, ended for good, and read as they were given."""

from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.signals.tokens import Token

TOKEN = Token("vector", "a" * 64, 1.0, "ann")


def test_one_is_read_as_it_was_given(store: Store) -> None:
    """With what bounds it."""
    bounded = Token("bmc", "b" * 64, 2.0, "bob", sources=(Source.REDFISH,), nodes=("gpu-0*",), until=99.0)
    ids = [store.add_token(TOKEN), store.add_token(bounded)]
    assert store.tokens() == (replace(TOKEN, id=ids[0]), replace(bounded, id=ids[1]))


def test_a_name_is_given_anew_once_it_is_revoked(store: Store) -> None:
    """What was revoked stays known, and is not revoked again."""
    store.add_token(TOKEN)
    with pytest.raises(ConflictError, match="there is one already"):
        store.add_token(replace(TOKEN, digest="c" * 64))
    assert store.revoke_token("vector", 5.0)
    assert not store.revoke_token("vector", 6.0)
    store.add_token(replace(TOKEN, digest="c" * 64))
    assert [each.revoked_at for each in store.tokens()] == [5.0, None]


def test_when_it_was_last_used_is_kept(store: Store) -> None:
    """Of each by itself."""
    first, second = store.add_token(TOKEN), store.add_token(replace(TOKEN, name="bmc", digest="b" * 64))
    store.count_heard({}, {first: 7.0})
    assert {each.id: each.used_at for each in store.tokens()} == {first: 7.0, second: None}


def test_one_takes_the_place_of_those_of_its_name(store: Store) -> None:
    """Those go on for as long as they may; whoever was to end earlier still does."""
    store.add_token(TOKEN)
    store.rotate_token(replace(TOKEN, digest="b" * 64, made_at=10.0), until=20.0)
    store.rotate_token(replace(TOKEN, digest="c" * 64, made_at=12.0, until=500.0), until=30.0)
    assert [(each.digest[0], each.until) for each in store.tokens()] == [("a", 20.0), ("b", 30.0), ("c", 500.0)]
    with pytest.raises(ConflictError, match="none of that name is valid"):
        store.rotate_token(replace(TOKEN, digest="d" * 64, made_at=600.0), until=700.0)
    assert store.revoke_token("vector", 700.0)
    with pytest.raises(ConflictError, match="none of that name is valid"):
        store.rotate_token(replace(TOKEN, digest="e" * 64, made_at=13.0), until=20.0)
    assert len(store.tokens()) == 3
