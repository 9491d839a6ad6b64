"""fleet_job starts work once, finds it again, and tells running, ended and lost apart."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Tool = Callable[[str, str], str]


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Path]:
    """Where the test's jobs live; whatever still runs at its end is ended."""
    yield tmp_path / "jobs"
    for pid in holders(tmp_path / "jobs"):
        os.kill(pid, signal.SIGKILL)


def holders(jobs: Path) -> set[int]:
    """The processes that hold a lock file of these jobs open: their supervisors and themselves."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            target = str(link.readlink())
        except OSError:
            continue
        if target.startswith(f"{jobs}/") and target.endswith("/lock"):
            found.add(int(link.parts[2]))
    return found - {os.getpid()}


def params(jobs: Path, *argv: str, name: str = "load") -> dict[str, Any]:
    return {"name": name, "argv": list(argv), "dir": str(jobs), "seconds": 5.0, "tail_bytes": 100}


def until(module: ModuleType, job: dict[str, Any], state: str) -> dict[str, Any]:
    """Ask again until the job is in a state; the test's own time limit ends a wait in vain."""
    while True:
        changed, found = module.ensure(job)
        assert not changed
        if found["state"] == state:
            return dict(found)
        time.sleep(0.05)


def test_a_job_starts_once_however_often_it_is_asked_for(
    module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path
) -> None:
    job = params(jobs, tool("load", f"echo run >>{tmp_path}/witness; echo burning; sleep 600"))
    assert module.ensure(job)[0]
    for _ in range(3):
        changed, found = module.ensure(job)
        assert not changed
        assert found["state"] == "running"
    while not (tmp_path / "witness").exists():
        time.sleep(0.05)
    assert (tmp_path / "witness").read_text() == "run\n"


def test_the_end_of_a_job_is_known_with_its_status_and_the_end_of_its_output(
    module: ModuleType, jobs: Path, tool: Tool
) -> None:
    job = params(jobs, tool("load", "seq 1000; exit 4"))
    module.ensure(job)
    found = until(module, job, "ended")
    assert (found["rc"], found["seconds"]) == (4, 5.0)
    assert found["output"].endswith("999\n1000\n")
    assert len(found["output"]) == 100


def test_an_ended_job_is_adopted_and_another_name_starts_anew(module: ModuleType, jobs: Path) -> None:
    module.ensure(params(jobs, "true", name="burn_in-1"))
    until(module, params(jobs, "true", name="burn_in-1"), "ended")
    assert not module.ensure(params(jobs, "true", name="burn_in-1"))[0]
    assert module.ensure(params(jobs, "true", name="burn_in-2"))[0]


def test_a_job_that_cannot_be_started_has_ended_with_127(module: ModuleType, jobs: Path) -> None:
    job = params(jobs, "no-such-tool-anywhere")
    module.ensure(job)
    found = until(module, job, "ended")
    assert found["rc"] == 127
    assert "no-such-tool-anywhere" in found["output"]


def test_a_killed_job_has_ended_by_its_signal(module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path) -> None:
    job = params(jobs, tool("load", f"echo $$ >{tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; sleep 600"))
    module.ensure(job)
    while not (tmp_path / "pid").exists():
        time.sleep(0.05)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert until(module, job, "ended")["rc"] == -signal.SIGKILL


def test_a_job_whose_end_nobody_saw_is_lost_and_not_started_again(module: ModuleType, jobs: Path) -> None:
    """First its supervisor is killed: it still runs. Then itself: now nobody will ever write its status."""
    job = params(jobs, "sleep", "600")
    module.ensure(job)
    while not (jobs / "load" / "started").exists() or len(holders(jobs)) < 2:
        time.sleep(0.05)
    supervisor = min(holders(jobs), key=lambda pid: Path(f"/proc/{pid}/cmdline").read_bytes()[:9] == b"sleep\x00600")
    os.kill(supervisor, signal.SIGKILL)
    while supervisor in holders(jobs):
        time.sleep(0.05)
    assert module.ensure(job)[1]["state"] == "running"
    [load] = holders(jobs)
    os.kill(load, signal.SIGKILL)
    assert until(module, job, "lost")["elapsed"] >= 0
    assert not holders(jobs)


def test_a_job_that_was_never_begun_is_begun(module: ModuleType, jobs: Path) -> None:
    """The module died between taking the lock and starting the supervisor: nothing has run yet."""
    (jobs / "load").mkdir(parents=True)
    (jobs / "load" / "lock").touch()
    assert module.ensure(params(jobs, "true"))[0]


def test_check_mode_says_what_would_start_and_starts_nothing(module: ModuleType, jobs: Path) -> None:
    changed, found = module.ensure(params(jobs, "true"), start=False)
    assert (changed, found["state"]) == (True, "absent")
    assert not jobs.exists()
    module.ensure(params(jobs, "true"))
    until(module, params(jobs, "true"), "ended")
    changed, found = module.ensure(params(jobs, "true"), start=False)
    assert (changed, found["state"]) == (False, "ended")


def test_output_of_days_is_kept_to_its_end(module: ModuleType, jobs: Path, tool: Tool) -> None:
    """A load that prints its progress for days must not fill the memory that /run is made of."""
    job = params(jobs, tool("load", "head -c 3000000 /dev/zero | tr '\\0' x; sleep 1; echo last"))
    module.ensure(job)
    assert until(module, job, "ended")["output"].endswith("xlast\n")
    assert (jobs / "load" / "output").stat().st_size < 2_000_000


def test_torn_files_are_read_as_nothing(module: ModuleType, jobs: Path) -> None:
    """A full disk can leave an empty `started`: the job is lost, and the module does not fall over it."""
    folder = jobs / "load"
    folder.mkdir(parents=True)
    (folder / "lock").touch()
    (folder / "started").write_text(json.dumps({"boottime": 1.0})[:5])
    changed, found = module.ensure(params(jobs, "true"))
    assert (changed, found["state"], found["output"]) == (False, "lost", "")
