"""The engine's worker of a runner: whatever becomes of it, a batch begins once or never, and nothing is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from procrastinate.jobs import Job
from sqlalchemy import text

from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.job_worker import JobWorker, Manager
from fleet_runner.adapters.plays.leased_engine import Leased
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.placement import Offer, Runner
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop.leader import RunnerStatus
from fleet_runner.settings import Settings
from tests.adapters.store.builders import UrlMaker, decision, device
from tests.carrying.conftest import Hands
from tests.waiting import until

KILLS = int(os.environ.get("FLEET_TEST_KILLS", "15"))
"""Workers that are killed, at one point after the other."""


def die(*_: object, **__: object) -> None:
    """Be killed here."""
    os.kill(os.getpid(), signal.SIGKILL)


def _instead(owner: object, name: str, does: object) -> None:
    setattr(owner, name, does)


def _after(owner: object, name: str) -> None:
    real = getattr(owner, name)

    def dies(*given: object, **named: object) -> None:
        real(*given, **named)
        die()

    _instead(owner, name, dies)


def _after_fetch() -> None:
    real = Manager.fetch_job

    async def dies(manager: Manager, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        found = await real(manager, queues, worker_id)
        if found is not None:
            die()
        return found

    _instead(Manager, "fetch_job", dies)


POINTS: tuple[Callable[[], None], ...] = (
    _after_fetch,
    lambda: _instead(Store, "claim_parcel", die),
    lambda: _after(Store, "claim_parcel"),
    lambda: _after(engine, "_specify"),
    lambda: _instead(Manager, "finish_job", die),
)
"""Between each two statements of taking: the job, the batch's row, its folder, its supervisor, the job's end."""


@pytest.fixture
def shared(postgresql_urls: UrlMaker) -> Iterator[tuple[Store, str]]:
    """A store with a batch for each kill, and its URL."""
    url = postgresql_urls()
    with Store.open(url) as store:
        store.register([device(f"gpu-{number:03}") for number in range(KILLS)], 100.0)
        for each in store.nodes():
            batch = f"verify-{each.name}"
            (opened,) = store.apply(each, decision(OpenRun(Stage.VERIFY, "It is time.", batch=batch)), 200.0)
            store.offer(Offer(batch, "verify", {each.name: {"run": opened.id, "fence": opened.fence}}))
        store.begin_runner(Runner("r1", "host", "1", (), 10 * KILLS))
        yield store, url


def scalar(store: Store, query: str) -> int:
    """Return the one number that a question is answered with."""
    with store._database.read() as connection:
        return int(connection.execute(text(query)).scalar_one())


def killed(url: str, settings: Settings, point: Callable[[], None], begun: Path) -> None:
    """Have a worker take a batch in a process of its own, and be killed on the way."""
    child = os.fork()
    if child == 0:
        try:
            store = Store.open(url)

            def spawn(folder: Path, *_: object) -> int:
                """Stand for a supervisor, as far as it begins its batch."""
                if store.start_parcel(folder.name, f"{os.getpid()}", 600.0):
                    with begun.open("a") as file:
                        file.write(f"{folder.name}\n")
                return os.getpid()

            _instead(engine, "_spawn", spawn)
            point()
            JobWorker(settings, "r1", Hands(store, settings, "r1")).run(wait=False)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was not killed"


def test_a_batch_begins_once_or_never_wherever_its_worker_is_killed(
    shared: tuple[Store, str], tmp_path: Path
) -> None:
    """And a job that nobody works at any more is failed by another worker, and repeated by none."""
    (store, url), begun = shared, tmp_path / "begun"
    settings = Settings(state_dir=tmp_path, database_url=url, lease_seconds=5.0)
    for number in range(KILLS):
        killed(url, settings, POINTS[number % len(POINTS)], begun)
    assert scalar(store, "SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'") == 0
    other = RunnerStatus(settings.model_copy(update={"state_dir": tmp_path / "other"}), store, lambda: None)
    other.begin()
    with other.beside():
        until(lambda: scalar(store, "SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing'") == 0)
    with store._database.write() as connection:
        connection.execute(text("UPDATE parcels SET until = until - 60 WHERE started_at IS NULL AND until > 0"))
    store.lapse_parcels()
    told = begun.read_text().split()
    assert len(told) == len(set(told)) == sum(number % len(POINTS) == 4 for number in range(KILLS))
    assert sorted(parcel.batch for parcel in store.parcels()) == sorted(told)
    looks = Leased(store).looks(f"verify-gpu-{number:03}" for number in range(KILLS))
    assert {look.state.value for batch, look in looks.items() if batch not in told} == {"dropped"}
    failed = "SELECT count(*) FROM procrastinate_jobs WHERE status = 'failed' AND attempts = 1"
    assert scalar(store, failed) == KILLS
    assert scalar(store, "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'fleet:begin'") == KILLS


def test_a_worker_that_was_frozen_and_removed_comes_back_as_another_one(
    tmp_path: Path, postgresql_urls: UrlMaker
) -> None:
    """The engine goes on as if it were known, and whatever it is given would be taken from it again."""
    settings = Settings(state_dir=tmp_path, database_url=postgresql_urls(), lease_seconds=5.0)
    with Store.open(settings.store_url) as store:
        runner = RunnerStatus(settings, store, lambda: None)
        runner.begin()
        known = "SELECT coalesce(max(id), 0) FROM procrastinate_workers"
        with runner.beside():
            until(lambda: scalar(store, known) > 0)
            first = scalar(store, known)
            with store._database.write() as connection:
                connection.execute(text("DELETE FROM procrastinate_workers"))
            until(lambda: scalar(store, known) > first)
        assert scalar(store, known) == 0


def test_a_ring_reaches_whoever_decides(tmp_path: Path, postgresql_urls: UrlMaker) -> None:
    url, heard = postgresql_urls(), list[float]()
    with Store.open(url) as store:
        found = {
            name: RunnerStatus(Settings(state_dir=tmp_path / name, database_url=url), store, heard_by)
            for name, heard_by in {"one": lambda: heard.append(time.monotonic()), "other": lambda: None}.items()
        }
        found["one"].begin()
        found["other"].begin()
        heard.clear()
        with found["one"].beside(), found["other"].beside():
            until(lambda: scalar(store, "SELECT count(*) FROM procrastinate_workers") == 2)
            store.ring()
            until(lambda: heard)
            until(lambda: not store.is_rung())


def test_the_engines_own_command_reads_the_store_of_the_settings(postgresql_urls: UrlMaker) -> None:
    """As docs/runners.md says."""
    command = [str(Path(sys.executable).with_name("procrastinate"))]
    command += ["--app", "fleet_runner.adapters.plays.job_worker.app", "healthchecks"]
    given = {"FLEET_DATABASE_URL": postgresql_urls()}
    said = subprocess.run(command, env=os.environ | given, capture_output=True, text=True, check=False)
    assert (said.returncode, "Found procrastinate_jobs table: OK" in said.stdout) == (0, True), said
