"""How large a fleet one runner and one store carry, and what breaks first: `python benchmarks/fleet.py [NODES ...]`.

A process for each size simulates the fleet, four servers to a rack, on a SQLite store: the first tick; a passive
sweep of SWEPT nodes, whose plays are a stand-in that answers at once; ticks with nothing to do; alarms of one node in
a hundred and the tick that follows; the fleet's page. The sweep of some is reckoned up to all: the table shows
whether a node's share stays the same as the fleet grows.

Costs are CPU seconds of the process, beside what the settings ask for as they are delivered: every node is swept once
in `passive_schedule`, a tick comes every `tick_seconds`. What plays themselves cost is not simulated: PLAY is the CPU
of one node's sweep as `benchmarks/sweep.py` measured it. At last it says at which size each limit is met, the first
one first, and what it would take.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sqlalchemy import create_engine, text
from tick import Idle, cpu, raise_alarms

from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Judged, Line, PlayEnd, encode
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings
from fleet_runner.web.fleet import FRESH_SECONDS
from tests.web.hall import NOW, described
from tests.web.served import served

SIZES = (1_000, 10_000, 30_000, 100_000)
SWEPT = 160
"""Nodes that are swept: as many as there is room for in plays at once."""
ASKED = tuple(CHECKS)[:30]
"""Checks that a sweep asks of a node."""

PLAY = 0.172
"""CPU seconds of the controller for one node's passive sweep over ssh: see docs/benchmarks.md, A passive sweep."""

DAY = 86_400.0
CORES, DISK = 16.0, 50.0
"""Of one machine: its cores, and the GB that may be added to it in a day."""


class Answering(Idle):
    """An engine whose plays are over at once, with every check passed."""

    def __init__(self) -> None:
        self.said: dict[str, bytes] = {}

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Write what the play says."""
        del settings
        lines = (line for name, run in batch.runs.items() for line in told(name, float(run["opened_at"]) + 1.0))
        self.said[batch.id] = "".join(map(encode, lines)).encode()

    def look(self, settings: Settings, batch_id: str) -> Look:
        """It has ended."""
        del settings, batch_id
        return Look(BatchState.ENDED, 0)

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """Return all that was said since."""
        del settings
        return Decoded.of(self.said.get(batch_id, b"")[offset:])

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Forget it."""
        del settings
        self.said.pop(batch_id, None)


def told(name: str, at: float) -> list[Line]:
    """Return what the sweep of a healthy and idle node says; texts are not part of it, others measured these."""
    passed = [Result(check, Verdict.PASS, "as expected", observed={"value": 1.5, "in_use": False}) for check in ASKED]
    return [*(Judged(name, at, each) for each in passed), Ended(name, at, PlayEnd.OK)]


def serve(store_url: str, swept: int) -> None:
    """Have every node serve, and some be due now."""
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE nodes SET state = 'production', since = :at, wake_at = 1e12"), {"at": NOW})
        due = text("UPDATE nodes SET wake_at = 0 WHERE name IN (SELECT name FROM nodes ORDER BY name LIMIT :some)")
        connection.execute(due, {"some": swept})
    engine.dispose()


def sweep(world: TickContext, runs: int, now: float) -> float:
    """Return the CPU seconds from the moment that nodes are due until so many runs ended, and the nodes rest."""
    began, closed = time.process_time(), 0
    while closed < runs:
        now += world.settings.tick_seconds
        closed += tick(world, now).closed
    tick(world, now + world.settings.tick_seconds)
    return time.process_time() - began


def pages(store: Store, world: TickContext, fleet: Fleet, folder: Path) -> tuple[float, float]:
    """Return the CPU seconds of the fleet's page, the first of a process and one after a change; and its MB."""
    with served(store, fleet, folder) as site, site.client(Role.VIEWER) as client:
        client.get("/fleet").raise_for_status()
        tick(world, NOW + 4_000.0)
        time.sleep(FRESH_SECONDS + 0.1)  # within which nobody looks whether something changed
        began = time.process_time()
        answer = client.get("/fleet").raise_for_status()
        return time.process_time() - began, len(answer.content) / 1e6


def size(store_url: str) -> int:
    """Return the bytes of a store, with all that was written in its file."""
    engine = create_engine(store_url)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        bytes_ = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    engine.dispose()
    return int(pages * bytes_)


def simulated(count: int) -> dict[str, float]:
    """Simulate a fleet of one size in this process."""
    swept = min(SWEPT, count)
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(state_dir=Path(name))
        with Store.create(settings.store_url) as store:
            store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, NOW - 1, "bench"))
            fleet = described(count)
            world = TickContext(settings, store, lambda: fleet, Answering())
            registered = replace(fleet, devices={k: replace(v, status="planned") for k, v in fleet.devices.items()})
            first = cpu(replace(world, read_source=lambda: registered), NOW - 10.0)
            tick(world, NOW - 5.0)  # reads the source and its cables, which happens once and not for each sweep
            serve(settings.store_url, swept)
            sweep(world, 2 * swept, NOW)  # with a look at the node's cables, which is due every four hours alone
            before = size(settings.store_url)
            taken = sweep(world, swept, NOW + 2 * settings.schedule("passive").times.pause)
            grown = size(settings.store_url) - before
            idle = sorted(cpu(world, NOW + 700.0 + at) for at in range(9))[4]
            raise_alarms(store, [f"gpu-{at + 1:05d}" for at in range(count - count // 100, count)], NOW + 750.0)
            alarmed = cpu(world, NOW + 751.0)
            page, megabytes = pages(store, world, fleet, Path(name))
    period = settings.schedule("passive").times.pause
    return {
        "nodes": count,
        "first tick, s": first,
        "idle tick, share of a core": idle / settings.tick_seconds,
        "1 % with an alarm, s": alarmed,
        "sweep, ms a node": 1000.0 * taken / swept,
        "sweeps, cores of the one who decides": taken / swept * count / period,
        "sweeps, cores for plays": PLAY * count / period,
        "sweeps, GB a day": grown / swept * count * DAY / period / 1e9,
        "page, s": page,
        "page, MB": megabytes,
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


LIMITS = {
    "sweeps, cores for plays": (CORES, "more runners, which share a PostgreSQL, or a longer passive_schedule"),
    "sweeps, cores of the one who decides": (
        1.0,
        "a longer passive_schedule: one runner decides, whatever runners there are",
    ),
    "sweeps, GB a day": (DISK, "a longer passive_schedule, or shorter retention of passes"),
    "idle tick, share of a core": (0.1, "a longer tick_seconds"),
    "first tick, s": (20.0, "nothing: it happens once"),
    "page, s": (1.0, "pages by site: /fleet?site=, which costs as much; or rows kept between pages"),
    "page, MB": (1.0, "pages by site"),
    "peak memory, MB": (4_096.0, "a larger machine"),
}
"""What one machine gives, and what it takes to go beyond."""


def breaks(rows: list[dict[str, float]]) -> list[str]:
    """Say at which size each limit is met, on a straight line between the sizes around it; the first one first."""
    found: list[tuple[float, str]] = []
    for name, (limit, takes) in LIMITS.items():
        over = next((at for at, row in enumerate(rows) if row[name] > limit), None)
        if over is None:
            continue
        low, high = (rows[over - 1] if over else dict.fromkeys(rows[0], 0.0)), rows[over]
        share = (limit - low[name]) / (high[name] - low[name])
        nodes = low["nodes"] + share * (high["nodes"] - low["nodes"])
        found.append((nodes, f"{nodes:9,.0f} nodes: {name} passes {limit:g}; it takes {takes}"))
    return [line for _, line in sorted(found)]


def main() -> None:
    """Simulate each size in a process of its own, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--alone", action="store_true", help="simulate one size here, and print JSON")
    asked = parser.parse_args()
    if asked.alone:
        print(json.dumps(simulated(asked.nodes[0])))
        return
    rows: list[dict[str, float]] = []
    for count in sorted(asked.nodes):
        command = [sys.executable, __file__, str(count), "--alone"]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603  this file
        rows.append(json.loads(said.splitlines()[-1]))
        print(said, end="", file=sys.stderr)  # large ones take long
    print("| | " + " | ".join(f"{row['nodes']:,}" for row in rows) + " |\n|---" + "|---:" * len(rows) + "|")
    for name in list(rows[0])[1:]:
        print(f"| {name} | " + " | ".join(f"{row[name]:,.3g}" for row in rows) + " |")
    print("\n".join(["", *(breaks(rows) or ["no limit was met"])]))


if __name__ == "__main__":
    main()
