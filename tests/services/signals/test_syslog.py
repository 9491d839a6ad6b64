"""Syslog over real sockets: both framings, other programs, strangers, what is too long, and what finds no room."""

import shutil
import socket
import sqlite3
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.faults.signals.syslog import LARGEST
from fleet_runner.services.signals.counters import Counts
from fleet_runner.services.signals.inbox import Bounds
from fleet_runner.services.signals.serving import secured
from fleet_runner.services.signals.syslog import networks
from fleet_runner.settings import Settings
from tests.services.signals.hearing import Ear, listening
from tests.waiting import PATIENCE, until

HERE = "127.0.0.1:0"

HALL = "127.0.0.0/8"
"""The relays of these tests: whoever sends from this machine passes on what any node said."""


def message(host: str = "gpu-01", number: int = 79, priority: int = 3, app: str = "kernel") -> bytes:
    """Return a kernel's message as rsyslog forwards it (RFC 5424)."""
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return f"<{priority}>1 {at} {host} {app} - - - NVRM: Xid (PCI:0000:0f:00): {number}, pid=1, x".encode()


def datagram(ear: Ear, data: bytes, source: str = "127.0.0.1") -> None:
    """Send over UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((source, 0))
        sender.sendto(data, ear.syslog)


def stream(ear: Ear, *pieces: bytes) -> None:
    """Send over TCP, in pieces."""
    with socket.create_connection(ear.syslog) as sender:
        for piece in pieces:
            sender.sendall(piece)
            time.sleep(0.01)


def codes(ear: Ear, name: str = "gpu-01") -> set[str]:
    """Return what stands of a node."""
    return {each.code for each in ear.store.alarms(name)}


def test_messages_come_over_udp(tmp_path: Path) -> None:
    """Those of the older standard, too."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL) as ear:
        datagram(ear, message())
        now = datetime.now(UTC).strftime("%b %e %H:%M:%S")
        datagram(ear, f"<2>{now} gpu-02 kernel: [ 12.5] NVRM: Xid (PCI:0000:0f:00): 48, pid=1, x".encode())
        until(lambda: codes(ear) == {"xid.79"} and codes(ear, "gpu-02") == {"xid.48"})


def test_messages_come_over_tcp_in_both_framings(tmp_path: Path) -> None:
    """Cut anywhere; the last line needs no end."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL) as ear:
        one, two = message(number=79), message(number=48)
        counted = b"%d %b" % (len(one), one) + b"%d %b" % (len(two), two)
        stream(ear, counted[:3], counted[3:50], counted[50:])
        until(lambda: codes(ear) == {"xid.79", "xid.48"})
        lines = message("gpu-02", 79) + b"\n" + message("gpu-02", 48)
        stream(ear, lines[:20], lines[20:])
        until(lambda: codes(ear, "gpu-02") == {"xid.79", "xid.48"})


@pytest.mark.skipif(shutil.which("logger") is None, reason="the system has no logger")
@pytest.mark.parametrize("way", [["--udp"], ["--tcp"], ["--tcp", "--octet-count"], ["--udp", "--rfc3164"]])
def test_the_systems_logger_is_heard_and_no_program_speaks_for_the_kernel(tmp_path: Path, way: list[str]) -> None:
    """Whoever may run it may say what he likes; only the kernel's own facility raises alarms."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL) as ear:
        host, port = ear.syslog
        text = "NVRM: Xid (PCI:0000:0f:00): 79, pid=1, x"
        command = ["logger", *way, "--server", host, "--port", str(port), "--tag", "kernel", "-p", "kern.crit", text]
        subprocess.run(command, check=True, timeout=30)
        datagram(ear, message("gpu-02"))
        until(lambda: codes(ear, "gpu-02") == {"xid.79"})
        assert ear.store.alarms("gpu-01") == ()


def test_strangers_are_counted_and_not_heard(tmp_path: Path) -> None:
    """By address: over TCP they are shown the door."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL, signals_syslog_from="127.0.0.1/32") as ear:
        datagram(ear, message(), source="127.0.0.2")
        with socket.create_connection(ear.syslog, source_address=("127.0.0.2", 0)) as sender:
            assert sender.recv(10) == b""
        datagram(ear, message("gpu-02"))
        until(lambda: codes(ear, "gpu-02") == {"xid.79"})
        assert codes(ear) == set()
        until(lambda: ear.heard("kernel", "refused: stranger") == 2)


def test_what_is_too_long_or_no_syslog_is_counted(tmp_path: Path) -> None:
    """A connection ends with it; the next one is heard."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL) as ear:
        datagram(ear, b"x" * (LARGEST + 1))
        datagram(ear, b"\xff\x00 no syslog")
        with socket.create_connection(ear.syslog) as sender:
            sender.sendall(b"999999 <3>1 ")
            assert sender.recv(10) == b""
        stream(ear, message() + b"\n")
        until(lambda: codes(ear) == {"xid.79"})
        until(lambda: ear.heard("kernel", "refused: too long") == 1)
        until(lambda: ear.heard("kernel", "refused: too long or no syslog") == 1)
        until(lambda: ear.heard("kernel", "refused: unreadable") == 1)


def test_one_address_holds_so_many_connections(tmp_path: Path) -> None:
    """Another one is heard meanwhile."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL) as ear:
        held = [socket.create_connection(ear.syslog, source_address=("127.0.0.3", 0)) for _ in range(17)]
        held[-1].settimeout(PATIENCE)
        assert held[-1].recv(10) == b""
        stream(ear, message() + b"\n")
        until(lambda: codes(ear) == {"xid.79"})
        for each in held:
            each.close()
        until(lambda: ear.heard("kernel", "refused: too many connections") == 1)


def test_while_the_store_is_locked_tcp_is_held_back_and_nothing_of_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came over UDP and found no room is gone, and counted."""
    counted, add = set[str](), Counts.add

    def counts(self: Counts, source: str, what: str, *more: Any) -> None:
        counted.add(what)
        add(self, source, what, *more)

    monkeypatch.setattr(Counts, "add", counts)
    with listening(tmp_path, signals_syslog=HERE, signals_relays=HALL, bounds=Bounds(all=8_000, one=4_000)) as ear:
        datagram(ear, message("gpu-03"))
        until(lambda: codes(ear, "gpu-03") == {"xid.79"})
        lock = sqlite3.connect(tmp_path / "fleet.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with socket.create_connection(ear.syslog) as sender:
            for number in range(40, 100):
                sender.sendall(message(number=number) + b"\n")
                time.sleep(0.005)
            for _ in range(100):
                datagram(ear, message("gpu-02"), source="127.0.0.4")
            until(lambda: {"held back", "refused: no room, lost"} <= counted)
            lock.execute("ROLLBACK")
            lock.close()
            until(lambda: {f"xid.{number}" for number in range(40, 100)} <= codes(ear))
        until(lambda: ear.heard("kernel", "held back") >= 1)
        until(lambda: ear.heard("kernel", "refused: no room, lost") >= 1)


@pytest.mark.parametrize("text", ["10.0.0.0/33", "all", "10.0.0.1/8"])
def test_networks_that_are_none_are_an_error(text: str, tmp_path: Path) -> None:
    """In both settings that name some, and before anything listens."""
    with pytest.raises(SettingsError, match="signals_syslog_from"):
        networks(text)
    with pytest.raises(SettingsError, match="signals_relays"):
        secured(Settings(state_dir=tmp_path, signals_listen=HERE, signals_relays=text))
