"""Finding, signalling and ending processes by their tag."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from fleet_runner.adapters.plays import processes
from fleet_runner.adapters.plays.processes import Process
from tests.adapters.plays.engine.conftest import B1, B2
from tests.waiting import until

Sleeper = subprocess.Popen[bytes]


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    """A process that is tagged and sleeps."""
    with subprocess.Popen(["sleep", "600"], env={**os.environ, processes.TAG: B1}) as process:
        # The kernel shows a new program's surroundings a moment after it began.
        until(lambda: processes.tagged(B1), "the sleeper has its tag")
        yield process
        process.kill()


def test_a_tagged_process_is_found_by_its_whole_tag_only(sleeper: Sleeper) -> None:
    assert [one.pid for one in processes.tagged(B1)] == [sleeper.pid]
    assert processes.tagged("b") == ()
    assert processes.tagged(f"{B1}1") == ()
    assert processes.tagged(B1)[0].command == "sleep 600"


def test_a_process_that_ended_and_was_not_waited_for_is_not_alive(sleeper: Sleeper) -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert processes.tagged(B1) == ()


def test_a_signal_reaches_the_process_that_was_meant(sleeper: Sleeper) -> None:
    (found,) = processes.tagged(B1)
    assert processes.send(found, B1, signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM


@pytest.mark.parametrize(("ticks", "batch"), [(1, B1), (0, B2)], ids=["another start", "another tag"])
def test_a_signal_spares_a_process_with_another_start_or_tag(sleeper: Sleeper, ticks: int, batch: str) -> None:
    """The id fits and something else does not: it was used again."""
    (found,) = processes.tagged(B1)
    assert not processes.send(Process(found.pid, found.started + ticks, ""), batch, signal.SIGKILL)
    assert sleeper.poll() is None


def test_a_signal_to_a_process_that_is_gone_is_no_error(sleeper: Sleeper) -> None:
    (found,) = processes.tagged(B1)
    sleeper.kill()
    sleeper.wait()
    assert not processes.send(found, B1, signal.SIGTERM)


def test_ending_asks_first_and_spares_who_is_named(sleeper: Sleeper) -> None:
    assert processes.end(B1, spare={sleeper.pid}, grace=0.1) == ()
    assert sleeper.poll() is None
    assert processes.end(B1) == ()
    assert sleeper.wait() == -signal.SIGTERM


def test_who_does_not_listen_is_killed() -> None:
    command = ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done"]
    with subprocess.Popen(command, env={**os.environ, processes.TAG: B1}, stdout=subprocess.PIPE) as deaf:
        assert deaf.stdout is not None
        deaf.stdout.readline()
        assert processes.end(B1, grace=0.2) == ()
        assert deaf.wait() == -signal.SIGKILL
