"""A bell: whoever has written something that is due at once rings it, and the process that serves ticks.

It is a pipe with a name in `state_dir`, so any process of the machine that may write there can ring; nothing is said
with it but "look". A ring that nobody hears is no loss: the next tick looks anyway.
"""

import contextlib
import os
import select
import stat
from collections.abc import Iterator
from pathlib import Path

from fleet_runner.core.base.errors import SettingsError

NAME = "bell"

REQUESTS = "requests"
"""The bell that NetBox's webhook rings: requests stand in its pages."""

MOST = 65_536
"""Bytes that are read at once: all that such a pipe holds."""


def ring(state_dir: Path, name: str = NAME) -> bool:
    """Have the process that serves this state look; False where there is none on this machine."""
    try:
        pipe = os.open(state_dir / name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        with contextlib.suppress(BlockingIOError):  # it is full of rings
            os.write(pipe, b"!")
    except OSError:
        return False
    finally:
        os.close(pipe)
    return True


class Wakeup:
    """The bell as the process hears it that serves; `ring` rings it from a signal's handler, or a thread."""

    def __init__(self, outside: int) -> None:
        self._outside = outside
        self._heard, self._own = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def ring(self) -> None:
        """Ring it in this process alone: another one that serves the same state does not hear it."""
        with contextlib.suppress(OSError):  # full of rings, or closed just now
            os.write(self._own, b"!")

    def wait(self, seconds: float) -> bool:
        """Wait until it rings, which it says, or until so many seconds are over; rings up to then are one."""
        rung, _, _ = select.select((self._outside, self._heard), (), (), max(0.0, seconds))
        for pipe in rung:
            with contextlib.suppress(BlockingIOError):  # another process that serves heard it first
                os.read(pipe, MOST)
        return bool(rung)

    def close(self) -> None:
        """Hear nothing any more."""
        for pipe in (self._outside, self._heard, self._own):
            os.close(pipe)


@contextlib.contextmanager
def hearing(state_dir: Path, name: str = NAME) -> Iterator[Wakeup]:
    """Hang up a bell of a state folder, which must be on a disk of this machine."""
    path = state_dir / name
    try:
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # Also for writing: a pipe that somebody may still write to never ends.
        outside = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; expected a state_dir on a disk of this machine") from error
    if not stat.S_ISFIFO(os.fstat(outside).st_mode):
        os.close(outside)
        raise SettingsError(f"{path}: not a named pipe; remove it, `fleet-runner serve` creates one")
    bell = Wakeup(outside)
    try:
        yield bell
    finally:
        bell.close()
