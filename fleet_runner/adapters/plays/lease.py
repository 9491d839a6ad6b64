"""How long a batch may go on without its lease being renewed, by no clock but this machine's own since its start."""

import os
import time
from pathlib import Path

from fleet_runner.adapters.plays import batch_folder

RENEWALS = 6.0
"""How often a lease is renewed while it lasts."""

ASKED, KILLED = 1 / 2, 2 / 3
"""Which part of a lease may pass without a renewal before the play is asked to end, and before it is killed."""

LATE = 1 / 3
"""Which part of a lease may pass before it is said that it was renewed late: twice of what it should be."""

PULSE = 1.0
"""Seconds between two looks whether the play has said something."""


def ticks() -> float:
    """Return the seconds since this machine was started, those included for which it was asleep."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def mark(folder: Path, at: float, seconds: float) -> None:
    """Say in a batch's folder when its lease was renewed, and for how long, by this machine's clock; in one write."""
    handle = os.open(folder / batch_folder.ALIVE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(handle, f"{at:020.3f} {seconds:020.3f}\n".encode(), 0)
    finally:
        os.close(handle)


def overdue(alive: Path, part: float) -> bool:
    """Whether a lease was not renewed for that part of its time; not known is not so."""
    try:
        at, seconds = map(float, alive.read_text().split())
    except (OSError, ValueError):
        return False
    return ticks() - at > part * seconds
