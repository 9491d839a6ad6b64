"""What people see of runners and of what waits, and how they steer it, at 80 columns."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.placement import Offer, Runner
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.lifecycle.batches import NO_ROOM
from fleet_runner.reconcile.loop.single_instance import serving
from fleet_runner.settings import load
from tests.adapters.store.builders import UrlMaker, decision, device, node
from tests.adapters.store.conftest import (  # noqa: F401  fixtures
    postgresql,
    postgresql_urls,
)
from tests.cli.conftest import Type
from tests.taking import take

SECONDS = 30.0


@pytest.fixture
def shared(typed: Type, postgresql_urls: UrlMaker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:  # noqa: F811  a fixture
    """Two batches: one in a hall that nobody reaches, one that r1 carries; a second runner is silent."""
    del typed  # it sets the folder
    url = postgresql_urls()
    monkeypatch.setenv("FLEET_DATABASE_URL", url)
    with Store.open(url) as store:
        store.register([device(f"gpu-0{number}") for number in (1, 2, 3)], 100.0)
        store.begin_runner(Runner("r1-a5a777", "runner-1.example", "0.1.0", ("hall-1",), 8))
        offered(store, "verify-7328e42fd216", "hall-1/A01", "gpu-01", "gpu-02")
        (taken,) = take(store, "r1-a5a777")
        store.start_parcel(taken.batch, "c", SECONDS)
        offered(store, "verify-cddeec0a1b9d", "hall-9/B07", "gpu-03")
        store.take_turn("r1-a5a777", SECONDS)
        yield store


def offered(store: Store, batch: str, place: str, *names: str) -> None:
    """Open runs and offer their batch."""
    for name in names:
        store.apply(node(store, name), decision(OpenRun(Stage.VERIFY, "It is time.", batch=batch)), 200.0)
    store.offer(Offer(batch, "verify", {name: {} for name in names}, (place,)))


@pytest.mark.usefixtures("shared")
def test_the_queue_says_what_runs_where_and_why_something_waits(typed: Type) -> None:
    said = typed("queue")
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert "verify-7328e42fd216 gpu-01 +1 r1-a5a777" in said.words
    assert "waits: no runner reaches hall-9/B07" in said.words
    lines = json.loads(typed("queue", "--json").out)["batches"]
    assert [(line["runner"], line["state"]) for line in lines] == [("r1-a5a777", "runs"), ("", "waits")]
    assert "verify waits: no runner reaches hall-9/B07" in typed("status").words
    (name,) = lines[1]["nodes"]
    assert "verify waits: no runner reaches hall-9/B07" in typed("node", name).words


def test_the_queue_is_paused_with_a_reason_and_resumed(shared: Store, typed: Type) -> None:
    assert typed("queue", "pause", "--reason", " ").code == 2
    assert typed("queue", "pause", "--reason", "a switch is replaced", "--by", "ann").code == 0
    assert "The queue is paused by ann: a switch is replaced. To continue" in typed("queue").words
    assert json.loads(typed("queue", "--json").out)["paused"]["by"] == "ann"
    assert take(shared, "r1-a5a777") == []
    assert typed("queue", "resume").code == 0
    assert typed("queue", "resume").code == 1


def test_a_batch_is_stopped_by_its_name(shared: Store, typed: Type) -> None:
    assert "no batch 'verify-1' runs or waits" in typed("queue", "stop", "verify-1", "-r", "test").err
    assert typed("queue", "stop", "verify-cddeec0a1b9d", "-r", "wrong hall", "--by", "ann").code == 0
    (ended,) = shared.parcels(["verify-cddeec0a1b9d"])
    assert ended.detail == "ann stopped it: wrong hall"
    assert typed("queue", "stop", "verify-7328e42fd216", "-r", "wrong hall", "--by", "ann").code == 0
    assert "runs: ann stopped it: wrong hall" in typed("queue").words


@pytest.mark.usefixtures("shared")
def test_runners_say_who_decides_and_how_much_each_carries(typed: Type) -> None:
    said = typed("runners")
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert "1 of 8" in said.words
    assert "decides; reaches hall-1" in said.words
    assert json.loads(typed("runners", "--json").out)[0]["state"] == "decides"


def test_a_tick_says_who_decides_and_has_that_one_look(
    shared: Store, typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_SOURCE", str(project / "docs" / "examples" / "site"))
    said = typed("tick")
    assert said.code == 1
    assert "no: r1-a5a777 (last seen " in said.err
    assert "a runner that died keeps its turn for 30 s" in said.err
    assert shared.is_rung()


def test_with_sqlite_who_waits_for_a_play_stands_in_line(typed: Type) -> None:
    """There is no batch of theirs yet, and so none to stop."""
    with Store.create(load().store_url) as store:
        store.register([device("gpu-01"), device("gpu-02")], 100.0)
        for name in ("gpu-01", "gpu-02"):
            waits = f"waits: 8 plays run, {NO_ROOM}"
            store.apply(node(store, name), decision(waiting=waits, wake_at=time.time() + 600.0), 200.0)
    said = typed("queue")
    assert "in line gpu-01 +1 - 5 min" in said.words
    assert "waits: 8 plays run, as many as may at once (batches_at_once)" in said.words
    assert all(len(line) <= 80 for line in said.out.splitlines())
    (line,) = json.loads(typed("queue", "--json").out)["batches"]
    assert (line["batch"], line["nodes"]) == ("", ["gpu-01", "gpu-02"])


def test_with_sqlite_there_is_one_runner(typed: Type) -> None:
    Store.create(load().store_url).close()
    assert "no batch runs or waits" in typed("queue").words
    assert "this machine is the only runner, and it does not serve" in typed("runners").words
    assert json.loads(typed("runners", "--json").out) == []
    with serving(load()):
        assert "this machine is the only runner, and it serves" in typed("runners").words
        (one,) = json.loads(typed("runners", "--json").out)
    assert (one["state"], one["host"], one["used"]) == ("decides", socket.gethostname(), 0)
    assert one["started_at"] is one["beat_at"] is None


def test_with_sqlite_the_queue_is_paused_and_resumed_too(typed: Type) -> None:
    Store.create(load().store_url).close()
    assert typed("queue", "pause", "--reason", "a move", "--by", "ann").code == 0
    assert "The queue is paused by ann: a move. To continue: fleet-runner queue resume" in typed("queue").words
    assert "The queue is paused by ann: a move. To continue: fleet-runner queue resume" in typed("status").words
    assert json.loads(typed("status", "--json").out)["paused_queue"]["by"] == "ann"
    assert typed("queue", "resume").code == 0
    assert json.loads(typed("status", "--json").out)["paused_queue"] is None
    assert typed("queue", "resume").code == 1
