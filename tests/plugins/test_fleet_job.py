"""fleet_job starts a chain of jobs once, finds it again, and tells what each of them does."""

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

Tool = Callable[[str, str], str]


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Path]:
    """Where the test's jobs live; whatever still runs at its end is ended."""
    yield tmp_path / "jobs"
    for pid in ours(tmp_path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ours(tmp_path: Path) -> set[int]:
    """The processes of this test's chains: supervisors hold their lock, jobs bear the tag."""
    locked = holding(lambda path: path.startswith(f"{tmp_path}/jobs/") and path.endswith("/lock"))
    return (locked | tagged(tmp_path)) - {os.getpid()}


def tagged(tmp_path: Path) -> set[int]:
    """The processes of this test's jobs."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"FLEET_JOB={tmp_path}/jobs/".encode() in path.read_bytes():
                found.add(int(path.parts[2]))
        except OSError:
            continue
    return found


def job(*argv: str, name: str = "load", **values: Any) -> dict[str, Any]:
    """One job."""
    return {"name": name, "argv": list(argv), "seconds": 5.0, "limit": 60.0} | values


def params(jobs: Path, *chain: dict[str, Any], key: str = "burn_in-1", **values: Any) -> dict[str, Any]:
    given = {"key": key, "jobs": list(chain), "dir": str(jobs), "tail_bytes": 100}
    return given | values | {"programs": SUPERVISOR | values.get("programs", {})}


def until(module: ModuleType, asked: dict[str, Any], state: str, name: str = "load") -> dict[str, Any]:
    """Ask again until a job is in a state; the test's own time limit ends a wait in vain."""
    while True:
        found = module.look(Path(asked["dir"], asked["key"]), asked)[name]
        if found["state"] == state:
            return dict(found)
        time.sleep(0.02)


def appeared(path: Path) -> str:
    """Wait for a file and return its text."""
    while not path.exists() or not path.read_text():
        time.sleep(0.02)
    return path.read_text()


def test_a_chain_starts_once_however_often_it_is_asked_for(
    module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path
) -> None:
    asked = params(jobs, job(tool("load", f"echo run >>{tmp_path}/witness; echo burning; sleep 600")))
    assert module.ensure(asked)[0]
    for _ in range(3):
        changed, found = module.ensure(asked)
        assert not changed
        assert found["load"]["state"] == "running"
    assert appeared(tmp_path / "witness") == "run\n"


def test_jobs_run_one_after_the_other_without_a_visit(
    module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path
) -> None:
    """What ended stays as it is; what has not begun says behind whom it waits."""
    first = job(tool("one", f"echo one; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"), name="one")
    second = job(tool("two", "seq 1000; exit 4"), name="two")
    asked = params(jobs, first, second)
    found = module.ensure(asked)[1]
    assert (found["one"]["state"], found["two"]["state"]) == ("running", "waiting")
    assert found["two"]["reason"] == "behind one"
    changed, seen = module.ensure(asked, start=False)
    assert (changed, seen["one"]["state"], seen["two"]["reason"]) == (False, "running", "behind one")
    (tmp_path / "go").touch()
    found = until(module, asked, "ended", "two")
    assert (found["rc"], found["seconds"], len(found["output"])) == (4, 5.0, 100)
    assert found["output"].endswith("999\n1000\n")
    changed, known = module.ensure(asked)
    assert (changed, known["one"]["state"], known["one"]["output"]) == (False, "ended", "one\n")


def test_a_job_that_cannot_be_started_has_ended_with_127(module: ModuleType, jobs: Path) -> None:
    asked = params(jobs, job("no-such-tool-anywhere"), job("true", name="next"))
    module.ensure(asked)
    found = until(module, asked, "ended")
    assert found["rc"] == 127
    assert "no-such-tool-anywhere" in found["output"]
    assert until(module, asked, "ended", "next")["rc"] == 0


def test_a_killed_job_has_ended_by_its_signal(module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path) -> None:
    asked = params(jobs, job(tool("load", f"echo $$ >{tmp_path}/pid; sleep 600")))
    module.ensure(asked)
    os.kill(int(appeared(tmp_path / "pid")), signal.SIGKILL)
    assert until(module, asked, "ended")["rc"] == -signal.SIGKILL


def test_a_job_that_hangs_is_ended_at_its_limit_with_all_that_it_started(
    module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path
) -> None:
    """It ignores the signal, and its children left its session."""
    asked = params(jobs, job(tool("load", "trap '' TERM; setsid sleep 600 & sleep 600; sleep 600"), limit=0.5))
    module.ensure(asked)
    found = until(module, asked, "ended")
    assert found["rc"] == 124
    assert "ended after 0.5 s, which is its time limit" in found["output"]
    assert not tagged(tmp_path)


def test_nothing_that_a_job_started_outlives_it(module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path) -> None:
    asked = params(jobs, job(tool("load", "setsid sleep 600 & exit 0")))
    module.ensure(asked)
    assert until(module, asked, "ended")["rc"] == 0
    assert not tagged(tmp_path)


def test_a_job_whose_supervisor_was_killed_is_lost_and_the_next_one_begins(
    module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path
) -> None:
    """The job goes with it, for nobody else would end it when work comes; what left its tree is swept up later."""
    load = job(tool("load", f"setsid sleep 600 & echo $PPID >{tmp_path}/supervisor; sleep 600"))
    asked = params(jobs, load, job("sleep", "600", name="next"))
    module.ensure(asked)
    os.kill(int(appeared(tmp_path / "supervisor")), signal.SIGKILL)
    assert until(module, asked, "lost")["elapsed"] >= 0
    changed, found = module.ensure(asked)
    assert (changed, found["load"]["state"], found["next"]["state"]) == (True, "lost", "running")
    while len(tagged(tmp_path)) != 1:  # what the killed one left is gone, the next one has begun
        time.sleep(0.02)


def test_a_chain_that_was_never_begun_is_begun(module: ModuleType, jobs: Path) -> None:
    """The module died between taking the lock and starting the supervisor: nothing has run yet."""
    (jobs / "burn_in-1").mkdir(parents=True)
    (jobs / "burn_in-1" / "lock").touch()
    assert module.ensure(params(jobs, job("true")))[0]


def test_a_supervisor_that_cannot_run_is_told(
    module: ModuleType, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SOON", 0.3)
    asked = params(jobs, job("true"), programs={"supervise.py": "raise SystemExit(1)"})
    changed, found = module.ensure(asked)
    assert (changed, found["load"]["state"]) == (False, "lost")


def test_check_mode_says_what_would_start_and_starts_nothing(module: ModuleType, jobs: Path) -> None:
    asked = params(jobs, job("true"))
    changed, found = module.ensure(asked, start=False)
    assert (changed, found["load"]["state"], found["load"]["reason"]) == (True, "waiting", "it would be started")
    assert not jobs.exists()
    module.ensure(asked)
    until(module, asked, "ended")
    changed, found = module.ensure(asked, start=False)
    assert (changed, found["load"]["state"]) == (False, "ended")


def test_output_of_days_is_kept_to_its_end(module: ModuleType, jobs: Path, tool: Tool) -> None:
    """A load that prints its progress for days must not fill the memory that /run is made of."""
    asked = params(jobs, job(tool("load", "head -c 3000000 /dev/zero | tr '\\0' x; sleep 0.3; echo last")))
    module.ensure(asked)
    assert until(module, asked, "ended")["output"].endswith("xlast\n")
    assert (jobs / "burn_in-1" / "load" / "output").stat().st_size < 2_000_000


def test_torn_files_are_read_as_nothing(module: ModuleType, jobs: Path) -> None:
    """A full disk can leave an empty `started`: the job is lost, and the module does not fall over it."""
    folder = jobs / "burn_in-1" / "load"
    folder.mkdir(parents=True)
    (folder / "started").write_text(json.dumps({"boottime": 1.0})[:5])
    changed, found = module.ensure(params(jobs, job("true")))
    assert (changed, found["load"]["state"], found["load"]["output"]) == (False, "lost", "")


def test_a_node_that_booted_since_starts_nothing(module: ModuleType, jobs: Path) -> None:
    """Its tests are lost; that it booted is a fault of its own, and a load would only be in a technician's way."""
    up = time.clock_gettime(time.CLOCK_BOOTTIME)
    changed, found = module.ensure(params(jobs, job("true"), age=up + module.SLOW + 5))
    assert (changed, found["load"]["state"]) == (False, "lost")
    assert module.ensure(params(jobs, job("true"), age=up))[0]


def test_a_newer_stay_takes_the_place_of_an_older_one(module: ModuleType, jobs: Path, tmp_path: Path) -> None:
    """The node left its burn-in for triage, and has come back."""
    old, new = params(jobs, job("sleep", "600")), params(jobs, job("true"), key="burn_in-2.5")
    module.ensure(old)
    assert module.ensure(new)[0]
    until(module, new, "ended")
    found = module.look(jobs / "burn_in-1", old)["load"]
    assert (found["state"], found["reason"]) == ("preempted", "burn_in-2.5, which took its place")
    assert not tagged(tmp_path)


def test_other_work_of_ours_is_waited_for(module: ModuleType, jobs: Path) -> None:
    module.ensure(params(jobs, job("sleep", "600")))
    changed, found = module.ensure(params(jobs, job("true"), key="health_active-7"))
    assert (changed, found["load"]["state"], found["load"]["reason"]) == (False, "waiting", "behind burn_in-1")


def test_a_chain_is_stopped_and_its_rest_is_not_begun(module: ModuleType, jobs: Path, tmp_path: Path) -> None:
    """One test found a fault: nobody waits for the others."""
    asked = params(jobs, job("true"), job("sleep", "600", name="two"), job("true", name="three"))
    module.ensure(asked)
    until(module, asked, "running", "two")
    changed, found = module.ensure(asked | {"stop": "what load found"})
    assert changed
    assert {name: each["state"] for name, each in found.items()} == {
        "load": "ended", "two": "preempted", "three": "preempted",
    }  # fmt: skip
    assert found["three"]["reason"] == "what load found"
    assert not tagged(tmp_path)
    assert not module.ensure(asked | {"stop": "what load found"})[0]


def test_files_of_chains_that_are_long_over_are_removed(module: ModuleType, jobs: Path) -> None:
    """Tests of every hour must not fill the memory that /run is made of."""
    for number in range(9):
        asked = params(jobs, job("true"), key=f"health_active-{number}")
        module.ensure(asked)
        appeared(jobs / asked["key"] / "over")
    assert len(list(jobs.glob("*/lock"))) == module.KEPT + 1


def test_a_program_of_ours_runs_where_nothing_may_be_executed(module: ModuleType, jobs: Path, tmp_path: Path) -> None:
    """Its first line names its interpreter; it lies under its content's hash, once."""
    programs = {"ask.py": "#!/usr/bin/env python3\nimport sys\nprint('asked', *sys.argv[1:])\n"}
    asked = params(jobs, job("{program}", "twice", program="ask.py"), programs=programs)
    for key in ("burn_in-1", "burn_in-2"):
        module.ensure(asked | {"key": key})
        assert until(module, asked | {"key": key}, "ended")["output"] == "asked twice\n"
    [path] = (tmp_path / "programs").glob("*/ask.py")
    assert path.stat().st_mode & 0o777 == 0o755


def test_what_a_killed_supervisor_left_is_ended_before_anything_is_told(
    module: ModuleType, jobs: Path, tool: Tool, tmp_path: Path
) -> None:
    """Also by a call for another chain: nobody else would end it."""
    asked = params(jobs, job(tool("load", f"setsid sleep 600 & echo $PPID >{tmp_path}/supervisor; sleep 600")))
    module.ensure(asked)
    os.kill(int(appeared(tmp_path / "supervisor")), signal.SIGKILL)
    until(module, asked, "lost")
    assert tagged(tmp_path)
    module.ensure(params(jobs, job("true"), key="health_active-7", stop="nothing is started"))
    assert not tagged(tmp_path)


def test_a_moment_without_room_ends_no_chain(module: ModuleType, jobs: Path) -> None:
    """Which processes are ours cannot be written down, and the test goes on."""
    (jobs / "burn_in-1" / "processes.new").mkdir(parents=True)
    asked = params(jobs, job("sh", "-c", "sleep 0.3; echo done"))
    module.ensure(asked)
    found = until(module, asked, "ended")
    assert (found["rc"], found["output"]) == (0, "done\n")


def test_an_error_of_the_supervisor_is_told(module: ModuleType, jobs: Path, tmp_path: Path) -> None:
    text = SUPERVISOR["supervise.py"]
    broken = text.replace("            _trim(output)\n", "            raise ValueError('no such thing')\n")
    asked = params(jobs, job("sleep", "600"), programs={"supervise.py": broken})
    module.ensure(asked)
    appeared(jobs / "burn_in-1" / "over")
    found = until(module, asked, "lost")
    assert found["reason"] == "its supervisor ended: ValueError('no such thing')"
    assert "Traceback" in appeared(jobs / "burn_in-1" / "supervisor.log")
    while tagged(tmp_path):
        time.sleep(0.02)


def test_what_runs_elsewhere_has_a_name_of_its_own_and_is_ended_only_if_it_did_not_end(
    module: ModuleType, jobs: Path, tmp_path: Path
) -> None:
    """Two chains, or two nodes, never end each other's."""
    names = []
    for number in (1, 2):
        cancel = ["touch", f"{tmp_path}/cancelled-{{chain}}"]
        asked = params(jobs, job("echo", "x-{chain}", cancel=cancel), key=f"burn_in-{number}")
        module.ensure(asked)
        names.append(until(module, asked, "ended")["output"])
    assert names[0] != names[1]
    assert "{chain}" not in names[0]
    assert not list(tmp_path.glob("cancelled-*"))
    asked = params(jobs, job("sleep", "600", cancel=cancel), key="burn_in-3")
    module.ensure(asked)
    module.ensure(asked | {"stop": "enough"})
    assert len(list(tmp_path.glob("cancelled-*"))) == 1
    asked = params(jobs, job("false", cancel=cancel), key="burn_in-4")  # as srun does that lost its controller
    module.ensure(asked)
    until(module, asked, "ended")
    assert len(list(tmp_path.glob("cancelled-*"))) == 2


def test_a_program_that_somebody_else_laid_there_is_not_run(module: ModuleType, jobs: Path, tmp_path: Path) -> None:
    programs = {"ask.py": "#!/usr/bin/env python3\nprint('asked')\n"}
    asked = params(jobs, job("{program}", program="ask.py"), programs=programs)
    (module._placed(asked) / "ask.py").write_text("print('not ours')\n")
    module.ensure(asked)
    assert until(module, asked, "ended")["output"] == "asked\n"
    (tmp_path / "programs").chmod(0o777)
    with pytest.raises(PermissionError, match="others may write there"):
        module.ensure(asked | {"key": "burn_in-2"})


def test_nobody_but_root_gives_way(module: ModuleType, jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not look into a tenant's processes would load the node beside them, and not know."""

    class Refusing:
        def __init__(self, **_: Any) -> None:
            self.params = params(jobs, job("true"), yield_to={"names": ["slurmstepd"]})

        def fail_json(self, msg: str) -> None:
            raise SystemExit(msg)

    monkeypatch.setattr(module, "AnsibleModule", Refusing)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match="giving way needs root"):
        module.main()
    assert not jobs.exists()


def test_root_that_may_not_look_into_others_processes_gives_way_to_nobody(module: ModuleType) -> None:
    """In a container it may be root and still not see who works: the real kernel says so."""
    words = f"import runpy; print(runpy.run_path({module.__file__!r})['_sees_all']())"
    less = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
    for before, sees in (([], "True\n"), (less, "False\n")):
        done = subprocess.run([*before, sys.executable, "-c", words], capture_output=True, text=True, check=True)
        assert done.stdout == sees


def test_a_chain_whose_time_is_over_ends_wherever_it_is(module: ModuleType, jobs: Path, tmp_path: Path) -> None:
    """Its node has left the burn-in, and nobody came to say so; a stay that goes on begins the rest anew."""
    asked = params(jobs, job("true"), job("sleep", "600", name="two"), lasts=1.0)
    module.ensure(asked)
    appeared(jobs / "burn_in-1" / "over")
    found = until(module, asked, "preempted", "two")
    assert found["reason"] == "its end: 1 s are over"
    assert not tagged(tmp_path)
    assert module.ensure(asked)[0]
