"""Hostile and huge bodies, floods and a store in trouble: refused, counted, and nobody else's trouble."""

import random
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from fleet_runner.services.signals.inbox import OVERHEAD, Bounds
from tests.services.signals.hearing import LONG, entry, flooded, limited, listening, xid
from tests.waiting import until

WAYS = ("", "/log", "/alertmanager", "/redfish/gpu-01", "/fabric")
HOSTILE = (
    b"", b"\0", b"\xff\xfe", b"null", b"[]", b"{}", b"[null]", b"1e999", b'{"Events": 5}', b'{"alerts": [1]}',
    b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b'"' + b"x" * 200_000, b"\n" * 200_000, b"{" * 200_000,
    b'{"version": "4", "alerts": [{"labels": {"alertname": [], "node": {}}}]}',
    entry("x" * 100_000, "NVRM: Xid (PCI:0000:0f:00): 79, x").encode(),
    xid("../../etc/passwd").encode(), xid("gpu-01\x1b[2J").encode(),
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_hostile_bodies_are_answered_and_change_nothing(tmp_path: Path, way: str) -> None:
    """Shortly, by a service that then takes the next signal."""
    with listening(tmp_path) as ear:
        for body in HOSTILE:
            answer = ear.push(way, body)
            assert answer.status_code in {200, 400, 413}, (body[:40], answer.text)
            assert answer.status_code != 200 or answer.json()["taken"] == 0
            assert len(answer.text) < 2_000
        noise = random.Random(7)
        for _ in range(20):
            assert ear.push(way, noise.randbytes(5_000)).status_code in {200, 400}
        assert ear.store.standing_alarms() == ()
        assert ear.push("/log", xid()).json()["taken"] == 1


def test_a_body_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """By what its head says, or as soon as it has grown too large."""

    def endless() -> Iterator[bytes]:
        for _ in range(400):
            yield b"x" * 10_000

    with listening(tmp_path) as ear:
        assert ear.push("/log", b"x" * (1024 * 1024 + 1)).status_code == 413
        assert ear.push("/log", endless()).status_code == 413
        assert ear.push("/redfish/gpu-01", b"x" * (256 * 1024 + 1)).status_code == 413
        until(lambda: ear.heard("kernel", "refused: body too large, too slow or broken off") == 2)


def test_what_is_no_push_is_answered_shortly(tmp_path: Path) -> None:
    with listening(tmp_path) as ear:
        assert ear.push("/nothing", b"").status_code == 404
        assert ear.push("/log/../../x", b"").status_code == 404
        assert ear.push("/syslog", b"").status_code == 404
        assert ear.push("/log?" + "x" * 600, b"").status_code == 414
        assert ear.push("/log", b"x", headers={"content-encoding": "gzip"}).status_code == 415
        assert ear.push("/log", b"x", headers={f"x-{number}": "y" for number in range(80)}).status_code == 431


def test_health_is_said_to_anybody(tmp_path: Path) -> None:
    """And nothing else: it names no node and no token."""
    with listening(tmp_path) as ear:
        answer = httpx.get(f"{ear.url}/healthz", trust_env=False, timeout=LONG)
        assert (answer.status_code, answer.json()) == (200, {"store": True, "waiting": 0, "waiting_bytes": 0})
        assert httpx.get(f"{ear.url}/signals/log", trust_env=False, timeout=LONG).status_code == 405


def test_one_node_floods_and_anothers_one_signal_is_heard_at_once(tmp_path: Path) -> None:
    """Four connections push lines of one node without a pause; the other comes from an address of its own."""
    with listening(tmp_path) as ear:
        lines = "\n".join(xid("gpu-02", pci=f"0000:{number % 256:02x}:00") for number in range(2_000))
        over = time.monotonic() + 3.0
        statuses: list[int] = []

        def flood() -> None:
            while time.monotonic() < over:
                statuses.append(ear.push("/log", lines, source="127.0.0.9").status_code)

        with ThreadPoolExecutor(4) as pool:
            floods = [pool.submit(flood) for _ in range(4)]
            time.sleep(0.5)
            took = []
            for number in (79, 48, 62):
                began = time.monotonic()
                assert ear.push("/log", xid("gpu-01", number)).json()["taken"] == 1
                took.append(time.monotonic() - began)
            for each in floods:
                each.result()
        assert sorted(took)[1] < 10.0, took
        assert len(ear.alarms("gpu-01")) == 3
        assert len(ear.store.alarms("gpu-02")) <= 256
        assert set(statuses) <= {200, 429, 503}


def test_what_finds_no_room_is_told_so_and_counted(tmp_path: Path) -> None:
    """The store is locked by somebody; what waits is bounded; once it is free, all that is sent again is taken."""
    bounds = Bounds(all=4 * OVERHEAD, one=3 * OVERHEAD)
    with listening(tmp_path, bounds=bounds) as ear:
        assert ear.push("/log", entry("gpu-01", "warm")).status_code == 200
        lock = sqlite3.connect(tmp_path / "fleet.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(12) as pool:
            pushed = [pool.submit(ear.push, "/log", xid(number=40 + number)) for number in range(12)]
            until(lambda: sum(each.done() for each in pushed) >= 8)
            refused = [each.result() for each in pushed if each.done()]
            lock.execute("ROLLBACK")
            lock.close()
            answers = [each.result() for each in pushed]
        assert {each.status_code for each in refused} <= {429, 503}
        assert all(each.headers["retry-after"] for each in answers if each.status_code != 200)
        assert sum(each.status_code == 200 for each in answers) < 12
        until(lambda: ear.heard("kernel", "refused: no room") >= 8)
        for number in range(12):
            assert ear.push("/log", xid(number=40 + number)).status_code == 200
        stored = {each.code for each in ear.store.alarms("gpu-01")}
        assert {f"xid.{40 + number}" for number in range(12)} <= stored


def test_an_address_that_asks_too_often_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one is answered."""
    limited(monkeypatch)
    with listening(tmp_path) as ear:
        assert flooded(lambda: ear.push("/log", b"", "")) == {401, 429}
        assert ear.push("/log", xid(), source="127.0.0.7").status_code == 200
