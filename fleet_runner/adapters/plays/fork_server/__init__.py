"""A parent that has everything imported and forks plays and their supervisors, which costs little of a start.

`serve` keeps one for as long as it lives. `shim` stands in for a supervisor, and below ansible-runner for
ansible-playbook: it has the parent fork it, and starts it itself where there is no parent, or one that does not fit.
So a batch can be slower without a parent, and never anything else.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fleet_runner.settings import Settings

SOCKET = "socket"

SILENT = "silent"
"""Made beside it by who got no answer: nobody asks until the parent answers again, or another one follows."""

SHIM = Path(__file__).with_name("shim.py")

SUPERVISOR = "fleet_runner.adapters.plays.supervisor"
"""The module that supervisors run; whatever else is to be forked is ansible-playbook."""

ANSWER = 10.0
"""Seconds that a parent has to answer."""


def folder(settings: Settings) -> Path:
    """Return where the parent listens; only its owner gets in."""
    return settings.state_dir / "warm"


def instead(settings: Settings, command: Sequence[str]) -> list[str]:
    """Return the command that has the parent fork what `command` would start."""
    place = folder(settings)
    if not (place / SOCKET).exists() or (place / SILENT).exists():
        return list(command)
    return [sys.executable, "-I", "-S", str(SHIM), str(place), *command]


def answers(place: Path, patience: float = ANSWER) -> bool:
    """Tell if there is a parent that takes a call."""
    try:
        with connected(place, patience) as call:
            return call.recv(1) == b"+"
    except OSError:
        return False


@contextmanager
def connected(place: Path, patience: float) -> Iterator[socket.socket]:
    """Call the parent; by a descriptor, since a socket's name may not be as long as a path."""
    with contextlib.ExitStack() as stack:
        handle = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, handle)
        call = stack.enter_context(socket.socket(socket.AF_UNIX))
        call.settimeout(patience)
        call.connect(f"/proc/self/fd/{handle}/{SOCKET}")
        yield call
