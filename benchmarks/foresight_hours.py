"""What a night of foresight costs while a history of hourly results grows, all of them stored and gathered.

`python benchmarks/foresight_hours.py [--nodes N] [--days N] [--folder FOLDER]` makes a store of N nodes (100) with 8
GPUs each. Of each hour of each day there are a run of each node and its results, 15 of them, which tell 50 of the
metrics that are followed of 8 parts each, and the serial numbers of GPUs, HCAs and disks. Nothing is filled in as
days: after each day a night of its own process gathers what is new, and on the first, the middle and the last night
the whole job runs, as the schedule runs it. Clock, CPU and memory are told for each night, beside the store's size.

Results are written past the store, many at a time and without waiting for the disk; columns and indexes are those of
the store. What they rest on, the evidence, is not there: gathering reads none of it, and retention drops it first.
Ended early (Ctrl-C, SIGTERM), it says what it knows by then, and leaves nothing behind.
"""

import argparse
import json
import multiprocessing
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from foresight_night import measured, name, pci, say

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.reliability.trends.metrics import METRICS, UNITS, Kind, Metric
from fleet_runner.core.reliability.trends.panel import DAY
from fleet_runner.reconcile.reliability import nightly
from fleet_runner.settings import Settings

PARTS, FOLLOWED, HOURS, VARIANTS, FIRST = 8, 50, 24, 6, 20_000
"""Parts of a kind in a node, metrics, looks a day, texts of a node to draw from, the first day since the epoch."""

KEYS = {
    "gpu": pci, "port": "mlx5_{}/1".format, "hca": "mlx5_{}/1".format, "nic": "ens{}np0".format,
    "optic": "ens{}np0".format, "nvme": "nvme{}n1".format,
}  # fmt: skip
"""How a part of a kind is called by its number."""

SERIALS = {"parts_gpu": ("gpu", "parts"), "parts_hca": ("hca", "guids"), "parts_nvme": ("nvme", "serials")}

COUNT = '"count"'
"""Stands in a text for what all counters of a node say at a look: they grow."""

MINE = tuple(each for each in METRICS if each.part in KEYS and each.kind is not Kind.MEASURED)[:FOLLOWED]
CHECKS = tuple(sorted({each.check for each in MINE} | SERIALS.keys()))

RUN = (
    "INSERT INTO runs (id, node, stage, fence, opened_at, by, reason, ended_at, outcome, detail, done, total, task) "
    "VALUES (?, ?, 'health_passive', 0, ?, '', '', ?, 'passed', '', 0, 0, '')"
)
RESULT = (
    'INSERT INTO results (run, node, stage, at, "check", verdict, message, findings, observed, evidence) '
    "VALUES (?, ?, 'health_passive', ?, ?, ?, '', ?, ?, ?)"
)
LATEST = (
    'INSERT OR REPLACE INTO latest SELECT node, "check", max(id), max(id) FROM results WHERE id > ? GROUP BY 1, 2'
)


def lying(into: dict[str, Any], path: list[str], value: Any) -> None:
    """Put a value where a metric says that it lies."""
    for word in path[:-1]:
        into = into.setdefault("all" if word == "+" else word, {})
    into["all" if path[-1] == "+" else path[-1]] = value


def texts(node: int, random: np.random.Generator) -> list[dict[str, str]]:
    """Return what a node's checks may observe, in so many variants: parts have levels of their own."""
    level = random.uniform(0.2, 0.7, (len(MINE), PARTS))
    found = []
    for _ in range(VARIANTS):
        observed: dict[str, dict[str, Any]] = {check: {} for check in CHECKS}
        for (number, metric), part in ((each, part) for each in enumerate(MINE) for part in range(PARTS)):
            path = [KEYS[metric.part](part) if word == "*" else word for word in metric.observed.split(".")]
            value = told(metric, level[number, part] + random.normal() / 100)
            lying(observed[metric.check], path, "count" if metric.kind is Kind.COUNTER else value)
        for check, (kind, where) in SERIALS.items():
            these = {KEYS[kind](part): {"serial": f"{kind}-{node}-{part}"} for part in range(PARTS)}
            observed[check][where] = {f"GPU {key}": each for key, each in these.items()} if kind == "gpu" else these
        found.append({check: json.dumps(each) for check, each in observed.items()})
    return found


def told(metric: Metric, share: float) -> float:
    """Return a number of a metric's unit; what is counted is a small whole one."""
    if metric.unit == "count":
        return int(4 * share)
    low, high = UNITS[metric.unit]
    return round(max(low, 0.0) + share * min(high - max(low, 0.0), 100.0), 1)


@dataclass(slots=True)
class Writer:
    """Writes days of results, past the store."""

    path: Path
    known: list[list[dict[str, str]]]
    random: np.random.Generator
    run: int = 0
    results: int = 0

    def day(self, day: int) -> None:
        """Write the hours of a day, each in a transaction of its own."""
        connection = sqlite3.connect(self.path)
        connection.execute("PRAGMA synchronous = OFF")
        before = self.results
        for hour in range(HOURS):
            at = day * DAY + (hour + 0.5) * DAY / HOURS
            begun = [(self.run + node + 1, name(node), at, at + 60) for node in range(len(self.known))]
            with connection:
                connection.executemany(RUN, begun)
                connection.executemany(RESULT, self._rows(at))
            self.run += len(begun)
        with connection:
            connection.execute(LATEST, (before,))
        connection.close()

    def _rows(self, at: float) -> Iterator[tuple[Any, ...]]:
        """Yield one look's results; in each, one node has a fault."""
        faulty = int(self.random.integers(len(self.known)))
        drawn = self.random.integers(VARIANTS, size=len(self.known))
        counted = str(int(at - FIRST * DAY) // 3600)
        for node, variants in enumerate(self.known):
            for check, text in variants[drawn[node]].items():
                bad = node == faulty and check == "gpu_errors"
                code = {"code": "xid.48", "component": f"GPU {pci(0)}", "fault": f"{name(node)} {pci(0)}"}
                self.results += 1
                said = text.replace(COUNT, counted)
                hashed = json.dumps([f"{self.results:064x}"])
                verdict, findings = ("FAIL", json.dumps([code])) if bad else ("PASS", "[]")
                yield self.run + node + 1, name(node), at, check, verdict, findings, said, hashed


def night(settings: Settings, day: int, tell: Any, *, whole: bool) -> None:
    """Make a night, and tell what it took: what it gathered, and the whole job where that is wanted."""
    taken: dict[str, tuple[float, float, float]] = {}
    now = (day + 1) * DAY + 9_000.0
    with Store.open(settings.store_url) as store:
        with measured(taken, "gathering"):
            done = store.gather(METRICS, lambda _: None, now=now)
        if whole:
            with measured(taken, "all else"):
                try:
                    nightly.run(settings, store, lambda: None, lambda _: None, now)
                except FleetError as error:
                    say(str(error))
    tell.put((done.results, done.numbers, taken))


def main() -> None:
    """Write a day, make its night, and so on."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--folder", help="where the store is made: some 80 MB a day for 100 nodes")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended early"))
    context = multiprocessing.get_context("fork")
    tell = context.SimpleQueue()
    gathering: list[float] = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        settings = Settings(state_dir=Path(folder), source=folder, policy_file=None)
        (Path(folder) / "inventory").mkdir()
        with Store.create(settings.store_url) as store:
            store.register([Device(name(each), "t", "gpu-server", "hall") for each in range(given.nodes)], 1.0)
        path = Path(settings.store_url.removeprefix("sqlite:///"))
        random = np.random.default_rng(1)
        writer = Writer(path, [texts(node, random) for node in range(given.nodes)], random)
        for each in range(1, given.days + 1):
            began = time.process_time()
            writer.day(FIRST + each - 1)
            wrote = time.process_time() - began
            whole = each in {1, (given.days + 1) // 2, given.days}
            process = context.Process(target=night, args=(settings, FIRST + each - 1, tell), kwargs={"whole": whole})
            process.start()
            read, numbers, taken = tell.get()
            process.join()
            gathering.append(taken["gathering"][1])
            parts = "; ".join(f"{what} {s:.1f} s {cpu:.2f} s CPU {mb:.0f} MB" for what, (s, cpu, mb) in taken.items())
            size = path.stat().st_size / 1e9
            print(f"night {each}: {read} results, {numbers} numbers; {parts}; store {size:.2f} GB, "
                  f"{writer.results} results in it, written in {wrote:.1f} s CPU", flush=True)  # fmt: skip
        fifth = max(1, len(gathering) // 5)
        first, last = (float(np.median(some)) for some in (gathering[:fifth], gathering[-fifth:]))
        print(
            f"gathering: the first {fifth} nights {first:.2f} s CPU, the last {last:.2f} ({last / first:.2f} times)"
        )


if __name__ == "__main__":
    main()
