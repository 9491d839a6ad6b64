"""Files with a secret, which only their owner may read; no message says what is in them."""

import os
import stat
from pathlib import Path

from fleet_runner.core.base.errors import SettingsError

MAX_BYTES = 65_536


def read(path: Path, what: str) -> bytes:
    """Return a secret file's bytes, or raise SettingsError; `what` says what is expected in it."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            found = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; expected a file with {what}") from None
    if mode & 0o077:
        raise SettingsError(f"{path} can be read by others than its owner; run: chmod 600 {path}")
    if not found.strip() or len(found) > MAX_BYTES:
        raise SettingsError(f"{path} has {len(found)} bytes or more; expected {what}")
    return found


def text(path: Path, what: str) -> str:
    """Return a secret file's text, without the blanks around it; SettingsError for anything but plain ASCII."""
    try:
        return read(path, what).decode("ascii").strip()
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: it is not plain text; expected {what}") from None
