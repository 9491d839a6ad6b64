"""How long it takes from a push over HTTP until the store holds what is decided of the node.

`python benchmarks/pushed.py [PUSHES] [--nodes N]` starts a process that serves: the reconciler, and the listener
beside it, with a store of 10,000 nodes in production. Only the engine that would carry plays is a stand-in: its plays
say nothing and are over after two seconds. Then a line with Xid 79 is pushed, of one node after the other, and the
store is looked into, every millisecond, until that node is pending or on its way. The seconds are those of this
machine's clock, those of CPU the serving process's.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import sqlite3
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event

import httpx

from benchmarks.tick import Idle
from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.inventory.records import Device, Fleet, Rack
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.services.http.admission import make
from fleet_runner.services.signals.thread import beside
from fleet_runner.settings import Settings

RACK = 4
"""Nodes in one rack."""

PAUSE = (0.02, 0.1)
"""Seconds between two pushes, at random: no push meets the same moment of a tick again and again."""

PLAYS = 2.0
"""Seconds that plays of the stand-in take."""

GIVEN_UP = 10.0
CALM = 5.0
"""Seconds in which nothing is pushed, to see what serving costs then."""

DECIDED = """
SELECT state <> 'production' OR EXISTS (SELECT 1 FROM conditions WHERE node = name AND condition = 'pending')
FROM nodes WHERE name = ?
"""


class Brief(Idle):
    """An engine whose batches run for so long and never say anything."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun: dict[str, float] = {}

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Start nothing, and note when."""
        del settings
        self._begun[batch.id] = time.monotonic()

    def look(self, settings: Settings, batch_id: str) -> Look:
        """It runs, and then it has run."""
        del settings
        over = time.monotonic() - self._begun[batch_id] > self._seconds
        return Look(BatchState.ENDED, 0) if over else Look(BatchState.RUNNING)


def fleet_of(count: int) -> Fleet:
    """Return so many servers in service, four to a rack."""
    devices = {
        f"gpu-{number:05}": Device(f"gpu-{number:05}", "hgx", "gpu-server", "hall", f"R{number // RACK}", 1.0)
        for number in range(count)
    }
    racks = {f"R{number}": Rack(f"R{number}", "hall") for number in range(count // RACK + 1)}
    return Fleet(("hall",), racks, {}, devices, (), "1")


def prepare(settings: Settings, fleet: Fleet) -> str:
    """Make a store whose nodes are in production and not due for a day; return a token."""
    token, digest = make()
    with Store.create(settings.store_url) as store:
        store.register(list(fleet.devices.values()), time.time() - 3600)
        store.add_token(Token("bench", digest, time.time(), "bench"))
        store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 0.0, "bench"))  # else only advice would follow
    with sqlite3.connect(settings.state_dir / "fleet.db") as direct:
        direct.execute("UPDATE nodes SET state = 'production', wake_at = ?", (time.time() + 86_400,))
    direct.close()
    return token


def serve(settings: Settings, fleet: Fleet, said: Connection) -> None:
    """Serve as `fleet-runner serve` does, until SIGTERM; send where the listener is, and the CPU seconds if asked."""
    stop = Event()
    with Store.open(settings.store_url) as store, hearing(settings.state_dir) as bell:

        def end(*_: object) -> None:
            stop.set()
            bell.ring()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGUSR1, lambda *_: said.send(time.process_time()))
        with beside(settings, store, lambda: fleet, said.send):
            control_loop.serve(TickContext(settings, store, lambda: fleet, Brief(PLAYS)), stop, bell, lambda _: None)


def line(node: str) -> str:
    """Return what the node's log shipper sends."""
    text = "NVRM: Xid (PCI:0000:0f:00): 79, pid=4711, name=python, GPU has fallen off the bus."
    return json.dumps({"host": node, "message": text, "timestamp": time.time(), "_TRANSPORT": "kernel"})


def measure(client: httpx.Client, database: sqlite3.Connection, node: str) -> tuple[float, float]:
    """Push a fault of a node; return the seconds until it is answered, and until it is decided."""
    began = time.perf_counter()
    answer = client.post("/signals/log", content=line(node))
    answered = time.perf_counter() - began
    if answer.json()["taken"] != 1:
        raise SystemExit(f"{node}: {answer.text}")
    while not database.execute(DECIDED, (node,)).fetchone()[0]:
        if time.perf_counter() - began > GIVEN_UP:
            raise SystemExit(f"{node}: nothing was decided within {GIVEN_UP:g} s")
        time.sleep(0.001)
    return answered, time.perf_counter() - began


def told(what: str, seconds: list[float]) -> None:
    """Print median, 99th percentile and the longest, in milliseconds."""
    found = sorted(seconds)
    median, late = found[len(found) // 2], found[min(len(found) - 1, int(len(found) * 0.99))]
    print(f"  {what:<34} {median * 1000:8.1f} {late * 1000:8.1f} {found[-1] * 1000:8.1f}")


def cpu(process: multiprocessing.Process, said: Connection) -> float:
    """Return the CPU seconds that the serving process has taken."""
    os.kill(process.pid or 0, signal.SIGUSR1)
    return float(said.recv())


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description="Take the time from a push to a decision.")
    options.add_argument("pushes", nargs="?", type=int, default=300)
    options.add_argument("--nodes", type=int, default=10_000)
    given = options.parse_args()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(state_dir=Path(folder), signals_listen="127.0.0.1:0")
        fleet = fleet_of(given.nodes)
        token = prepare(settings, fleet)
        mine, its = multiprocessing.Pipe()
        process = multiprocessing.Process(target=serve, args=(settings, fleet, its))
        process.start()
        try:
            url = mine.recv().removeprefix("signals: ")
            time.sleep(2.0)
            before = cpu(process, mine)
            time.sleep(CALM)
            calm = cpu(process, mine) - before
            nodes = [f"gpu-{number * RACK:05}" for number in range(given.pushes)]
            database = sqlite3.connect(f"file:{folder}/fleet.db?mode=ro", uri=True, isolation_level=None)
            headers = {"authorization": f"Bearer {token}"}
            before = cpu(process, mine)
            with httpx.Client(base_url=url, headers=headers, trust_env=False) as client:
                times: list[tuple[float, float]] = []
                for node in nodes:
                    times.append(measure(client, database, node))
                    time.sleep(chance.uniform(*PAUSE))
            busy = cpu(process, mine) - before
            database.close()
        finally:
            process.terminate()
            process.join()
    print(f"{len(times)} pushes of Xid 79, each of another of {given.nodes} nodes; milliseconds, measured")
    print(f"  {'':<34} {'median':>8} {'p99':>8} {'longest':>8}")
    told("until answered: it is in the store", [answered for answered, _ in times])
    told("until decided: so is what follows", [decided for _, decided in times])
    print(f"CPU of serving: {calm / CALM:.1%} of a core while nothing is pushed")
    print(f"                {busy / len(times) * 1000:.1f} ms for each push and what it starts")


if __name__ == "__main__":
    main()
