"""A tick by hand beside a runner on the same PostgreSQL: both are real, and one of them decides."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import copytree

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop.single_instance import serving
from fleet_runner.settings import load
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import (  # noqa: F401  fixtures
    postgresql,
    postgresql_urls,
)
from tests.cli.conftest import Type
from tests.cli.lifecycle.test_serve import LONGEST, Server
from tests.waiting import until


@pytest.fixture
def store(
    typed: Type,
    project: Path,
    tmp_path: Path,
    postgresql_urls: UrlMaker,  # noqa: F811  a fixture
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Store]:
    """The store of the documents' small site, whose two leaves are a fabric each; no play begins in it."""
    copytree(project / "docs" / "examples" / "site", tmp_path / "site")
    devices = tmp_path / "site" / "devices.yml"
    devices.write_text(re.sub(r', wwn: "[0-9a-f:]+"', "", devices.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.setenv("FLEET_DATABASE_URL", postgresql_urls())
    with Store.open(load().store_url) as opened:
        assert typed("queue", "pause", "--reason", "a test").code == 0
        yield opened


def test_a_tick_beside_a_runner_has_that_one_look_and_decides_once_it_is_gone(
    store: Store, typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner would look again in an hour; asked to end, it gives its turn back at once."""
    with ExitStack() as stack:
        runner = Server(tmp_path, tick_seconds=3600.0)
        stack.callback(runner.reader.join, LONGEST)
        stack.callback(runner.process.wait, LONGEST)
        stack.callback(runner.process.kill)
        until(lambda: any(node.wake_at > time.time() for node in store.nodes()))
        monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "by-hand"))
        intent = store.leave_intent("gpu-01", IntentKind.HOLD, "ann", now=time.time())
        said = typed("tick", "--json")
        assert (said.code, said.out) == (1, "")
        assert f"no: {store.deciding()} (last seen " in said.err
        assert "decides for this fleet and was asked to run a tick now; nothing is done here" in said.err
        until(lambda: store.answer(intent) is not None)
        assert len(store.runners()) == 1
        runner.ends()
    assert typed("tick").code == 0
    assert [runner.ending for runner in store.runners()] == [True, True]


def test_a_tick_leaves_carrying_to_a_runner_of_the_same_machine_that_waits_for_its_turn(
    store: Store, typed: Type
) -> None:
    """Both would have one name: what the one has just taken the other would take for left behind."""
    with serving(load()):
        said = typed("tick", "--json")
    assert (said.code, said.err) == (0, "")
    assert {run.stage for run in store.open_runs()} >= {Stage.SURVEY}
    assert store.runners() == ()


def test_a_tick_that_cannot_start_what_it_took_is_no_runner_any_more(store: Store, typed: Type) -> None:
    """Others would leave it what it reaches, and see it go silent for a week."""
    assert typed("queue", "resume").code == 0
    batches = load().batches_dir
    batches.parent.mkdir(parents=True, exist_ok=True)
    batches.write_text("somebody's file")
    said = typed("tick")
    assert (said.code, "was not started" in said.err) == (2, True), said.err
    assert [runner.ending for runner in store.runners()] == [True]
    assert [parcel.runner for parcel in store.parcels()] == [""]


def test_a_sweep_goes_on_waiting_for_a_runner_that_is_slow(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would tick itself by then, and hears that somebody decides: the request stays, and is that one's."""
    assert typed("tick").code == 0
    monkeypatch.setenv("FLEET_TICK_SECONDS", "0.05")
    store.take_turn("r1-a5a777", LONGEST)
    said = typed("cabling", "check", "--fabric", "infiniband.hall-1.leaf-1", "--wait", "3")
    assert said.code == 4
    assert "r1-a5a777 has not come to it in 0 s, so this command ticks, too" in " ".join(said.err.split())
    assert store.is_rung()
