"""A seed on SQLite with one runner, or on PostgreSQL with three, and a report of it."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner.adapters.store import Store
from tests import postgres
from tests.chaos.course import PATIENCE, Course, differences
from tests.chaos.disturbances import Disturbance, drawn
from tests.chaos.fates import fate
from tests.chaos.herd import Herd
from tests.chaos.machine import Machine
from tests.chaos.quiet import stories, story
from tests.chaos.site import Site
from tests.chaos.witness import left_over, troubles

SOON = 10.0
"""Seconds within which a lease is over whose holder was killed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a seed runs on. `data` is a PostgreSQL's data folder to copy, None for SQLite."""

    python: Path
    data: Path | None = None
    nodes: int = 8
    disturbances: int = 6
    patience: float = 900.0


@dataclass(slots=True)
class Report:
    """What became of a seed."""

    seed: int
    plan: tuple[Disturbance, ...]
    wrong: list[str] = field(default_factory=list[str])
    told: list[str] = field(default_factory=list[str])
    logs: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        drawn = [f"  {each}" for each in self.plan]
        parts = [f"seed {self.seed}: {len(self.wrong)} things are wrong", *self.wrong[:20], "drawn:", *drawn]
        return "\n".join([*parts, "what happened:", *self.told, *([self.logs] if self.wrong else [])])


def run(seed: int, setting: Setting) -> Report:
    """Run a seed; whatever happens, nothing of it lives afterwards."""
    report = Report(seed, drawn(seed, setting.disturbances, shared=setting.data is not None))
    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix=f"fleet-chaos-{seed}-"))
    try:
        _run(report, setting, root)
    except Exception as error:  # noqa: BLE001  a report of many seeds says it beside the others
        report.wrong.append(f"{type(error).__name__}: {error} (see {root})")
    finally:
        report.seconds = time.monotonic() - began
        if not report.wrong:
            shutil.rmtree(root)
    return report


def _run(report: Report, setting: Setting, root: Path) -> None:
    site = Site(root / "lab", setting.nodes, batch=max(4, setting.nodes // 4), passive=max(10.0, setting.nodes / 6))
    expected = stories(report.seed, site, root / "quiet")
    site.write()
    with _database(setting.data) as server:
        runners = ("runner-1", "runner-2", "runner-3") if server else ("runner",)
        url = server.url if server else f"sqlite:///{site.state_dir('runner') / 'fleet.db'}"
        herd = Herd(site, report.seed, setting.python, server.url if server else "")
        site.state_dir("runner").mkdir(mode=0o700)
        with Store.create(url, patience=PATIENCE) as store:
            steps = sum(len(each.path) for each in expected.values())
            course = Course(
                report.seed, herd, runners, report.plan, store, steps, setting.patience, server, report.told
            )
            try:
                course.run()
                found = {name: story(store, name) for name in site.names()}
                report.wrong += differences(expected, found)
                until = time.monotonic() + SOON
                while (left := left_over(url)) and time.monotonic() < until:
                    time.sleep(1.0)
                report.wrong += left
            finally:
                herd.end()
                report.logs = herd.logs()
                for name in site.names():
                    report.wrong += troubles(Machine(name, fate(report.seed, name), site.machines / f"{name}.jsonl"))


@contextmanager
def _database(data: Path | None) -> Iterator[postgres.Postgres | None]:
    if data is None:
        yield None
        return
    with postgres.running(data) as server:
        yield server
