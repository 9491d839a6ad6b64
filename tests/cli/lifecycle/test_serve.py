"""Who serves: each process says whether it is alone, and `status` says where something is due and nobody is."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.reconcile.loop.single_instance import alone, served, serving
from fleet_runner.settings import load
from tests.cli.conftest import Type

LONGEST = 60.0
STANDS_BY = "another process serves the same state already; this one is on standby"


class Server:
    """A process that serves, and what it said so far."""

    def __init__(self, folder: Path, tick_seconds: float = 0.1) -> None:
        given = {"FLEET_STATE_DIR": str(folder / "state"), "COLUMNS": "400", "FLEET_TICK_SECONDS": str(tick_seconds)}
        self._lines: Queue[str] = Queue()
        self.said: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "fleet_runner.cli", "serve"],
            cwd=folder,
            env=os.environ | given,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.strip())
        self._lines.put("")

    def until(self, words: str) -> None:
        """Read on until it says something."""
        while not (self.said and words in self.said[-1]):
            self.said.append(self._lines.get(timeout=LONGEST))
            assert self.said[-1], self.said

    def ends(self) -> None:
        """Ask it to stop, and see that it does."""
        self.process.send_signal(signal.SIGTERM)
        self.until("stopped; ")
        assert self.process.wait(LONGEST) == 0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Processes that serve a site without devices; none outlives its test."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sites.yml").write_text("- name: hall\n", "utf-8")
    started: list[Server] = []

    def start() -> Server:
        started.append(Server(tmp_path))
        started[-1].until("serving ")
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait(LONGEST)
        each.reader.join(LONGEST)


@pytest.fixture
def late(typed: Type, tmp_path: Path) -> Iterator[Store]:
    """A store whose only node was due two minutes ago."""
    del typed  # it sets the settings
    (tmp_path / "state").mkdir()
    with Store.create(load().store_url) as store:
        _rest(store, time.time() - 120)
        yield store


def _rest(store: Store, until: float) -> None:
    store.register([Device("gpu-01", "t", "gpu-server", "hall")], 1.0)
    node = store.node("gpu-01")
    assert node is not None
    store.apply(node, Decision((), "next sweep soon", until), 2.0)


def test_a_second_process_says_that_it_stands_by_and_goes_on_when_the_first_ends(
    server: Callable[[], Server], typed: Type
) -> None:
    """Both are real; once both have ended, no runner serves."""
    first = server()
    assert served(load())
    second = server()
    second.until(STANDS_BY)
    first.ends()
    assert STANDS_BY not in first.said
    assert served(load())
    second.ends()
    assert not served(load())
    assert typed("status").code == 0


def test_status_says_since_when_something_is_due_where_nobody_serves(late: Store, typed: Type) -> None:
    """One line below the table; JSON has the moment."""
    (node,) = late.nodes()
    at = datetime.fromtimestamp(node.wake_at, UTC).strftime("%H:%M UTC")
    said = typed("status")
    assert said.out.splitlines()[-1] == f"due since {at}; no runner serves: fleet-runner serve"
    assert json.loads(typed("status", "--json").out)["unserved_since"] == node.wake_at


def test_status_says_nothing_of_it_while_somebody_serves_or_ticks(late: Store, typed: Type) -> None:
    """Whoever does is late, and there."""
    assert late.due(time.time())
    for busy in (serving(load()), alone(load())):
        with busy:
            assert "no runner serves" not in typed("status").out
    assert "no runner serves" in typed("status").out


def test_status_says_nothing_of_it_while_nothing_is_overdue(late: Store, typed: Type) -> None:
    """A pause between two ticks is no absence, and a request that was just left is not late."""
    _rest(late, time.time() - 5)
    assert "no runner serves" not in typed("status").out
    late.leave_intent("gpu-01", IntentKind.HOLD, "ann", now=time.time())
    assert "no runner serves" not in typed("status").out
    assert json.loads(typed("status", "--json").out)["unserved_since"] is None


def test_a_request_that_nobody_answers_is_due_since_it_was_left(late: Store, typed: Type) -> None:
    """More than a day ago the line names the day."""
    left = time.time() - 100_000
    late.leave_intent("gpu-01", IntentKind.HOLD, "ann", now=left)
    at = datetime.fromtimestamp(left, UTC).strftime("%Y-%m-%d %H:%M UTC")
    assert f"due since {at}; no runner serves: fleet-runner serve" in typed("status").out
