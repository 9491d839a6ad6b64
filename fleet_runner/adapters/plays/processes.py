"""The processes of a batch: every one carries FLEET_BATCH in its environment, and is found by it in /proc.

A process id alone proves nothing, since ids are used again; the tag and the start time do.
"""

import os
import signal
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

TAG = "FLEET_BATCH"
PROC = Path("/proc")
POLL = 0.05
BURIAL = 2.0  # seconds for the kernel to be done with what was killed

NICE = 5
"""How much nicer plays are than what watches them: a busy computer must not keep a lease from being renewed."""


@dataclass(frozen=True, slots=True)
class Process:
    """A living process. `started` (clock ticks since boot) tells it from a later one with the same id."""

    pid: int
    started: int
    command: str


def tagged(batch: str) -> tuple[Process, ...]:
    """Return what is alive of a batch, lowest id first.

    A parent may fork and end between listing and reading, so only two empty looks in a row mean nothing.
    """
    return _scan(batch) or _scan(batch)


def find(pid: int, batch: str) -> Process | None:
    """Return the process with this id if it belongs to the batch."""
    folder = PROC / str(pid)
    tag = f"{TAG}={batch}".encode()
    try:
        if tag not in (folder / "environ").read_bytes().split(b"\0"):
            return None
        words = (folder / "cmdline").read_bytes().split(b"\0")
        return Process(pid, _started(folder), b" ".join(words).decode(errors="replace").strip())
    except (OSError, ValueError, IndexError):  # it ended meanwhile, or belongs to somebody else
        return None


def send(process: Process, batch: str, signum: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone or its id belongs to another one by now."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        now = find(process.pid, batch)  # after the handle is held: what is verified is what gets the signal
        if now is None or now.started != process.started:
            return False
        signal.pidfd_send_signal(handle, signum)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def end(batch: str, spare: Collection[int] = (), grace: float = 2.0) -> tuple[Process, ...]:
    """Ask the batch's processes to end, kill those that have not after `grace` seconds; return who survived."""
    for signum, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, BURIAL)):
        until = time.monotonic() + patience
        asked: set[tuple[int, int]] = set()
        while alive := [one for one in tagged(batch) if one.pid not in spare]:
            for one in alive:
                if (one.pid, one.started) not in asked:
                    send(one, batch, signum)
                    asked.add((one.pid, one.started))
            if time.monotonic() > until:
                break
            time.sleep(POLL)
    return tuple(one for one in tagged(batch) if one.pid not in spare)


def started(pid: int) -> int:
    """Return when a process started, in clock ticks since boot."""
    return _started(PROC / str(pid))


def _scan(batch: str) -> tuple[Process, ...]:
    pids = sorted(int(one.name) for one in PROC.iterdir() if one.name.isdigit())
    return tuple(found for pid in pids if (found := find(pid, batch)) is not None)


def _started(folder: Path) -> int:
    """Read field 22 of `stat`; the command in field 2 may hold spaces and brackets, so count from its end."""
    return int((folder / "stat").read_text().rpartition(")")[2].split()[19])
