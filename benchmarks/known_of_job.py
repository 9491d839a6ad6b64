"""What it costs to read what a fleet's store knows of a job's nodes and its time.

`python benchmarks/known_of_job.py [--nodes N] [--checks N] [--days N] [--url URL] [--plans]` makes a store of N nodes
(1,000) with 8 GPUs that answered N checks (40) each hour of N days (8), filled straight in, in the order of time. One
node in fifty is warm all the time, one in a hundred lost an NVLink on the third day, one in twenty booted on the
fourth, and one in ten answered UNKNOWN now and then. It then asks for jobs on 16, 128 and all nodes that ran for six
hours, a day and all but the first day, each in a process of its own, what
happened and what was measured of its nodes, and prints the CPU in seconds; of PostgreSQL (`--url` of
an empty database that is run by this machine's own server) also that of the server's process. `--plans` prints the
plans of the queries in place of that.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foresight_night import name, opened
from sqlalchemy import Connection, event, insert, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.core.checks.catalogue import CHECKS, link_flaps
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.jobs import node_measures

HOUR, DAY, GPUS = 3_600.0, 86_400.0, 8
BEGUN = 1_795_000_000.0
FINDING = '[{"code":"%s","component":"%s","message":"%s","remedy":"WATCH","fault":"f","devices":[]}]'
WARM = FINDING % ("gpu.hot", "GPU 1", "it is 88 °C")
LOST = FINDING % ("nvlink.down", "GPU 3", "17 of 18 links")
PASSED, WARMED, LOSING, UNTOLD, BOOTED = range(5)
"""Which answer of a check a node gave: its usual one, or what is said of it above."""

FILL = text("""
INSERT INTO results (run, node, stage, at, "check", verdict, message, findings, observed, evidence)
SELECT bench_nodes.number + 1, bench_nodes.name, 'health_passive', :at + bench_nodes.number * 0.1, said.name,
       said.verdict, said.message, said.findings, said.observed, '[]'
FROM bench_nodes JOIN bench_said said ON said.kind = CASE
    WHEN said.of = 'gpu_thermals' AND bench_nodes.number % 50 = 0 THEN 1
    WHEN said.of = 'nvlink' AND bench_nodes.number % 100 = 1 AND :day >= 2 THEN 2
    WHEN said.of = 'gpu_errors' AND bench_nodes.number % 10 = 3 AND (:hour + bench_nodes.number) % 17 = 0 THEN 3
    WHEN said.of = 'link_flaps' AND bench_nodes.number % 20 = 5 AND :day >= 3 THEN 4
    ELSE 0 END
ORDER BY bench_nodes.number, said.place
""")


def observed(check: str) -> dict[str, Any]:
    """Return what a check observes of a healthy node, as large as it is of 8 GPUs."""
    gpu = {
        "gpu_clocks": {"mhz": {"sm": 1980, "mem": 2619, "graphics": 1980}, "reasons": [], "state": "P0"},
        "gpu_power": {"limit_watts": 700.0, "watts": 512.3},
        "gpu_pcie": {"width": 16, "generation": 5, "replays": 0},
        "gpu_errors": {"uncorrectable": 0, "corrected": 0, "remapped": 0},
    }.get(check, {"value": 41.5})
    each = {f"0000:{0x10 + 8 * number:02x}:00.0": gpu for number in range(GPUS)}
    if check == "nvlink":
        return {"links": dict.fromkeys(each, 18)}
    if check == "ib_ports":
        return {"ports": {f"mlx5_{number}": "ACTIVE 400 Gb/sec (4X NDR)" for number in range(GPUS)}}
    if check == "gpu_thermals":
        return {"margin_celsius": dict.fromkeys(each, 41.0), "gpus": each}
    return {link_flaps.BOOTED: BEGUN - DAY} if check == link_flaps.NAME else {"gpus": each}


def said(checks: Iterable[str]) -> list[dict[str, Any]]:
    """Return every answer that nodes give."""
    rows: list[dict[str, Any]] = []
    for place, check in enumerate(checks):
        usual = {"place": place, "name": check, "verdict": "PASS", "message": "as expected", "findings": "[]"}
        seen = observed(check)
        kinds: list[tuple[int, dict[str, Any]]] = [
            (PASSED, {}),
            (WARMED, {"verdict": "FAIL", "findings": WARM}),
            (LOSING, {"verdict": "FAIL", "findings": LOST}),
            (UNTOLD, {"verdict": "UNKNOWN"}),
            (BOOTED, {}),
        ]
        for kind, other in kinds:
            mine = {link_flaps.BOOTED: BEGUN + 3 * DAY} if kind == BOOTED else seen
            rows.append(usual | other | {"kind": kind, "of": check, "observed": json.dumps(mine)})
    return rows


def fill(url: str, nodes: int, checks: int, days: int) -> None:
    """Put the answers of each hour in."""
    with Store.create(url) as store:
        store.register([Device(name(number), "t", "gpu-server", "hall") for number in range(nodes)], BEGUN)
    needed = (*node_measures.CHECKS, link_flaps.NAME)
    wanted = [*needed, *(each for each in sorted(CHECKS) if each not in needed)][:checks]
    with opened(url) as database:
        with database.write() as connection:
            run = {"stage": "health_passive", "fence": 0, "opened_at": 1.0, "by": "", "reason": "", "detail": ""}
            run |= {"done": 0, "total": 0, "task": "", "ended_at": 2.0, "outcome": "passed"}
            connection.execute(insert(runs), [run | {"node": name(number)} for number in range(nodes)])
            connection.execute(text("CREATE TABLE bench_nodes (number INTEGER, name TEXT)"))
            connection.execute(
                text("INSERT INTO bench_nodes VALUES (:number, :name)"),
                [{"number": number, "name": name(number)} for number in range(nodes)],
            )
            columns = ("place", "name", "verdict", "message", "findings", "kind", "of", "observed")
            kinds = ", ".join(f'"{each}" {"INTEGER" if each in {"place", "kind"} else "TEXT"}' for each in columns)
            connection.execute(text(f"CREATE TABLE bench_said ({kinds})"))
            values = ", ".join(f":{each}" for each in columns)
            connection.execute(text(f"INSERT INTO bench_said VALUES ({values})"), said(wanted))  # noqa: S608  ours
        for hour in range(24 * days):
            with database.write() as connection:
                connection.execute(FILL, {"at": BEGUN + hour * HOUR, "hour": hour, "day": hour // 24})


def asked(url: str, count: int, since: float, until: float) -> str:
    """Return what one question costs: seconds of CPU of this process and of the server's, and what was found."""
    with Store.create(url) as store:
        server = _server(store) if url.startswith("postgresql") else 0
        begun, there = time.process_time(), _spent(server)
        names = [name(number) for number in range(count)]
        found = store.known_of_job(names, since, until)
        known, told = time.process_time() - begun, _spent(server) - there
        looks, types = store.measured_of_job(names, since, until)
        node_measures.compare(looks, types)
        own, theirs = time.process_time() - begun - known, _spent(server) - there - told
    return (
        f"{count:6,} nodes, {(until - since) / HOUR:5.0f} h: {known:5.2f} s"
        + (f" and {told:5.2f} of the server" if server else "")
        + f" for {len(found.seen)} findings and {len(found.booted)} boots, {own:5.2f} s"
        + (f" and {theirs:5.2f} of the server" if server else "")
        + f" for {len(looks):,} looks to compare"
    )


def _server(store: Store) -> int:
    """Return the id of the server's process that answers; a store keeps its connection."""
    with store._database.read() as connection:  # noqa: SLF001  for its process alone
        return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())


def _spent(process: int) -> float:
    if not process:
        return 0.0
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def plans(url: str, count: int, since: float, until: float) -> None:
    """Print each query that is asked, once, how often it is, and its plan."""
    told: dict[str, tuple[int, Any]] = {}
    with Store.create(url) as store:
        engine = store._database.engine  # noqa: SLF001  for its events alone

        def take(connection: Connection, cursor: Any, statement: str, given: Any, *rest: Any) -> None:
            del connection, cursor, rest
            told[statement] = (told.get(statement, (0, None))[0] + 1, given)

        event.listen(engine, "before_cursor_execute", take)
        names = [name(number) for number in range(count)]
        store.known_of_job(names, since, until)
        store.measured_of_job(names, since, until)
        event.remove(engine, "before_cursor_execute", take)
        explain = "EXPLAIN (ANALYZE, BUFFERS) " if url.startswith("postgresql") else "EXPLAIN QUERY PLAN "
        with store._database.read() as connection:  # noqa: SLF001
            for statement, (often, given) in told.items():
                if not statement.startswith("SELECT"):
                    continue
                print(f"\n{often} times: {' '.join(statement.split())[:400]}")
                for row in connection.exec_driver_sql(explain + statement, given):
                    print("   ", row[-1])


def main() -> None:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--checks", type=int, default=40)
    parser.add_argument("--days", type=int, default=8)
    parser.add_argument("--url", default="")
    parser.add_argument("--kept", action="store_true", help="the store at --url is filled already")
    parser.add_argument("--plans", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = wanted.url or f"sqlite:///{folder}/fleet.db"
        if not wanted.kept:
            fill(url, wanted.nodes, wanted.checks, wanted.days)
        until = BEGUN + wanted.days * DAY
        spans = ((until - DAY - 6 * HOUR, until - DAY), (until - 2 * DAY, until - DAY), (BEGUN + DAY, until))
        if wanted.plans:
            plans(url, min(16, wanted.nodes), *spans[1])
            return
        for count in sorted({min(each, wanted.nodes) for each in (16, 128, wanted.nodes)}):
            for since, end in spans:
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.apply(asked, (url, count, since, end)), flush=True)


if __name__ == "__main__":
    main()
