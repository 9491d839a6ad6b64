"""What the store carries, and what waiting costs: `python benchmarks/runner_store.py [NODES] [--idle SECONDS]`.

On SQLite and on a PostgreSQL of the benchmark's own: runs opened, in decisions of one node each; lines of spools
taken in, as plays of twenty nodes tell them; and on PostgreSQL batches claimed, as a runner with eight slots takes
and begins them. Then what a `fleet-runner serve` costs while so many nodes (10,000) wait and nothing is due. CPU is
that of this process, and of PostgreSQL's.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner import Runners, below, name, postmaster, rest, say
from sqlalchemy import create_engine

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.placement import Offer
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, Line, PlayEnd, Progress
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop.leader import described
from fleet_runner.settings import Settings
from tests import postgres
from tests.taking import take

NODES = 1_000
TOGETHER = 20
CHECKS = 12
NOW = 1_000_000.0


@dataclass(frozen=True, slots=True)
class Rate:
    """So many things a second by the clock, and the CPU milliseconds of one of them here and in the database."""

    things: float
    here: float
    database: float

    def __str__(self) -> str:
        return f"{self.things:9,.0f}/s, {self.here:.3f} ms CPU + {self.database:.3f} ms of PostgreSQL each"


def timed(count: int, pid: int, work: Callable[[], object]) -> Rate:
    """Do some work that is so many things, and return what they took."""
    cpu, database, began = time.process_time(), below(pid), time.monotonic()
    work()
    took, cpu, database = time.monotonic() - began, time.process_time() - cpu, below(pid) - database
    return Rate(count / took, cpu / count * 1000, database / count * 1000)


def told(node: str) -> Iterator[Line]:
    """Yield what a sweep of one node tells: some checks, each with a text that says the same on every node."""
    yield Progress(node, NOW, 0, 1, "The node's health is known")
    for check in range(CHECKS):
        yield Evidence(node, NOW, f"read {check}", f"{check:064x}", f"what check {check} read, " * 40)
        yield Judged(node, NOW, Result(f"check_{check}", Verdict.PASS, "as expected", observed={"value": check}))
    yield Ended(node, NOW, PlayEnd.OK)


def batch(number: int) -> str:
    """Return the batch of a node."""
    return f"bench-{number // TOGETHER}"


def opened(store: Store) -> None:
    """Open a run on every node."""
    for number, node in enumerate(store.nodes()):
        run = OpenRun(Stage.HEALTH_PASSIVE, "bench", "bench", batch=batch(number))
        store.apply(node, Decision((run,), "Runs.", NOW + 1e6), NOW)


def taken_in(store: Store, spools: dict[str, list[Line]]) -> None:
    """Take in what all plays told, a play at a time."""
    for each, lines in spools.items():
        store.ingest(each, 0, len(lines), lines)


def claimed(store: Store, settings: Settings) -> None:
    """Take and begin every batch that is offered, as runners that have no others do."""
    me = described(settings)
    store.begin_runner(me)
    while found := take(store, me.id):
        for each in found:
            store.start_parcel(each.batch, "bench", 60.0)
            store.finish_parcel(each.batch, 0, "")


def store_of(url: str, settings: Settings, pid: int) -> Iterator[str]:
    """Yield a line for each thing that the store is asked to do."""
    with Store.create(url) as store:
        store.register([Device(name(each), "t", "gpu-server", "hall") for each in range(NODES)], NOW)
        yield f"runs opened    {timed(NODES, pid, lambda: opened(store))}"
        spools: dict[str, list[Line]] = {}
        for number in range(NODES):
            spools.setdefault(batch(number), []).extend(told(name(number)))
        if store.shared:
            for each in spools:
                runs = {run.node: {"run": run.id} for run in store.open_runs() if run.batch == each}
                store.offer(Offer(each, Stage.HEALTH_PASSIVE.value, runs))
            yield f"batches taken  {timed(len(spools), pid, lambda: claimed(store, settings))}"
        lines = sum(map(len, spools.values()))
        yield f"lines taken in {timed(lines, pid, lambda: taken_in(store, spools))}"


def waiting(folder: Path, count: int, seconds: float, given: tuple[str, int]) -> str:
    """Return what serving costs while so many nodes wait."""
    url, pid = given
    site = folder / "site"
    if not site.exists():
        site.mkdir()
        devices = "".join(
            f"- {{name: {name(each)}, device_type: t, role: gpu-server, site: s}}\n" for each in range(count)
        )
        (site / "devices.yml").write_text(f"devices:\n{devices}")
        (site / "device_types.yml").write_text("device_types:\n- {slug: t, manufacturer: m, model: t}\n")
        (site / "sites.yml").write_text("sites:\n- {name: s}\n")
        (folder / "fleet.toml").write_text(f'source = "{site}"\n')
    settings = Settings(state_dir=folder / ("postgresql" if pid else "sqlite"), runner_name="bench", database_url=url)
    settings.state_dir.mkdir()
    engine = create_engine(url)
    with Store.create(url) as store:
        rest(store, engine, site)
        runners = Runners(store, engine, [settings])
        try:
            runners.start(folder / "fleet.toml")
            time.sleep(seconds / 2)  # the first tick looks at every node
            cpu, database = runners.cpu(), below(pid)
            time.sleep(seconds)
            here, there = runners.cpu() - cpu, below(pid) - database
        finally:
            runners.stop()
            engine.dispose()
    return f"{count} nodes wait: serve takes {here / seconds:.2%} of a core, PostgreSQL {there / seconds:.2%}"


def main(arguments: list[str]) -> int:
    """Print a line for each measurement as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="?", default=10_000)
    parser.add_argument("--idle", type=float, default=20.0, metavar="SECONDS")
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-bench-")))
        data = stack.enter_context(postgres.template())
        for kind in ("SQLite", "PostgreSQL"):
            with contextlib.ExitStack() as inner:
                server = inner.enter_context(postgres.running(data)) if kind == "PostgreSQL" else None
                url, pid = server.url if server else f"sqlite:///{folder / 'fleet.db'}", postmaster(server)
                settings = Settings(state_dir=folder / f"state-{kind}", runner_name="bench", database_url=url)
                settings.state_dir.mkdir()
                say(f"{kind}: what the store carries")
                for line in store_of(url, settings, pid):
                    print(f"{kind:10} {line}", flush=True)
            with contextlib.ExitStack() as inner:
                server = inner.enter_context(postgres.running(data)) if kind == "PostgreSQL" else None
                url, pid = server.url if server else f"sqlite:///{folder / 'waiting.db'}", postmaster(server)
                say(f"{kind}: what waiting costs")
                print(f"{kind:10} {waiting(folder, options.nodes, options.idle, (url, pid))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
