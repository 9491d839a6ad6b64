"""How a process that serves ends: real processes, real signals."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE = 60.0
SITE = Path(__file__).parents[3] / "docs" / "examples" / "site"
"""A source of truth with nodes, for which nothing is begun while the policy cannot be used."""

SERVE = (sys.executable, "-u", "-m", "fleet_runner.cli", "serve")
STOPPED = "stopped; running plays continue"


class Started:
    """A process of its own, whose output goes into a file."""

    def __init__(self, folder: Path, command: tuple[str, ...], **given: str) -> None:
        self.log = folder / "log"
        own = {"FLEET_STATE_DIR": str(folder / "state"), "COLUMNS": "400", "FLEET_TICK_SECONDS": "0.1"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, env=os.environ | own | given, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def said(self) -> str:
        """Return all that it said so far."""
        return self.log.read_text("utf-8")

    def until(self, words: str) -> None:
        """Wait until it has said something."""
        end = time.monotonic() + PATIENCE
        while words not in self.said:
            assert time.monotonic() < end, self.said
            assert self.process.poll() is None or words in self.said, self.said
            time.sleep(0.05)

    def ends(self) -> int:
        """Wait for its end, and return how it ended."""
        return self.process.wait(PATIENCE)


Start = Callable[..., Started]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Processes in a folder with a site without devices; none outlives its test."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sites.yml").write_text("- name: hall\n", "utf-8")
    started: list[Started] = []

    def begin(command: tuple[str, ...] = SERVE, **given: str) -> Started:
        started.append(Started(tmp_path, command, **given))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait(PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_asks_it_to_end_is_told_what_follows(start: Start, number: signal.Signals) -> None:
    """In order: exit code 0, and what a second signal would do."""
    serve = start()
    serve.until("serving ")
    serve.process.send_signal(number)
    assert serve.ends() == 0
    assert "Ctrl-C again ends at once" in serve.said
    assert STOPPED in serve.said


def test_nohup_keeps_it_when_its_terminal_goes(start: Start) -> None:
    """A signal that was ignored when it started stays ignored."""
    serve = start(("nohup", *SERVE))
    serve.until("serving ")
    serve.process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    assert serve.process.poll() is None
    serve.process.send_signal(signal.SIGTERM)
    assert serve.ends() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_tick_that_hangs_ends_with_the_second_signal(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    """Its policy is a pipe that nobody writes to: no end in order can come."""
    os.mkfifo(tmp_path / "policy.yml")
    serve = start(SERVE, FLEET_POLICY_FILE=str(tmp_path / "policy.yml"), FLEET_SOURCE=str(SITE))
    end = time.monotonic() + PATIENCE
    while "wait_for_partner" not in Path(f"/proc/{serve.process.pid}/wchan").read_text("utf-8"):
        assert time.monotonic() < end, serve.said
        time.sleep(0.1)
    serve.process.send_signal(number)
    serve.until("Ctrl-C again ends at once")
    time.sleep(0.5)
    assert serve.process.poll() is None
    serve.process.send_signal(number)
    assert serve.ends() == -number
    assert "Traceback" not in serve.said


@pytest.mark.parametrize(
    "module", ["fleet_runner.core.base.errors", "sqlalchemy.engine", "fleet_runner.cli.lifecycle.board"]
)
def test_an_early_ctrl_c_prints_no_traceback(start: Start, module: str) -> None:
    """While modules load, whichever; before the first of ours Ctrl-C is Python's own."""
    command = start((sys.executable, "-X", "importtime", "-m", "fleet_runner", "status"))
    command.until(module)
    command.process.send_signal(signal.SIGINT)
    assert command.ends() in {130, -signal.SIGINT, 3}
    assert "Traceback" not in command.said


IGNORED = """
import time
import fleet_runner.cli
from fleet_runner.__main__ import main

class Part:
    def __del__(self):
        raise {error}

def command():
    Part()
    time.sleep({seconds})

fleet_runner.cli.main = command
main()
"""


def test_a_ctrl_c_that_python_ignored_is_heard(start: Start) -> None:
    """In a destructor, as in a callback while modules load, nothing can be raised."""
    command = start((sys.executable, "-c", IGNORED.format(error="KeyboardInterrupt", seconds=PATIENCE)))
    assert command.ends() == 130
    assert command.said == ""


def test_another_error_that_python_ignored_is_said(start: Start) -> None:
    command = start((sys.executable, "-c", IGNORED.format(error="OSError('broken')", seconds=0)))
    assert command.ends() == 0
    assert "OSError: broken" in command.said


def test_systemd_hears_that_it_is_ready_lives_and_ends(start: Start, tmp_path: Path) -> None:
    """At a real socket, as systemd has one; plays inherit nothing of it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE)
        serve = start(SERVE, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="400000")
        assert [systemd.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
        serve.process.send_signal(signal.SIGTERM)
        while systemd.recv(100) != b"STOPPING=1":
            pass
    assert serve.ends() == 0


def test_another_process_watchdog_is_not_taken_for_its_own(start: Start, tmp_path: Path) -> None:
    """A parent's: systemd says whose it is."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE)
        start(SERVE, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="100000", WATCHDOG_PID="1")
        assert systemd.recv(100) == b"READY=1"
        systemd.settimeout(1.0)
        with pytest.raises(TimeoutError):
            systemd.recv(100)


def test_a_broken_policy_is_said_once_and_again_when_it_changes(start: Start, tmp_path: Path) -> None:
    """At ten ticks a second."""
    policy = tmp_path / "policy.yml"
    policy.write_text("rules: 7\n", "utf-8")
    serve = start(SERVE, FLEET_POLICY_FILE=str(policy), FLEET_SOURCE=str(SITE))
    serve.until("this tick failed")
    time.sleep(2.0)
    assert serve.said.count("this tick failed") == 1
    (tmp_path / "new").write_text("rulez: 7\n", "utf-8")
    (tmp_path / "new").rename(policy)  # a tick in between must not find an empty one
    serve.until("rulez")
    time.sleep(1.0)
    assert serve.said.count("this tick failed") == 2


def test_a_broken_health_listen_is_unusable_input(start: Start) -> None:
    """Before anything is served."""
    serve = start(SERVE, FLEET_HEALTH_LISTEN="8491")
    assert serve.ends() == 2
    assert "error: setting 'health_listen': found '8491', expected address:port" in serve.said
