"""Runners on one PostgreSQL of the test's own, whose plays are real and write a witness."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

import pytest
from sqlalchemy import create_engine, make_url, text

from fleet_runner.adapters.plays import batch_folder, leased_engine, processes
from fleet_runner.adapters.plays.engine import Batch, Look
from fleet_runner.adapters.plays.job_worker import JobWorker
from fleet_runner.adapters.plays.leased_engine import Leased
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.placement import BatchSummary, Runner
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.runs import Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings
from tests.adapters.plays.engine.conftest import Site
from tests.adapters.store.builders import UrlMaker, decision, device, node
from tests.adapters.store.conftest import (  # noqa: F401  fixtures
    postgresql,
    postgresql_urls,
)
from tests.waiting import until

LEASE = 24.0
"""Seconds: half of it is the longest pause between two renewals that costs no play, and computers are busy."""


@dataclass(slots=True)
class Hands:
    """What a runner does for its worker, and nothing else."""

    store: Store
    settings: Settings
    name: str
    given: list[str] = field(default_factory=list[str])

    def queues(self) -> tuple[str, ...]:
        """Return the queues that it takes jobs of now."""
        return self.store.reached(self.name)

    def start(self, batch: str) -> None:
        """Start a batch."""
        self.given.append(batch)
        leased_engine.begin(self.settings, self.store, self.name, batch)

    def look(self) -> None:
        """Decide nothing: nobody does."""


class Hall:
    """A project with one store; `settings(name)` are those of one runner, with a folder of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.site = Site(folder)
        self.url = url
        self.batch = f"verify-{token_hex(6)}"  # processes are found by it: no other test may have the same one
        self.store = Store.open(url)
        self.store.register([device("gpu-01"), device("gpu-02")], 100.0)
        self.engine = Leased(self.store)

    def settings(self, name: str, **more: object) -> Settings:
        """Return one runner's settings; it is known from then on."""
        found = self.site.settings.model_copy(
            update={"database_url": self.url, "state_dir": self.site.folder / name, "lease_seconds": LEASE, **more}
        )
        self.store.begin_runner(Runner(name, "host", "1", (), found.batches_at_once))
        return found

    def offer(self, batch: str, *names: str) -> tuple[Run, ...]:
        """Open a run of verify on some nodes, and offer their batch."""
        opened = tuple(
            run
            for name in names or ("gpu-01",)
            for run in self.store.apply(
                node(self.store, name), decision(OpenRun(Stage.VERIFY, "It is time.", batch=batch)), time.time()
            )
        )
        told = {run.node: {"run": run.id, "fence": run.fence, "since": 0.5} for run in opened}
        self.engine.launch(self.site.settings, Batch(batch, Stage.VERIFY, told))
        return opened

    def carry(self, settings: Settings, name: str) -> list[str]:
        """Have a runner's worker take what there is, and start it; return which batches it was given."""
        hands = Hands(self.store, settings, name)
        JobWorker(settings, name, hands).run(wait=False)
        return hands.given

    def parcel(self, batch: str) -> BatchSummary:
        """Read a parcel that is there."""
        return self.store.parcels([batch])[0]

    def look(self, batch: str) -> Look:
        """Look as whoever decides does."""
        self.store.lapse_parcels()
        return self.engine.look(self.site.settings, batch)

    def folder(self, settings: Settings, batch: str) -> Path:
        """Return a batch's folder at a runner."""
        return settings.batches_dir / batch

    def supervisor(self, folder: Path) -> int:
        """Return the supervisor's process id."""
        return int(batch_folder.read_json(folder / batch_folder.STARTED)["pid"])

    def began(self, batch: str) -> None:
        """Wait until a batch has begun."""
        until(lambda: self.parcel(batch).started_at is not None)

    def without_server(self) -> Callable[[], None]:
        """Let nobody connect to this database and cut who is; return what ends that."""
        url = make_url(self.url)
        name = url.database
        admin = create_engine(url.set(database="template1"), isolation_level="AUTOCOMMIT")

        def allow(*, yes: bool) -> None:
            with admin.connect() as connection:
                connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {str(yes).lower()}"))
                if not yes:
                    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"
                    connection.execute(text(cut), {"name": name})
            admin.dispose()

        allow(yes=False)
        return lambda: allow(yes=True)

    def close(self) -> None:
        """End whatever is left of every batch, each by its own id, a warden first: nobody else ends."""
        for folder in self.site.folder.glob("*/batches/*"):
            for one in processes.tagged(folder.name):
                with suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL)
        self.store.close()
        self.site.close()


@pytest.fixture
def hall(tmp_path: Path, postgresql_urls: UrlMaker) -> Iterator[Hall]:  # noqa: F811  a fixture
    """A project and a store that end with the test."""
    made = Hall(tmp_path, postgresql_urls())
    yield made
    made.close()
