"""What a scrape of /metrics costs with 10,000 nodes and a million lines of history.

Prints CPU seconds of this process: `python benchmarks/metrics.py [NODES] [LINES]`. The first row is the history
counted from its beginning, which happens once, in the background; the second a scrape with nothing new; the third one
that comes after a thousand new results. Nothing goes over a socket.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

from prometheus_client import generate_latest
from sqlalchemy import Table, insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import journal, latest, results, runs
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from fleet_runner.settings import Settings
from fleet_runner.web.metrics import Meter
from fleet_runner.web.site import Site

NOW = 1_795_000_000.0
SCRAPES = 9
ROUND = (
    TRANSITIONS[State.PRODUCTION, Event.REBOOT_NEEDED],
    TRANSITIONS[State.REBOOT, Event.PASSED],
)
ASKED = tuple(CHECKS)[:30]
"""Checks that a node in production is asked."""


def fleet_of(count: int) -> Fleet:
    """Return so many servers at five sites."""
    names = [f"gpu-{number:05}" for number in range(count)]
    devices = {name: Device(name, "hgx", "gpu-server", f"hall-{at % 5}") for at, name in enumerate(names)}
    return Fleet((), {}, {}, devices, (), "1")


def put(store: Store, table: Table, rows: Iterator[dict[str, Any]]) -> None:
    """Write rows, many at a time: the way that the runner takes would take hours."""
    with store._database.write() as connection:  # noqa: SLF001  only here is anything written past the store's methods
        while some := list(islice(rows, 50_000)):
            connection.execute(insert(table), some)


def fill(store: Store, names: list[str], lines: int) -> None:
    """Write a history: a third of its lines are transitions; as many runs, and results of each node's checks."""
    empty = {"sentence": "It went on.", "by": "runner", "results": [], "run": None}
    moved = cycle(
        {"node": name, "kind": "transition", "state": row.state, "event": row.event, "to": row.to}
        for row in ROUND
        for name in names
    )
    told = cycle({"node": name, "kind": "run", "state": None, "event": None, "to": None} for name in names)
    lived = (next(moved if at % 3 == 0 else told) for at in range(lines))
    put(store, journal, ({**row, **empty, "at": NOW - lines + at} for at, row in enumerate(lived)))
    ran = {"stage": "health_passive", "fence": 0, "batch": None, "by": "runner", "reason": "", "outcome": "passed"}
    ran |= {"detail": "", "done": 1, "total": 1, "task": ""}
    opened = (NOW - lines + at for at in range(lines // 3))
    put(
        store,
        runs,
        ({**ran, "node": names[int(at) % len(names)], "opened_at": at, "ended_at": at + 60} for at in opened),
    )
    put(store, results, answers(names))
    with store._database.write() as connection:  # noqa: SLF001  as above
        newest = results.select().with_only_columns(results.c.node, results.c.check, results.c.id, results.c.id)
        connection.execute(insert(latest).from_select(["node", "check", "result", "spoke"], newest))


def answers(names: list[str]) -> Iterator[dict[str, Any]]:
    """Return one result of each check for each node."""
    same = {"run": 1, "stage": "health_passive", "verdict": "PASS", "message": "so", "findings": [], "evidence": []}
    return ({**same, "at": NOW, "observed": {}, "node": name, "check": each} for name in names for each in ASKED)


def cost(act: Callable[[], object]) -> float:
    """Return the CPU seconds of an act, of all threads."""
    began = time.process_time()
    act()
    return time.process_time() - began


def main(arguments: list[str]) -> None:
    """Fill a store, and scrape it."""
    count, lines = (*map(int, arguments), *(10_000, 1_000_000)[len(arguments) :])
    fleet = fleet_of(count)
    names = list(fleet.devices)
    with tempfile.TemporaryDirectory() as folder, Store.create(f"sqlite:///{folder}/fleet.db") as store:
        store.register(fleet.devices.values(), NOW - 1)
        put_in_production(store)
        fill(store, names, lines)
        here = Site(Settings(state_dir=Path(folder)), store, lambda: fleet, clock=lambda: NOW)
        registry = Meter(here).registry
        first = cost(lambda: whole(registry))
        quiet = [cost(lambda: generate_latest(registry)) for _ in range(SCRAPES)]
        after = []
        for _ in range(SCRAPES):
            put(store, results, ({**row, "check": "xid"} for row in islice(answers(names), 1000)))
            after.append(cost(lambda: generate_latest(registry)))
        text = generate_latest(registry)
        print(f"{count:,} nodes, {lines:,} lines of history, {lines // 3:,} runs, {count * len(ASKED):,} results")
        print(f"counted from the beginning   {first:.2f} CPU s, once")
        print(f"scrape, nothing new          {median(quiet):.3f} CPU s")
        print(f"scrape, 1,000 new results    {median(after):.3f} CPU s")
        walk = cost(lambda: (store.oldest_answers(), store.bytes_of_evidence()))
        print(f"of a scrape, once a minute   {walk:.3f} CPU s more, the walk through all newest answers")
        print(f"{len(text):,} bytes, {sum(not line.startswith(b'#') for line in text.splitlines()):,} series")


def put_in_production(store: Store) -> None:
    """Have every node serve."""
    with store._database.write() as connection:  # noqa: SLF001  as above
        connection.exec_driver_sql("UPDATE nodes SET state = 'production'")


def whole(registry: Any) -> None:
    """Scrape until the history is counted."""
    while b"fleet_counted 1.0" not in generate_latest(registry):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
