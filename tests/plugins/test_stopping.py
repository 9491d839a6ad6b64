"""Before anything else is done to a node our tests on it end: the role's own words, on real chains."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.playing import PROJECT
from tests.plugins.test_fleet_job import appeared, job, ours, params, tagged

TASKS = PROJECT / "roles/active/tasks/stop.yml"
STUBBORN = "trap '' TERM; setsid sleep 600 & echo $PPID >{}/supervisor; sleep 600; sleep 600"


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A burn-in whose test does not end when it is asked to; what still runs at the end is ended."""
    yield params(tmp_path / "jobs", job("sh", "-c", STUBBORN.format(tmp_path), limit=900.0), job("true", name="next"))
    for pid in ours(tmp_path):
        os.kill(pid, signal.SIGKILL)


def stop(tmp_path: Path, **replaced: str) -> "subprocess.CompletedProcess[str]":
    """Do what the role does on the node."""
    [task] = yaml.safe_load(TASKS.read_text())
    words = task["ansible.builtin.shell"]
    for old, new in replaced.items():
        assert old in words
        words = words.replace(old, new)
    environment = os.environ | {"JOBS": str(tmp_path / "jobs")}
    return subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False, env=environment)


def test_when_it_returns_no_test_runs(module: ModuleType, chain: dict[str, Any], tmp_path: Path) -> None:
    """The rest of the chain is not begun; once more changes nothing, and says so."""
    module.ensure(chain)
    appeared(tmp_path / "supervisor")
    done = stop(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path}/jobs/burn_in-1/\n"
    assert not ours(tmp_path)
    found = module.look(tmp_path / "jobs/burn_in-1", chain)
    assert {each["state"] for each in found.values()} == {"preempted"}
    assert found["next"]["reason"] == "something else that is to happen to the node"
    assert stop(tmp_path).stdout == ""


def test_what_a_killed_supervisor_left_is_ended_too(
    module: ModuleType, chain: dict[str, Any], tmp_path: Path
) -> None:
    module.ensure(chain)
    supervisor = int(appeared(tmp_path / "supervisor"))
    os.kill(supervisor, signal.SIGKILL)
    while supervisor in ours(tmp_path):
        time.sleep(0.02)
    assert tagged(tmp_path)
    done = stop(tmp_path)
    assert (done.returncode, bool(done.stdout)) == (0, True)
    while tagged(tmp_path):
        time.sleep(0.02)


def test_a_chain_that_does_not_end_lets_nothing_else_begin(
    module: ModuleType, chain: dict[str, Any], tmp_path: Path
) -> None:
    """Nothing is flashed or erased under load: the task fails, and says what it waited for."""
    module.ensure(chain)
    os.kill(int(appeared(tmp_path / "supervisor")), signal.SIGSTOP)
    done = stop(tmp_path, **{"-w 60": "-w 0.2"})
    assert done.returncode == 1
    assert f"{tmp_path}/jobs/burn_in-1/ was asked to end, and has not" in done.stderr


def test_whoever_is_at_the_tests_is_waited_for(
    module: ModuleType, chain: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the role and by the module alike, and neither waits without end."""
    (tmp_path / "jobs").mkdir()
    with module._lock(tmp_path / "jobs/turn"), monkeypatch.context() as patience:
        patience.setattr(module, "TURN", 0.2)
        done = stop(tmp_path, **{"-w 60": "-w 0.2"})
        with pytest.raises(TimeoutError, match=r"another call has been at work here for 0\.2 s; try again"):
            module.ensure(chain)
    assert done.returncode == 1
    assert "another task has been at the tests under" in done.stderr
    assert module.ensure(chain)[0]


def test_a_node_that_never_had_tests_has_none_to_end(tmp_path: Path) -> None:
    assert stop(tmp_path).stdout == ""
    assert not (tmp_path / "jobs").exists()


def test_a_supervisor_ends_a_job_within_what_the_module_waits(
    module: ModuleType, chain: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One number says both: half of it is for processes that no signal ends, and half for what is elsewhere."""
    chain["jobs"][0] |= {"cancel": ["sleep", "600"]}
    monkeypatch.setattr(module, "ENDING", 5.0)
    module.ensure(chain)
    appeared(tmp_path / "supervisor")
    began = time.monotonic()
    assert module.ensure(chain | {"stop": "enough"})[0]
    assert 2.5 < time.monotonic() - began < module.ENDING + module.SPARE
