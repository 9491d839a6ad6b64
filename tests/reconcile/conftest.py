"""Worlds to tick in: a real store, an engine whose plays are scripted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.settings import Settings
from tests.reconcile.scripted import Script, Scripted, a_fleet, all_good


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., TickContext]]:
    """Worlds on stores of their own."""
    stores: list[Store] = []

    def make(script: Script = all_good, count: int = 1, fleet: Fleet | None = None) -> TickContext:
        folder = tmp_path / str(len(stores))
        found = Settings(
            state_dir=folder,
            retry_seconds=10,
            working_seconds=10,
            drain_seconds=5,
            passive_schedule="every 100s",
            source_schedule="every 1s",
        )
        folder.mkdir()
        store = Store.create(found.store_url)
        stores.append(store)
        return TickContext(found, store, lambda: fleet or a_fleet(count), Scripted(script))

    yield make
    for store in stores:
        store.close()
