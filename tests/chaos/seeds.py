"""Seeds on SQLite with one runner, or on PostgreSQL with three, and a report of them."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import nodes
from fleet_runner.settings import load
from tests import postgres
from tests.chaos.course import PATIENCE, Course, Seed, condemned, differences
from tests.chaos.disturbances import Disturbance, drawn
from tests.chaos.fates import fate, fates
from tests.chaos.herd import Herd
from tests.chaos.machine import Machine
from tests.chaos.quiet import stories, story
from tests.chaos.site import Site
from tests.chaos.witness import left_over, troubles

SOON = 10.0
"""Seconds within which a lease is over whose holder was killed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What seeds run on, so many in a row on one lab. `data` is a PostgreSQL's folder to copy, None for SQLite.

    On `healthy` hardware nothing breaks but what is ours.
    """

    python: Path
    data: Path | None = None
    nodes: int = 8
    disturbances: int = 6
    in_a_row: int = 1
    healthy: bool = False
    patience: float = 900.0


@dataclass(slots=True)
class Report:
    """What became of seeds; of the runs that were played on their nodes, how many were forked from a parent."""

    seeds: range
    plan: tuple[Disturbance, ...]
    wrong: list[str] = field(default_factory=list[str])
    told: list[str] = field(default_factory=list[str])
    logs: str = ""
    plays: int = 0
    forked: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Which they are."""
        return f"seed {self.seeds[0]}" if len(self.seeds) == 1 else f"seeds {self.seeds[0]} to {self.seeds[-1]}"

    def __str__(self) -> str:
        drawn = [f"  {each}" for each in self.plan]
        parts = [f"{self.name}: {len(self.wrong)} things are wrong", *self.wrong[:20], "drawn:", *drawn]
        return "\n".join([*parts, "what happened:", *self.told, *([self.logs] if self.wrong else [])])


def run(seeds: range, setting: Setting) -> Report:
    """Run seeds, one after the other on one lab; whatever happens, nothing of it lives afterwards."""
    plans = [drawn(seed, setting.disturbances, shared=setting.data is not None) for seed in seeds]
    report = Report(seeds, tuple(each for plan in plans for each in plan))
    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix=f"fleet-chaos-{seeds[0]}-"))
    try:
        _run(report, plans, setting, root)
    except Exception as error:  # noqa: BLE001  a report of many seeds says it beside the others
        report.wrong.append(f"{type(error).__name__}: {error} (see {root})")
    finally:
        report.seconds = time.monotonic() - began
        if not report.wrong:
            shutil.rmtree(root)
    return report


def _run(report: Report, plans: Sequence[tuple[Disturbance, ...]], setting: Setting, root: Path) -> None:
    several, of = setting.nodes, fates(report.seeds[0], healthy=setting.healthy)
    site = Site(root / "lab", several * len(plans), batch=max(4, several // 4), passive=max(10.0, several / 6))
    expected = stories(of, site, root / "quiet")
    site.write()
    with _database(setting.data) as server:
        runners = ("runner-1", "runner-2", "runner-3") if server else ("runner",)
        url = server.url if server else f"sqlite:///{site.state_dir('runner') / 'fleet.db'}"
        herd = Herd(site, of, setting.python, server.url if server else "")
        site.state_dir("runner").mkdir(mode=0o700)
        with Store.create(url, patience=PATIENCE) as store:
            store.register(nodes(read(load(**site.values("runner", url)))), time.time())
            seeds: list[Seed] = []
            for number, plan in enumerate(plans):
                names = site.names()[number * several : (number + 1) * several]
                seeds.append(Seed(names, plan, sum(len(expected[name].path) for name in names)))
            course = Course(of, herd, runners, tuple(seeds), store, setting.patience, server, report.told)
            try:
                course.run()
                found = {name: story(store, name) for name in site.names()}
                report.wrong += differences(expected, found)
                report.wrong += condemned(found) if setting.healthy else []
                until = time.monotonic() + SOON
                while (left := left_over(url)) and time.monotonic() < until:
                    time.sleep(1.0)
                report.wrong += left
            finally:
                herd.end()
                report.logs = herd.logs()
                for name in site.names():
                    machine = Machine(name, fate(of, name), site.machines / f"{name}.jsonl")
                    report.wrong += troubles(machine)
                    report.plays += len(machine.events("start"))
                    report.forked += len(machine.events("start", forked=True))


@contextmanager
def _database(data: Path | None) -> Iterator[postgres.Postgres | None]:
    if data is None:
        yield None
        return
    with postgres.running(data) as server:
        yield server
