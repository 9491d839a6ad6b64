"""The lab's own processes: found again by id and start time, and never mistaken for another's."""

import contextlib
import os
import signal
import time
from pathlib import Path

from fleet_runner.lab.folder import Lab, write
from fleet_runner.lab.tools.node import started

ENDING_SECONDS = 5.0
"""How long a process may take to end itself before it is killed."""


def note(lab: Lab, name: str, pid: int) -> None:
    """Write down a process of the lab."""
    lab.pids.mkdir(exist_ok=True)
    write(lab.pids / name, f"{pid} {started(pid)}\n")


def start(argv: list[str], env: dict[str, str], log: Path) -> int:
    """Start a process that outlives this one, in a session of its own, and return its id."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    files = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644),
             (os.POSIX_SPAWN_DUP2, 1, 2)]  # fmt: skip
    # It starts with no signal blocked or ignored, whatever the one that starts it does with its own.
    return os.posix_spawn(
        argv[0], argv, env, file_actions=files, setsid=True, setsigmask=[], setsigdef=[signal.SIGCHLD]
    )


def running(lab: Lab, name: str) -> int | None:
    """Return the id of a noted process if it still runs and is the same one."""
    try:
        pid, _, start = (lab.pids / name).read_text("utf-8").strip().partition(" ")
    except OSError:
        return None
    return int(pid) if pid.isdigit() and start and started(int(pid)) == start else None


def end(lab: Lab, name: str, seconds: float = ENDING_SECONDS) -> bool:
    """End a noted process and forget it; say whether it ran."""
    pid = running(lab, name)
    if pid is not None:
        end_pid(pid, seconds)
    (lab.pids / name).unlink(missing_ok=True)
    return pid is not None


def end_pid(pid: int, seconds: float = ENDING_SECONDS) -> None:
    """Ask a process to end, and kill it if it does not within so many seconds."""
    start = started(pid)
    if not start:
        return
    _signal(pid, start, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while started(pid) == start and time.monotonic() < deadline:
        time.sleep(0.02)
    _signal(pid, start, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # where it is a child of ours, nothing of it is left


def end_node(lab: Lab, name: str) -> int:
    """Kill everything that runs on a node, as losing power does; return how many processes that were."""
    tags = {f"FLEET_LAB={lab.root}".encode(), f"FLEET_LAB_NODE={name}".encode()}
    killed = 0
    for _ in range(10):  # a process may start another while the list is read
        found = [(pid, start) for pid, start in _everything() if tags <= _environment(pid)]
        if not found:
            break
        for pid, start in found:
            _signal(pid, start, signal.SIGKILL)
        killed += len(found)
        time.sleep(0.01)
    for path in (lab.node(name) / "run").glob("*"):
        path.unlink(missing_ok=True)
    return killed


def _everything() -> list[tuple[int, str]]:
    return [(int(path.name), start) for path in Path("/proc").glob("[0-9]*") if (start := started(int(path.name)))]


def _environment(pid: int) -> set[bytes]:
    try:
        return set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    except OSError:
        return set()


def _signal(pid: int, start: str, number: signal.Signals) -> None:
    if started(pid) == start:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
