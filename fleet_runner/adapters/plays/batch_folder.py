"""The folder of one batch: the files through which the runner and a detached supervisor find each other.

The supervisor holds `lock` while it lives, creates `started` before anything runs and leaves `rc` after
everything has ended; each is enough by itself to survive a kill at any instant.
"""

import contextlib
import fcntl
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

SPEC, LOCK, STARTED, RC, SPOOL, LOG = "spec.json", "lock", "started", "rc", "spool.jsonl", "log"
ALIVE, TOLD = "alive", "told"
"""When the batch's lease was last renewed; that all is in the store that ever will be. Only where it has a lease."""

LOCK_TRIES = 40
LOCK_PAUSE = 0.025


def create(path: Path, text: str) -> bool:
    """Create a file with all its text on disk; False when there is one already."""
    draft = _draft(path, text)
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    _sync(path.parent)
    return True


def replace(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new one, also after a power cut."""
    draft = _draft(path, text)
    draft.replace(path)
    _sync(path.parent)


def take(folder: Path) -> int | None:
    """Take the batch's lock for the life of this process, or return None when another process holds it.

    Somebody who looks holds it for an instant too, therefore the patience.
    """
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for _ in range(LOCK_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        time.sleep(LOCK_PAUSE)
    os.close(handle)
    return None


def locked(folder: Path) -> bool:
    """Tell if a supervisor holds the lock; two who ask at once do not disturb each other."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def discard(folder: Path) -> None:
    """Remove a batch's folder, at once: half of one would look like another's."""
    gone = folder.with_name(f".{folder.name}")
    shutil.rmtree(gone, ignore_errors=True)
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def log_of(above: Path, batch: str) -> Path:
    """Return where a batch's log is, or would be."""
    return above / batch / LOG


def read_rc(folder: Path) -> tuple[int, str] | None:
    """Return the exit status and its reason; None when there is none that can be read."""
    try:
        status, _, reason = (folder / RC).read_text().strip().partition(" ")
        return int(status), reason
    except (OSError, ValueError):
        return None


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one when it is absent or no such thing."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _draft(path: Path, text: str) -> Path:
    """Write the text beside `path`, under a name that no other process or thread uses."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
    except OSError:  # a full disk: what nobody will read must not take the last blocks
        draft.unlink()
        raise
    return draft


def _sync(folder: Path) -> None:
    """Bring a folder's names to disk: a file whose name is lost in a power cut was never written."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
