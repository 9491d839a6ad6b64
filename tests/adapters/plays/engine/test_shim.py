"""What stands in for ansible-playbook, with a parent of the test's own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import fork_server

BATCH = "shim-1"


@contextmanager
def called(folder: Path, ran: Path) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """Start one that calls; cold it would write `ran`."""
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{handle}/{fork_server.SOCKET}")
        os.close(handle)
        listening.listen()
        listening.settimeout(60.0)
        words = [sys.executable, "-I", "-S", str(fork_server.SHIM), str(folder), "touch", str(ran)]
        with subprocess.Popen(words, env=os.environ | {"FLEET_BATCH": BATCH}) as shim:
            try:
                call, _ = listening.accept()
                with call:
                    call.settimeout(60.0)
                    yield shim, call
            finally:
                shim.kill()


@contextmanager
def asked(folder: Path, ran: Path, answer: str) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """Start one that knows its fork and has said "go", which nobody has read."""
    with called(folder, ran) as (shim, call):
        call.sendall(b"+")
        length = int.from_bytes(call.recv(8, socket.MSG_WAITALL), "big")
        call.recv(length, socket.MSG_WAITALL)
        call.sendall(f"pid {answer}\n".encode())
        assert call.recv(3, socket.MSG_PEEK | socket.MSG_WAITALL) == b"go\n"
        yield shim, call


@pytest.fixture
def fork() -> Iterator[int]:
    """A process with the batch's tag."""
    with subprocess.Popen(["sleep", "600"], env=os.environ | {"FLEET_BATCH": BATCH}) as process:
        yield process.pid
        process.kill()


def test_a_play_that_is_stopped_before_it_began_is_not_begun_cold(tmp_path: Path, fork: int) -> None:
    """The signal is passed on to a fork that has not read "go" yet."""
    with asked(tmp_path, tmp_path / "ran", str(fork)) as (shim, call):
        shim.send_signal(signal.SIGSTOP)
        shim.send_signal(signal.SIGTERM)
        call.close()
        shim.send_signal(signal.SIGCONT)
        assert shim.wait(60) == 128 + signal.SIGTERM
    assert not (tmp_path / "ran").exists()


def test_a_fork_that_ended_before_it_began_is_begun_cold(tmp_path: Path, fork: int) -> None:
    """Nobody asked it to end."""
    with asked(tmp_path, tmp_path / "ran", str(fork)) as (shim, call):
        call.close()
        os.kill(fork, signal.SIGKILL)
        assert shim.wait(60) == 0
    assert (tmp_path / "ran").exists()


def test_a_supervisor_that_began_is_left_alone(tmp_path: Path, fork: int) -> None:
    """Who had it forked ends, and starts no other one."""
    with asked(tmp_path, tmp_path / "ran", f"{fork} alone") as (shim, call):
        call.sendall(b"began\n")
        assert shim.wait(60) == 0
        os.kill(fork, 0)
    assert not (tmp_path / "ran").exists()


def test_a_supervisor_that_did_not_say_that_it_began_is_begun_cold(tmp_path: Path, fork: int) -> None:
    """Where it began nevertheless, the other one finds that."""
    with asked(tmp_path, tmp_path / "ran", f"{fork} alone") as (shim, call):
        call.close()
        assert shim.wait(60) == 0
    assert (tmp_path / "ran").exists()


def test_who_says_little_at_a_time_is_waited_for_no_longer(tmp_path: Path) -> None:
    """All answers together have one limit; each of them alone is in time."""
    with called(tmp_path, tmp_path / "ran") as (shim, call):
        call.sendall(b"+")
        with suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(240):
                call.sendall(b"p")
                time.sleep(0.5)
        assert shim.wait(60) == 0
        assert not (tmp_path / fork_server.SILENT).exists()
    assert (tmp_path / "ran").exists()


def test_who_gets_no_answer_at_all_says_so_to_others(tmp_path: Path) -> None:
    """A caller that was answered says nothing of the kind."""
    with called(tmp_path, tmp_path / "ran") as (shim, _):
        assert shim.wait(60) == 0
        assert (tmp_path / fork_server.SILENT).exists()
    assert (tmp_path / "ran").exists()
