"""Ends what is left of a batch whose lease is over while its supervisor is frozen, or was killed.

It is a small process of its own beside the supervisor, made before anything large is loaded.
"""

import os
import signal
import time
from pathlib import Path

from fleet_runner.adapters.plays import batch_folder, lease, processes


def post(folder: Path, lock: int) -> int:
    """Post one for this process, which is the batch's supervisor; return its process id. `lock` stays this one's."""
    supervisor = os.getpid()
    made = os.fork()
    if made:
        return made
    try:
        os.close(lock)
        _watch(folder, supervisor)
    finally:
        os._exit(0)


def dismiss(warden: int) -> None:
    """End one: nothing is left that it would have to end."""
    os.kill(warden, signal.SIGKILL)
    os.waitpid(warden, 0)


def _watch(folder: Path, supervisor: int) -> None:
    """Watch until nothing of the batch is left to end."""
    mine = {os.getpid(), supervisor}
    alive = folder / batch_folder.ALIVE
    while True:
        time.sleep(lease.PULSE / 2)
        if lease.overdue(alive, lease.KILLED):
            processes.end(folder.name, spare=mine, grace=0.0)
        elif os.getppid() == supervisor:
            continue
        if os.getppid() != supervisor and not [one for one in processes.tagged(folder.name) if one.pid not in mine]:
            return
