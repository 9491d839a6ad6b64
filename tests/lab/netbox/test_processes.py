"""Nothing of a NetBox stays when whoever holds it ends, asked or killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fleet_runner.lab.netbox import processes
from tests.lab.netbox.test_installation import bare, pretender
from tests.waiting import PATIENCE

__all__ = ["bare"]

HOLDER = """\
import sys, time
from pathlib import Path
from fleet_runner.lab.netbox import processes
child = processes.start(["sleep", "600"], Path(sys.argv[1]), {"PATH": "/usr/bin:/bin"})
print(child.pid, flush=True)
time.sleep(600)
"""


def gone(pid: int) -> bool:
    """Whether a process ends."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "log")], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        holder.kill()
    assert gone(pid)


@pytest.mark.parametrize("ends", ["killed", "asked"])
def test_a_preparation_ends_with_what_it_runs_when_whoever_began_it_does(bare: Path, ends: str) -> None:
    """Its standard input ends then, or it is asked to end; here it runs a pip that never comes back."""
    slow = bare / "bin" / "python3.12"
    pretender(slow, f'3 12; [ "$2" != venv ] || {{ echo $$ > {bare}/pid; exec sleep 600; }}')
    words = [os.path.realpath("/proc/self/exe"), "-m", "fleet_runner.lab.netbox", "prepare", "9.9.9", "--tied"]
    env = {**os.environ, "XDG_CACHE_HOME": str(bare), "PATH": f"{bare}/bin:{os.defpath}", "HOME": str(bare)}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    begun = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert begun.stdin is not None
    until = time.monotonic() + PATIENCE
    while not ((bare / "pid").exists() and (bare / "pid").read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    pid = int((bare / "pid").read_text())
    if ends == "asked":
        begun.send_signal(signal.SIGTERM)
    begun.stdin.close()
    assert begun.wait(PATIENCE) == 0
    assert gone(pid)


def test_a_child_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ENDING_SECONDS", 0.2)
    words = ["sh", "-c", "trap '' TERM; echo ready; sleep 600 & wait; wait"]
    child = processes.start(words, tmp_path / "log", {"PATH": os.defpath})
    while "ready" not in (tmp_path / "log").read_text():
        time.sleep(0.02)
    other = processes.start(["sleep", "600"], tmp_path / "log", {"PATH": os.defpath})
    processes.end(child, other)
    assert child.returncode == -signal.SIGKILL
    assert other.returncode == -signal.SIGTERM
