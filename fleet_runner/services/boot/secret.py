"""The secret that boots' keys are made with: a file that all boot services of a fleet share."""

import os
from pathlib import Path
from secrets import token_bytes, token_hex

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.boot.keys import SECRET_BYTES

NAME = "boot.key"

_OTHERS = 0o077


def secret(folder: Path) -> bytes:
    """Return the secret of a state folder; the first to ask makes it.

    Raises:
        SettingsError: the file cannot be made or read, is not whole, or others may read it.
    """
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make(path)
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise SettingsError(f"{path}: others may read it, expected mode 0600; `chmod 600 {path}`")
            found = file.read(SECRET_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"{path}: {error.strerror}; expected a file of {SECRET_BYTES} bytes, mode 0600"
        ) from error
    if len(found) != SECRET_BYTES:
        raise SettingsError(
            f"{path}: found {len(found)} bytes, expected {SECRET_BYTES}; copy it from another boot service of this"
            " fleet, or remove it: running boots then start again"
        )
    return found


def _make(path: Path) -> None:
    """Make the file, whole, unless there is one: a second process that starts now finds ours, or we find its."""
    if path.exists():
        return
    draft = path.with_name(f"{NAME}.{token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)
