"""A listener at real sockets of this machine, with a store of its own, and those who push to it."""

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.services.http.admission import make
from fleet_runner.services.signals import push as reception
from fleet_runner.services.signals.inbox import Bounds
from fleet_runner.services.signals.serving import Listening
from fleet_runner.settings import Settings
from tests.waiting import until

LONG = 60.0
Body = str | bytes | Iterable[bytes]
_KEPT = tempfile.TemporaryDirectory(prefix="fleet-runner-")


def fleet_of(*names: str, addresses: Mapping[str, str] | None = None) -> Fleet:
    """Return a fleet of GPU servers, the addresses of whose BMCs and systems are known; some may be given."""
    known = {name: f"10.0.0.{at}" for at, name in enumerate(names, 1)} | dict(addresses or {})
    devices = {
        name: Device(name, "hgx", "gpu-server", "hall", primary_address=known[name], oob_address=f"10.1.0.{at}")
        for at, name in enumerate(names, 1)
    }
    return Fleet(("hall",), {}, {}, devices, (), "1")


@cache
def _empty() -> Path:
    path = Path(_KEPT.name) / "fleet.db"
    Store.create(f"sqlite:///{path}").close()
    return path


def stocked(folder: Path, fleet: Fleet) -> Store:
    """Return a store that knows a fleet."""
    shutil.copy(_empty(), folder / "fleet.db")
    store = Store.open(f"sqlite:///{folder / 'fleet.db'}")
    store.register(list(fleet.devices.values()), 1.0)
    return store


def entry(host: str, text: str, at: float | None = None) -> str:
    """Return a kernel's line as Vector sends it."""
    stamp = at if at is not None else time.time()
    return json.dumps({"host": host, "message": text, "timestamp": stamp, "_TRANSPORT": "kernel"})


def xid(host: str = "gpu-01", number: int = 79, pci: str = "0000:0f:00", at: float | None = None) -> str:
    """Return the line of an Xid."""
    return entry(host, f"NVRM: Xid (PCI:{pci}): {number}, pid=1234, name=python, something is wrong", at)


def push(url: str, way: str, body: Body, token: str, **more: Any) -> httpx.Response:
    """Push something, from an address of this machine; without a token where that is empty."""
    headers = {**({"authorization": f"Bearer {token}"} if token else {}), **more.pop("headers", {})}
    verify = more.pop("verify", False)
    transport = httpx.HTTPTransport(local_address=more.pop("source", "127.0.0.1"), verify=verify)
    with httpx.Client(transport=transport, trust_env=False, timeout=LONG) as client:
        return client.post(f"{url}/signals{way}", content=body, headers=headers, **more)


@dataclass
class Ear:
    """A listener and its store; `url` and `syslog` are where it is reached."""

    store: Store
    settings: Settings
    listening: Listening
    token: str
    said: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        """Where it listens over HTTP."""
        return next(each for each in self.said if "://" in each).removeprefix("signals: ")

    @property
    def syslog(self) -> tuple[str, int]:
        """Where it takes syslog."""
        said = next(each for each in self.said if "syslog at " in each)
        host, port = said.partition("syslog at ")[2].partition(",")[0].rsplit(":", 1)
        return host, int(port)

    def push(self, way: str, body: Body, token: str | None = None, **more: Any) -> httpx.Response:
        """Push something with the listener's own token, or another."""
        return push(self.url, way, body, self.token if token is None else token, **more)

    def alarms(self, name: str = "gpu-01") -> tuple[Alarm, ...]:
        """Return what counts of a node."""
        return tuple(each for each in self.store.alarms(name) if each.raised_at is not None)

    def heard(self, source: str, what: str) -> int:
        """Return a counter, as it is stored."""
        return sum(each.count for each in self.store.heard() if (each.source, each.what) == (source, what))

    def give(self, name: str, **more: Any) -> str:
        """Make another token."""
        return give(self.store, name, **more)


def give(store: Store, name: str, **more: Any) -> str:
    """Make a token."""
    made, digest = make()
    store.add_token(Token(name, digest, 1.0, "ann", **more))
    return made


@contextmanager
def listening(folder: Path, *names: str, bounds: Bounds | None = None, **given: Any) -> Iterator[Ear]:
    """Listen in a thread, for a fleet of nodes with these names."""
    fleet = fleet_of(*(names or ("gpu-01", "gpu-02", "gpu-03")))
    settings = Settings(state_dir=folder, signals_listen=given.pop("signals_listen", "127.0.0.1:0"), **given)
    with stocked(folder, fleet) as store:
        ear = Ear(store, settings, Listening(settings, store, lambda: fleet, bounds), give(store, "vector"))
        loop = asyncio.new_event_loop()
        stop = asyncio.Event()
        thread = Thread(target=lambda: loop.run_until_complete(ear.listening.serve(stop, ear.said.append)))
        thread.start()
        try:
            until(lambda: any("://" in each for each in ear.said) or not thread.is_alive())
            yield ear
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(LONG)
            assert not thread.is_alive()
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()


def limited(patch: pytest.MonkeyPatch) -> None:
    """Have listeners take a request a second from an address for long: a busy computer asks too seldom for more."""
    patch.setattr(reception, "PER_SECOND", 1.0)


def flooded(ask: Callable[[], httpx.Response]) -> set[int]:
    """Ask a limited listener until that is too often, eight at a time; return every status there was."""
    statuses: set[int] = set()
    end = time.monotonic() + LONG
    with ThreadPoolExecutor(8) as pool:
        while 429 not in statuses and time.monotonic() < end:
            statuses |= {each.status_code for each in pool.map(lambda _: ask(), range(200))}
    return statuses
