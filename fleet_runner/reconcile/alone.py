"""One tick at a time on this machine."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import TextIO

from fleet_runner.core.errors import SettingsError, StoreError
from fleet_runner.settings import Settings

PATIENCE = 30.0
"""Seconds to wait for another process's tick."""


@contextmanager
def alone(settings: Settings) -> Iterator[None]:
    """Let one process tick at a time on this machine; the store's own guards hold across machines."""
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (settings.state_dir / "tick.lock").open("w", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"state_dir {settings.state_dir}: {error.strerror}; name a folder of your own") from error
    with file:
        _lock(file)
        yield


def _lock(file: TextIO) -> None:
    """Wait for the other process's tick, in steps, so that a signal is heard meanwhile."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise StoreError(
                    f"{file.name}: another process ticks for over {PATIENCE:.0f} s; is it hung?"
                ) from error
            time.sleep(0.1)
