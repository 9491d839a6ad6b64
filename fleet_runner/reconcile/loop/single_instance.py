"""One tick at a time on this machine, and who serves on it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import TextIO

from fleet_runner.core.base.errors import SettingsError, StoreError
from fleet_runner.settings import Settings

PATIENCE = 30.0
"""Seconds to wait for another process's tick."""

TICK = "tick.lock"
"""Locked by one process for as long as it ticks."""

SERVE = "serve.lock"
"""Locked, together with others, by every process that serves for as long as it does."""

GLANCES = 3
"""How often `serve.lock` is tried: a look at it holds it for a moment, a process that serves keeps it."""


@contextmanager
def alone(settings: Settings) -> Iterator[None]:
    """Let one process tick at a time on this machine; the store's own guards hold across machines."""
    with _open(settings, TICK) as file:
        _lock(file)
        yield


@contextmanager
def serving(settings: Settings) -> Iterator[bool]:
    """Be known to serve until it ends; yield whether another process of this machine serves the same state."""
    with _open(settings, SERVE) as file:
        others = not any(_free(file) for _ in range(GLANCES))
        flock(file, LOCK_SH)
        yield others


def served(settings: Settings) -> bool:
    """Return whether a process of this machine serves this state, or ticks now."""
    return any(_taken(settings.state_dir / name) for name in (SERVE, TICK))


def _open(settings: Settings, name: str) -> TextIO:
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        return (settings.state_dir / name).open("w", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"state_dir {settings.state_dir}: {error.strerror}; name a folder of your own") from error


def _taken(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return not _free(file, pause=0.0)
    except OSError:
        return False


def _free(file: TextIO, pause: float = 0.1) -> bool:
    """Return whether nobody else has locked it; if so, it is locked now, until it is closed."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        time.sleep(pause)
        return False
    return True


def _lock(file: TextIO) -> None:
    """Wait for the other process's tick, in steps, so that a signal is heard meanwhile."""
    until = time.monotonic() + PATIENCE
    while not _free(file):
        if time.monotonic() > until:
            raise StoreError(f"{file.name}: another process ticks for over {PATIENCE:.0f} s; is it hung?")
