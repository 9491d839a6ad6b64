"""What the fleet's page costs the server: bytes as they are sent, and CPU time for each request.

`python benchmarks/web.py [NODES ...] [--rounds N]` fills a store with nodes in every state, four to a rack, serves
it from a process of its own over a socket on loopback, and asks for pages one at a time. A page is asked for *anew*,
after a node has changed and the second is over in which nobody looks whether one has; and *again*, at once, as the
next of several viewers asks. The CPU seconds are the serving process's, by its own clock; the median of the rounds.
The floor is the login page, taken in the same run: the same framework and templates with nothing to show.
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import httpx

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.lifecycle.actions import Decision
from fleet_runner.services.http.admission import make
from fleet_runner.web.fleet import FRESH_SECONDS
from tests.web.hall import NOW, described, made
from tests.web.served import served

PAGES = {
    "whole page": "/fleet",
    "one site of it": "/fleet?site=hall-1",
    "racks alone, by htmx": "/fleet/parts/floor?seen=old",
    "what moves and waits, by htmx": "/fleet/parts/now?seen=old",
    "one rack": "/fleet/racks/hall-1/R001",
    "what a text may mean": "/find/matches?q=gpu-0",
    "found by a text": "/find?q=gpu-0",
}

FLOOR = "/login"


@dataclass(slots=True)
class Server:
    """A process that serves, as this one sees it."""

    client: httpx.Client
    line: Connection

    def ask(self, url: str) -> tuple[float, int]:
        """Return the milliseconds of CPU that the server took for a page, and the bytes that it sent."""
        before = self._spent()
        answer = self.client.get(url)
        spent = self._spent() - before
        answer.raise_for_status()
        return 1000.0 * spent, len(answer.content)

    def _spent(self) -> float:
        self.line.send("spent")
        found: float = self.line.recv()
        return found


def serve(path: Path, nodes: int, line: Connection) -> None:
    """Serve a store until nobody listens any more, and tell how much CPU time that took so far."""
    with Store.open(f"sqlite:///{path}") as store, served(store, described(nodes), path.parent) as site:
        line.send(site.url)
        while line.recv() != "end":
            line.send(time.process_time())


@contextmanager
def serving(path: Path, nodes: int, token: str) -> Iterator[Server]:
    """Give a process that serves a store."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(path, nodes, theirs))
    process.start()
    # What httpx asks for by itself would be smaller: sizes are those of what a page is.
    headers = {"authorization": f"Bearer {token}", "accept-encoding": "identity"}
    try:
        with httpx.Client(base_url=ours.recv(), headers=headers, timeout=120.0) as client:
            yield Server(client, ours)
    finally:
        ours.send("end")
        process.join(30.0)
        process.kill()


def changed(store: Store, name: str, round_: int) -> None:
    """Change one node, and let the second pass in which nobody would see it."""
    (node,) = store.some_nodes([name])
    store.apply(node, Decision((), f"waits for round {round_}", NOW + 60.0), NOW)
    time.sleep(FRESH_SECONDS + 0.1)


def measure(folder: Path, nodes: int, rounds: int) -> dict[str, tuple[float, float, int]]:
    """Return for each page the milliseconds of CPU anew and again, and its bytes."""
    path = folder / f"{nodes}.db"
    token, digest = make()
    with Store.create(f"sqlite:///{path}") as store:
        hall = made(store, nodes)
        store.add_token(Token("bench", digest, NOW - 60, "bench", scope=str(Role.VIEWER)))
        with serving(path, nodes, token) as server:
            found = {"first of a process": (*_twice(server, PAGES["whole page"]),)}
            for name, url in {"login page": FLOOR, **PAGES}.items():
                taken = []
                for number in range(rounds):
                    changed(store, hall.names[number], number)
                    taken.append(_twice(server, url))
                found[name] = (median(one for one, _, _ in taken), median(two for _, two, _ in taken), taken[-1][2])
    return found


def _twice(server: Server, url: str) -> tuple[float, float, int]:
    anew, size = server.ask(url)
    return anew, server.ask(url)[0], size


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    least: dict[str, tuple[float, float, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for nodes in asked.nodes:
            found = measure(Path(folder), nodes, asked.rounds)
            least = least or found
            floor = found["login page"][0]
            print(f"\n{nodes:,} nodes{'':24}bytes   anew, ms  again, ms   times login  times {asked.nodes[0]:,}")
            for name, (anew, again, size) in found.items():
                ratios = f"{anew / floor:12.1f} {anew / least[name][0]:10.1f}"
                print(f"{name:32}{size:10,}{anew:11.1f}{again:11.1f}  {ratios}")


if __name__ == "__main__":
    main()
