"""Batches that are taken back, on PostgreSQL: only what nobody has, whatever was seen of it before."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.plays.leased_engine import Leased
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.core.inventory.placement import Offer, Runner
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import (  # noqa: F401  fixtures
    postgresql,
    postgresql_urls,
)
from tests.reconcile.scripted import a_fleet
from tests.taking import take

SECONDS = 600.0


def two_halls() -> Fleet:
    """One server in each of two halls."""
    fleet = a_fleet(2)
    halls = {name: replace(each, site=f"hall-{name[-1]}", rack="") for name, each in fleet.devices.items()}
    return replace(fleet, sites=("hall-1", "hall-2"), devices=halls)


@pytest.fixture
def world(tmp_path: Path, postgresql_urls: UrlMaker) -> Iterator[TickContext]:  # noqa: F811  a fixture
    """Whoever decides for two halls, where no runner lives."""
    url = postgresql_urls()
    settings = Settings(state_dir=tmp_path, database_url=url, retry_seconds=10, batch_nodes=8)
    with Store.open(url) as store:
        yield TickContext(settings, store, two_halls)


def begins(world: TickContext, name: str, *places: str) -> None:
    """Have a runner begin."""
    world.store.begin_runner(Runner(name, "host", "1", places, 8))


def test_nodes_that_nobody_reaches_share_no_batch_with_those_of_another_place(world: TickContext) -> None:
    """The runners of two halls were silent for a moment: each takes its own hall's when it is back."""
    begins(world, "elsewhere", "hall-9")
    tick(world, 1000.0)
    begins(world, "one", "hall-1")
    begins(world, "two", "hall-2")
    assert [len(take(world.store, name)) for name in ("one", "two")] == [1, 1]


def test_a_batch_that_no_runner_reaches_alone_is_offered_in_parts(world: TickContext) -> None:
    """The one that reached both halls is gone, and each has one of its own now."""
    begins(world, "both")
    tick(world, 1000.0)
    assert [parcel.places for parcel in world.store.parcels()] == [("hall-1", "hall-2")]
    world.store.end_runner("both")
    begins(world, "one", "hall-1")
    begins(world, "two", "hall-2")
    tick(world, 1005.0)
    tick(world, 1020.0)
    assert [len(take(world.store, name)) for name in ("one", "two")] == [1, 1]


def test_a_batch_that_was_begun_since_the_look_is_not_cancelled(
    world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who decided it was frozen before its offer, and woke after another had looked."""
    begins(world, "one")
    monkeypatch.setattr(Leased, "launch", lambda *_: None)
    tick(world, 1000.0)
    (batch,) = {run.batch for run in world.store.open_runs()}

    def looks(engine: Leased, batches: object) -> dict[str, Look]:
        del batches
        engine.store.offer(Offer(batch, "provision", {run.node: {} for run in engine.store.open_runs()}))
        assert take(engine.store, "one")
        assert engine.store.start_parcel(batch, "c", SECONDS)
        return {batch: Look(BatchState.DROPPED, detail="it was never offered")}

    monkeypatch.setattr(Leased, "looks", looks)
    tick(world, 1005.0)
    assert {run.batch for run in world.store.open_runs()} == {batch}
    assert world.store.renew_parcel(batch, SECONDS) == ""


def test_an_offer_that_comes_after_its_batch_was_withdrawn_is_taken_by_nobody(
    world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had read the runs while they were open: all that stands in its way is the row."""
    begins(world, "one")
    monkeypatch.setattr(Leased, "launch", lambda *_: None)
    tick(world, 1000.0)
    (batch,) = {run.batch for run in world.store.open_runs()}
    assert world.store.withdraw(batch, "it was never offered", 1005.0) == 2
    monkeypatch.setattr("fleet_runner.adapters.store.runs.spool.open_runs", lambda *_: dict.fromkeys(["gpu-01"]))
    world.store.offer(Offer(batch, "provision", {"gpu-01": {}}))
    assert take(world.store, "one") == []


def test_a_batch_that_was_offered_and_begun_is_not_cancelled_when_the_answer_is_lost(
    world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends after the offer's commit, and a runner is quick."""
    begins(world, "one")
    offered = Leased.launch

    def lost(engine: Leased, settings: Settings, batch: Batch) -> None:
        offered(engine, settings, batch)
        assert take(engine.store, "one")
        assert engine.store.start_parcel(batch.id, "c", SECONDS)
        raise StoreError("store: the server ended the connection")

    monkeypatch.setattr(Leased, "launch", lost)
    tick(world, 1000.0)
    assert len(world.store.open_runs()) == 2


def test_a_batch_that_cannot_be_offered_is_cancelled_with_the_reason(
    world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the controller's trouble: said in status, tried again."""
    begins(world, "one")

    def refuse(*given: object) -> None:
        raise FleetError("a name is unusable")

    monkeypatch.setattr(Leased, "launch", refuse)
    tick(world, 1000.0)
    (run,) = world.store.runs("gpu-01")
    assert (run.outcome, run.detail) == (Outcome.CANCELLED, "the play could not be started: a name is unusable")
