"""What a night of foresight costs a fleet, and that it grows with the day's results and not with what is stored.

`python benchmarks/foresight_night.py [--nodes N] [--history DAYS ...] [--looks N]` makes a store of N nodes (10,000)
with 8 GPUs each. Each of 50 metrics, ten of them counters, has so many days behind it, filled straight in as they are
kept; the last day lies there as results, N a node (24), of 400 numbers each. A night is a process of its own: it
gathers, looks at each metric's newest 90 days for drift and for the heat map, and keeps what they say. Its clock, its
CPU and its memory (the highest of each part) are told for each length of history, and what the store has on disk.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import delete, func, insert, select

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import Database, connect
from fleet_runner.adapters.store.schema.core import results, runs
from fleet_runner.adapters.store.schema.trends import counted, gathered, panels
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.reliability.forecasts import Kind as Foreseen
from fleet_runner.core.reliability.trends import analyse, heat, packing
from fleet_runner.core.reliability.trends.metrics import Kind, Metric
from fleet_runner.core.reliability.trends.panel import DAY, Panel
from fleet_runner.core.reliability.trends.peers import Location

GPUS, METRICS, COUNTERS, WINDOW = 8, 50, 10, 90
TODAY = 20_000
"""The day of the results, since the epoch."""

CHECK, RACK, AT_ONCE = "gpu_thermals", 4, 2_000
DRIFTS = frozenset({Foreseen.SHIFT, Foreseen.TREND, Foreseen.SPREAD})

FOLLOWED = tuple(
    Metric(
        f"metric_{number:02d}", CHECK, f"gpus.*.m{number:02d}", "celsius" if number >= COUNTERS else "count",
        Kind.GAUGE if number >= COUNTERS else Kind.COUNTER, "high", 5.0, "gpu", "a number",
    )
    for number in range(METRICS)
)  # fmt: skip


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """Reach the database itself, past the store."""
    database = connect(url)
    try:
        yield database
    finally:
        database.close()


def name(number: int) -> str:
    """Return a node's name."""
    return f"gpu-{number:05d}"


def pci(number: int) -> str:
    """Return a GPU's address."""
    return f"0000:{0x10 + 8 * number:02x}:00.0"


def told(url: str, count: int, looks: int) -> None:
    """Store the last day: which GPUs are there, and then their numbers, look after look."""
    random = np.random.default_rng(1)
    with Store.create(url) as store:
        store.register([Device(name(number), "t", "gpu-server", "hall") for number in range(count)], 1.0)
    with opened(url) as database:
        with database.write() as connection:
            run = {"stage": "health_passive", "fence": 0, "opened_at": 1.0, "by": "", "reason": "", "detail": ""}
            run |= {"done": 0, "total": 0, "task": "", "ended_at": 2.0, "outcome": "passed"}
            connection.execute(insert(runs), [run | {"node": name(number)} for number in range(count)])
        usual = random.uniform(40, 60, (count, GPUS, METRICS))
        for look in range(looks):
            at = TODAY * DAY + (look + 0.5) * DAY / looks
            numbers = np.round(usual + random.normal(size=usual.shape), 1)
            numbers[:, :, :COUNTERS] = 1_000 + look
            for start in range(0, count, AT_ONCE):
                nodes_now = range(start, min(count, start + AT_ONCE))
                rows = [row(number, at, observed(numbers[number])) for number in nodes_now]
                if look == 0:
                    rows = [row(number, at, serials(number), "parts_gpu") for number in nodes_now] + rows
                with database.write() as connection:
                    connection.execute(insert(results), rows)
            say(f"results: look {look + 1} of {looks}")


def row(number: int, at: float, what: dict[str, Any], check: str = CHECK) -> dict[str, Any]:
    """Return a result of a node."""
    words = {"node": name(number), "stage": "health_passive", "check": check, "verdict": "PASS", "message": ""}
    return {"run": number + 1, "at": at, **words, "findings": [], "observed": what, "evidence": []}


def observed(numbers: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return what a look at a node observed."""
    told_of = [dict(zip((f"m{each:02d}" for each in range(METRICS)), mine, strict=True)) for mine in numbers.tolist()]
    return {"gpus": {pci(gpu): mine for gpu, mine in enumerate(told_of)}}


def serials(number: int) -> dict[str, Any]:
    """Return the serial numbers of a node's GPUs."""
    return {"parts": {f"GPU {pci(gpu)}": {"serial": f"S{GPUS * number + gpu}"} for gpu in range(GPUS)}}


def filled(url: str, count: int, days: range) -> None:
    """Fill days straight in, as they are kept: parts have levels of their own, and days their noise."""
    random = np.random.default_rng(2)
    stays = np.arange(1, count * GPUS + 1, dtype=np.uint32)
    usual = random.uniform(40, 60, len(stays))
    counts = np.full(len(stays), 24, np.uint32)
    spread = random.uniform(0.5, 0.9, len(stays)).astype(np.float32)
    with opened(url) as database:
        for day in days:
            rows = []
            for metric in FOLLOWED:
                middle = (usual + random.normal(size=len(stays)) / 4).astype(np.float32)
                if metric.kind is Kind.COUNTER:
                    middle = random.poisson(3, len(stays)).astype(np.float32)
                panel = Panel(metric.name, day, stays, counts, middle, spread)
                body = packing.encode(panel)
                rows.append({"metric": metric.name, "day": day, "rows": len(stays), "body": body})
            with database.write() as connection:
                connection.execute(insert(panels), rows)


def forgotten(url: str) -> None:
    """Have the last day be read again."""
    with opened(url) as database, database.write() as connection:
        connection.execute(delete(gathered))
        connection.execute(delete(counted))
        connection.execute(delete(panels).where(panels.c.day >= TODAY))


def night(url: str, tell: Any) -> None:
    """Make a night, and tell what each part took."""
    taken: dict[str, tuple[float, float, float]] = {}
    with Store.open(url) as store:
        with measured(taken, "gathering"):
            done = store.gather(FOLLOWED, lambda _: None, now=(TODAY + 1.0) * DAY)
        with measured(taken, "stays"):
            stays = store.stays_by_id()
        places = {each.name: Location("t", "hall", f"r{at // RACK}") for at, each in enumerate(store.nodes())}
        looked, seen = [], []
        for metric in FOLLOWED:
            with measured(taken, "reading days"):
                window = store.window(metric.name, TODAY - WINDOW + 1, TODAY)
            with measured(taken, "drift"):
                looked.append(analyse.look(metric, window, stays, places, {}))
            with measured(taken, "heat"):
                seen.append(heat.look(metric, window, stays, places, {}))
            del window
        with measured(taken, "keeping"):
            drift = analyse.Drift(tuple(looked))
            store.foresee(DRIFTS, drift.foresights(), 1.0)
            store.keep_analysis("drift", drift.to_json(), 1.0, 1.0)
            store.keep_analysis("heat", heat.HeatMap(tuple(seen)).to_json(), 1.0, 1.0)
    tell.put((done.results, done.numbers, taken))


@contextmanager
def measured(taken: dict[str, tuple[float, float, float]], what: str) -> Iterator[None]:
    """Add what a part took: seconds, seconds of CPU, and the most memory that the process had in it, in MB."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the highest memory is counted anew
    clock, cpu = time.perf_counter(), time.process_time()
    yield
    most = next(
        line for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines() if "VmHWM" in line
    )
    before = taken.get(what, (0.0, 0.0, 0.0))
    now = time.perf_counter() - clock, time.process_time() - cpu
    taken[what] = before[0] + now[0], before[1] + now[1], max(before[2], int(most.split()[1]) / 1e3)


def apart(url: str) -> tuple[int, int, dict[str, tuple[float, float, float]]]:
    """Make a night in a process of its own."""
    context = multiprocessing.get_context("spawn")
    tell = context.Queue()
    process = context.Process(target=night, args=(url, tell))
    process.start()
    found: tuple[int, int, dict[str, tuple[float, float, float]]] = tell.get()
    process.join()
    return found


def sizes(url: str) -> str:
    """Return what the days of metrics take."""
    with opened(url) as database, database.read() as connection:
        total, most, days = connection.execute(
            select(func.sum(func.length(panels.c.body)), func.sum(panels.c.rows), func.count())
        ).one()
        read = connection.execute(select(func.sum(func.length(results.c.observed)))).scalar_one()
    return (
        f"{days} panels, {most / 1e6:.1f} million rows, {total / 1e9:.2f} GB ({total / most:.1f} bytes a row); "
        f"results of the day {read / 1e9:.2f} GB"
    )


def say(sentence: str) -> None:
    """Say how far it is."""
    sys.stderr.write(f"{sentence}\n")


def main() -> None:
    """Make the store, and a night after each length of history."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--history", type=int, nargs="+", default=[30, 60, 90, 180])
    parser.add_argument("--looks", type=int, default=24)
    parser.add_argument("--folder", help="where the store is made: some 40 GB for 10,000 nodes and 180 days")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "fleet.db"
        url = f"sqlite:///{path}"
        told(url, given.nodes, given.looks)
        first = TODAY
        for history in sorted(given.history):
            filled(url, given.nodes, range(TODAY - history, first))
            first = TODAY - history
            forgotten(url)
            read, numbers, taken = apart(url)
            print(json.dumps({"nodes": given.nodes, "history_days": history, "results": read, "numbers": numbers}))
            for what, (seconds, cpu, most) in taken.items():
                print(f"  {what:14} {seconds:8.1f} s {cpu:8.1f} s CPU {most:8.0f} MB")
            whole = [sum(each[at] for each in taken.values()) for at in (0, 1)]
            highest = max(each[2] for each in taken.values())
            print(f"  {'all':14} {whole[0]:8.1f} s {whole[1]:8.1f} s CPU {highest:8.0f} MB")
            print(f"  {sizes(url)}; store {path.stat().st_size / 1e9:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
