"""Listeners as processes: killed in the middle of a batch, and two beside each other with one store."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from threading import Event, Thread

import httpx
import pytest

from fleet_runner.adapters.store import Store
from tests.services.signals.hearing import LONG, fleet_of, give, push, stocked, xid
from tests.waiting import until

NODES = ("gpu-01", "gpu-02", "gpu-03")
PCIS = [f"{bus:04x}:0f:00" for bus in range(200)]


class Process:
    """A listener of its own, and where it listens."""

    def __init__(self, folder: Path) -> None:
        (folder / "site").mkdir(exist_ok=True)
        (folder / "site" / "sites.yml").write_text("- name: hall\n", "utf-8")
        given = {"FLEET_STATE_DIR": str(folder), "FLEET_SIGNALS_LISTEN": "127.0.0.1:0", "COLUMNS": "400"}
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "fleet_runner.cli", "signals", "serve"],
            cwd=folder, env=os.environ | given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self._lines.get(timeout=LONG).removeprefix("signals: ")

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.strip())

    def end(self, number: signal.Signals) -> int:
        """End it, and wait for that."""
        self.process.send_signal(number)
        code = self.process.wait(LONG)
        self._reader.join(LONG)
        return code


@contextmanager
def process(folder: Path) -> Iterator[Process]:
    """Run a listener; it does not outlive its test."""
    found = Process(folder)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.end(signal.SIGKILL)


def lines() -> list[str]:
    """Return six hundred signals, each of a part of its own, that happened in the minute before."""
    now = time.time() - 60
    return [xid(node, 48, pci, now + number / 100) for node in NODES for number, pci in enumerate(PCIS)]


def counts(store: Store) -> list[int]:
    """Return how often each alarm was heard."""
    return [alarm.count for alarm in store.standing_alarms()]


def test_a_listener_killed_in_a_batch_loses_nothing_that_it_took_and_doubles_nothing(tmp_path: Path) -> None:
    """Four senders push; it is killed; all that was answered stands. Everything sent again changes nothing of it."""
    every = lines()
    answered: set[str] = set()
    killed = Event()
    with stocked(tmp_path, fleet_of(*NODES)) as store:
        token = give(store, "vector")
        with process(tmp_path) as first:

            def send(mine: list[str]) -> None:
                for line in mine:
                    with suppress(httpx.HTTPError):
                        if not killed.is_set() and push(first.url, "/log", line, token).status_code == 200:
                            answered.add(line)

            with ThreadPoolExecutor(4) as pool:
                sending = [pool.submit(send, every[number::4]) for number in range(4)]
                until(lambda: len(answered) > 100)
                first.end(signal.SIGKILL)
                killed.set()
                for each in sending:
                    each.result()
        assert 100 < len(answered) < len(every)
        assert len(counts(store)) >= len(answered)
        assert set(counts(store)) == {1}
        with process(tmp_path) as second:
            assert push(second.url, "/log", "\n".join(every), token).status_code == 200
            assert counts(store) == [1] * len(every)
            assert push(second.url, "/log", "\n".join(every), token).json()["taken"] == 0
            assert second.end(signal.SIGTERM) == 0


@pytest.mark.nightly
def test_two_listeners_with_one_store_are_as_one(tmp_path: Path) -> None:
    """Each line goes to both, at once: it is one signal; what one raised the other one takes back."""
    every = lines()
    with stocked(tmp_path, fleet_of(*NODES)) as store, process(tmp_path) as one, process(tmp_path) as other:
        token = give(store, "vector")
        until(lambda: push(one.url, "/log", "", token).status_code != 401)
        until(lambda: push(other.url, "/log", "", token).status_code != 401)
        batches = ["\n".join(every[start : start + 20]) for start in range(0, len(every), 20)]
        with ThreadPoolExecutor(4) as pool:
            sent = [pool.submit(push, each.url, "/log", body, token) for body in batches for each in (one, other)]
            assert {each.result().status_code for each in sent} == {200}
        assert counts(store) == [1] * len(every)
        raised = '{"node": "gpu-01", "code": "fan.noisy", "key": "k"}'
        over = '{"node": "gpu-01", "code": "fan.noisy", "key": "k", "ended": true}'
        assert push(one.url, "", raised, token).json()["taken"] == 1
        assert push(other.url, "", over, token).json()["taken"] == 1
        assert not [alarm for alarm in store.alarms("gpu-01") if alarm.code == "fan.noisy"]
        assert push(one.url, "", raised.replace('"k"', '"l"'), token).json()["taken"] == 1
        assert [alarm.count for alarm in store.alarms("gpu-01") if alarm.code == "fan.noisy"] == [1]
        assert one.end(signal.SIGTERM) == other.end(signal.SIGINT) == 0
