"""Jobs give way within seconds to whoever else works on the node, and not to those who only watch it.

Real processes: a file stands for the GPU, and whoever holds it open works on it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.chains import SUPERVISOR
from tests.holding import holding
from tests.waiting import until

SECONDS = 60.0
"""Work that came is alone after a look (1 s) and two seconds of patience; the rest is for a busy computer."""
STEP = f"stepd-{os.getpid()}"
"""A scheduler's step; tests that run beside this one have their own."""


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


@pytest.fixture
def gpu(tmp_path: Path) -> Path:
    """What stands for a GPU."""
    path = tmp_path / "nvidia-uvm"
    path.touch()
    return path


@pytest.fixture
def work(gpu: Path) -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
    """Start a tenant's work: a process that holds the GPU."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        code = f"import sys; held = open({str(gpu)!r}); print('held', flush=True); sys.stdin.read()"
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        return process

    yield start
    for process in started:
        end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()


@pytest.fixture
def asked(tmp_path: Path, gpu: Path) -> Iterator[dict[str, Any]]:
    """A test that uses the GPU, and would for ten minutes; what it started left its session and ignores a request."""
    load = tmp_path / "load"
    words = f"exec 3<{gpu}\necho begun >>{tmp_path}/witness\ntrap '' TERM\nsetsid sleep 600 &\nsleep 600; sleep 600\n"
    load.write_text(f"#!/bin/sh\n{words}")
    load.chmod(0o755)
    chain = [{"name": name, "argv": [str(load)], "seconds": 600.0, "limit": 900.0} for name in ("load", "next")]
    folder = tmp_path / "jobs"
    yield {
        "key": "health_active-1",
        "jobs": chain,
        "dir": str(folder),
        "tail_bytes": 100,
        "programs": SUPERVISOR,
        "yield_to": {"devices": [str(gpu)], "names": [STEP], "ignored": ["fleet-watch"]},
    }
    for path in (folder / "health_active-1" / "lock", gpu):  # the supervisor first, or it begins with the next one
        for pid in holders(path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def running(path: Path, holding: str = os.devnull) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a process under a name of its own that holds a file."""
    path.symlink_to("/bin/sleep")
    with Path(holding).open() as held:
        process = subprocess.Popen([str(path), "600"], stdin=held)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def holders(path: Path) -> set[int]:
    """Everybody who holds a file open."""
    return holding(lambda held: held == str(path))


def look(module: ModuleType, asked: dict[str, Any]) -> dict[str, Any]:
    return dict(module.look(Path(asked["dir"], asked["key"]), asked))


def states(found: dict[str, Any]) -> tuple[str, ...]:
    return tuple(each["state"] for each in found.values())


def gave_way(module: ModuleType, asked: dict[str, Any]) -> float:
    """Wait until the chain gave way; return how long that took."""
    began = time.monotonic()
    while states(look(module, asked)) != ("preempted", "preempted"):
        time.sleep(0.02)
    return time.monotonic() - began


def test_work_that_comes_has_the_node_for_itself_within_seconds(
    module: ModuleType, asked: dict[str, Any], gpu: Path, work: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
    """All that the test started is gone, though it left its session and ignored the request."""
    changed, found = module.ensure(asked)
    assert (changed, states(found)) == (True, ("running", "waiting"))
    tenant = work()
    assert gave_way(module, asked) < SECONDS
    assert holders(gpu) == {tenant.pid}
    found = look(module, asked)
    name = Path(f"/proc/{tenant.pid}/comm").read_text().strip()
    assert {each["reason"] for each in found.values()} == {f"{name} ({tenant.pid})"}
    assert found["load"]["elapsed"] < SECONDS + 2


def test_nothing_is_started_while_somebody_works_and_the_next_call_begins_anew(
    module: ModuleType,
    asked: dict[str, Any],
    tmp_path: Path,
    work: Callable[[], "subprocess.Popen[bytes]"],
) -> None:
    tenant = work()
    changed, found = module.ensure(asked)
    assert (changed, states(found)) == (False, ("preempted", "preempted"))
    assert f"({tenant.pid})" in found["load"]["reason"]
    assert not (tmp_path / "witness").exists()
    end(tenant)
    changed, found = module.ensure(asked)
    assert (changed, states(found)) == (True, ("running", "waiting"))
    again = work()
    gave_way(module, asked)
    assert states(module.ensure(asked)[1]) == ("preempted", "preempted")
    end(again)
    assert module.ensure(asked)[0]


def test_a_schedulers_step_is_work_by_its_name(module: ModuleType, asked: dict[str, Any], tmp_path: Path) -> None:
    """It comes before the work itself does: a process of that name need hold nothing."""
    module.ensure(asked)
    with running(tmp_path / STEP) as step:
        assert gave_way(module, asked) < SECONDS
        assert look(module, asked)["load"]["reason"] == f"{STEP} ({step.pid})"


def test_those_who_only_watch_the_gpus_are_no_work(
    module: ModuleType, asked: dict[str, Any], tmp_path: Path, gpu: Path
) -> None:
    """An exporter of metrics holds the device for good; a job's helper does its work without being its child."""
    asked["jobs"][0]["helpers"] = ["fleet-help"]
    seen = tmp_path / "jobs/health_active-1/processes"

    def pids() -> list[int]:
        """Return whose work is known to be the test's own."""
        return json.loads(seen.read_text())["pids"] if seen.exists() else []

    with running(tmp_path / "fleet-watch", str(gpu)) as watcher:
        module.ensure(asked)
        until((tmp_path / "witness").exists)  # before the test itself begins, its helper would be somebody's work
        with running(tmp_path / "fleet-help", str(gpu)) as helper:
            until(lambda: {helper.pid} | holders(gpu) - {watcher.pid} <= set(pids()))
            assert states(look(module, asked)) == ("running", "waiting")
            assert watcher.pid not in pids()
            module.ensure(asked | {"stop": "enough"})
            assert helper.wait(SECONDS) == -signal.SIGTERM


def test_a_job_that_yields_is_the_last_to_get_anything(module: ModuleType, asked: dict[str, Any], gpu: Path) -> None:
    module.ensure(asked)
    while not holders(gpu):
        time.sleep(0.02)
    load = min(holders(gpu))
    assert os.getpriority(os.PRIO_PROCESS, load) == 19
    assert Path(f"/proc/{load}/oom_score_adj").read_text() == "1000\n"
    told = subprocess.run(["ionice", "-p", str(load)], capture_output=True, text=True, check=True)
    assert told.stdout == "idle\n"


def test_whoever_cannot_wait_for_the_node_is_told_by_what_carries_the_job(
    module: ModuleType, asked: dict[str, Any]
) -> None:
    """As srun does when Slurm takes the node back."""
    words = "echo 'slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED DUE TO PREEMPTION ***'; exit 143"
    asked["jobs"][0] |= {"argv": ["sh", "-c", words], "gave_way": {"DUE TO PREEMPTION": "a job of Slurm"}}
    module.ensure(asked)
    gave_way(module, asked)
    assert look(module, asked)["next"]["reason"] == "a job of Slurm"


def test_who_comes_in_the_last_moment_of_a_job_made_it_slow(
    module: ModuleType,
    asked: dict[str, Any],
    gpu: Path,
    tmp_path: Path,
    work: Callable[[], "subprocess.Popen[bytes]"],
) -> None:
    """The look after its end is a full one: what it measured counts only if nobody is there."""
    words = f"exec 3<{gpu}\necho begun >>{tmp_path}/witness\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.02; done\n"
    (tmp_path / "load").write_text(f"#!/bin/sh\n{words}")
    text = SUPERVISOR["supervise.py"].replace("LOOK, LOOK_SELDOM = 1.0", "LOOK, LOOK_SELDOM = 99.0")
    slow = asked | {"programs": SUPERVISOR | {"supervise.py": text}}
    assert slow["programs"] != SUPERVISOR
    module.ensure(slow)
    while not (tmp_path / "witness").exists():
        time.sleep(0.02)
    tenant = work()
    (tmp_path / "go").touch()
    gave_way(module, slow)
    found = look(module, slow)["load"]
    assert (found["state"], found["rc"]) == ("preempted", 0)
    assert f"({tenant.pid})" in found["reason"]


def test_what_a_helper_starts_is_ours_and_ends_with_it(
    module: ModuleType, asked: dict[str, Any], gpu: Path, tmp_path: Path
) -> None:
    """A daemon started the helper, and the helper programs that hold the GPU: no tenant's, also when it is gone."""
    (tmp_path / "load").write_text(f"#!/bin/sh\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.02; done\n")
    helper = tmp_path / "fleet-nvvs"
    helper.write_text(f"#!/bin/sh\nsleep 600 <{gpu} &\nwait\n")
    helper.chmod(0o755)
    jobs = [asked["jobs"][0] | {"helpers": ["fleet-nvvs"]}]
    module.ensure(asked | {"jobs": jobs})
    with subprocess.Popen([str(helper)]):
        while not holders(gpu):
            time.sleep(0.02)
        time.sleep(1.2)  # a look has passed
        (tmp_path / "go").touch()
    while not (tmp_path / "jobs/health_active-1/load/end").exists():
        time.sleep(0.02)
    assert module.look(tmp_path / "jobs/health_active-1", asked | {"jobs": jobs})["load"]["state"] == "ended"
    assert not holders(gpu)


@pytest.mark.parametrize("order", ["left", "left[::-1]"])
def test_a_supervisor_that_sees_nobody_lets_nothing_run_on(
    module: ModuleType, asked: dict[str, Any], gpu: Path, tmp_path: Path, order: str
) -> None:
    """As with no descriptor left for long: whoever has come is not seen, and the test is lost, which says why.

    Nor does what a job begins because a part of it was ended first.
    """
    first = "        processes = table()\n"
    gone = f"        if os.path.exists('{tmp_path}/blind'):\n            raise OSError('none left')\n"
    blind = SUPERVISOR["watch.py"].replace(first, first + gone)
    kill = "os.kill(pid, signal.SIGKILL)"
    short = SUPERVISOR["supervise.py"].replace("BLIND = 10.0", "BLIND = 1.5")
    short = short.replace("for pid in left:", f"for pid in {order}:").replace(kill, f"{kill}, time.sleep(0.1)")
    assert blind != SUPERVISOR["watch.py"]
    asked |= {"programs": {"watch.py": blind, "supervise.py": short}}
    assert module.ensure(asked)[0]
    while not holders(gpu):
        time.sleep(0.02)
    (tmp_path / "blind").touch()
    while look(module, asked)["load"]["state"] != "lost":
        time.sleep(0.02)
    assert "nobody could see for 1.5 s who works on the node" in look(module, asked)["load"]["reason"]
    while holders(gpu):
        time.sleep(0.02)
