"""Runs where several runners share a PostgreSQL: who carries what, what waits and why, and how a batch ends."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.placement import Offer, Runner
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import UrlMaker, decision, device, node
from tests.adapters.store.conftest import (  # noqa: F401  fixtures
    postgresql,
    postgresql_urls,
)
from tests.taking import take
from tests.web.served import Served, served

PAGE = {"accept": "text/html"}
SECONDS = 600.0


@pytest.fixture
def site(postgresql_urls: UrlMaker, tmp_path: Path) -> Iterator[Served]:  # noqa: F811  a fixture
    """Two batches: one of two nodes that r1 carries, one in a hall that nobody reaches; r2 has ended."""
    with Store.open(postgresql_urls()) as store:
        store.register([device(f"gpu-0{number}") for number in (1, 2, 3)], 100.0)
        for name in ("r1", "r2"):
            store.begin_runner(Runner(name, f"{name}.example", "0.1.0", ("hall-1",), 8))
        store.end_runner("r2")
        offered(store, "verify-1", "hall-1/A01", "gpu-01", "gpu-02")
        (taken,) = take(store, "r1")
        store.start_parcel(taken.batch, "c", SECONDS)
        offered(store, "verify-2", "hall-9/B07", "gpu-03")
        with served(store, None, tmp_path) as found:
            yield found


def offered(store: Store, batch: str, place: str, *names: str) -> None:
    """Open runs and offer their batch."""
    for name in names:
        store.apply(node(store, name), decision(OpenRun(Stage.VERIFY, "It is time.", batch=batch)), 200.0)
    store.offer(Offer(batch, "verify", {name: {} for name in names}, (place,)))


def test_who_carries_what_and_why_the_rest_waits_is_shown_and_a_batch_is_cancelled_as_a_whole(site: Served) -> None:
    first, _, third = site.store.open_runs()
    with site.client() as client:
        text = " ".join(client.get("/runs", headers=PAGE).text.split())
        assert "carried by r1" in text
        assert "<strong>waits</strong>, no runner reaches hall-9/B07" in text
        assert "ended</span></td> <td>0 of 8" in text
        assert "no runner reaches hall-9/B07" in client.get(f"/runs/{third.id}", headers=PAGE).text
        assert "it lies on the runner that carries it, r1" in client.get(f"/runs/{first.id}", headers=PAGE).text
        form = client.get(f"/runs/{first.id}/stop", headers=PAGE).text
        assert "for 2 nodes" in form
        for run in (first, third):
            asked = client.post(f"/runs/{run.id}/stop", data={"reason": "wrong image"})
            assert asked.status_code == httpx.codes.SEE_OTHER
        again = client.post(f"/runs/{third.id}/stop", data={"reason": "wrong image"})
        assert again.status_code == 400
        assert "has ended" in again.text
    parcels = {each.batch: each for each in site.store.parcels(["verify-1", "verify-2"])}
    assert parcels["verify-1"].stop
    assert parcels["verify-1"].detail == "operator stopped it: wrong image"
    assert parcels["verify-2"].ended_at is not None
