"""What a runner remembers of its store, in a small file in `state_dir`: written anew as a whole, or not at all."""

import json
import os
from pathlib import Path

from fleet_runner.core.access.store_identity import Remembered
from fleet_runner.core.base.errors import StoreError

NAME = "store-identity.json"
MOST = 4_096


def read(folder: Path) -> Remembered | None:
    """Return what is remembered, None where nothing is.

    Raises:
        StoreError: there is something that cannot be read: nobody knows then which store was served.
    """
    path = folder / NAME
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(MOST))
        return Remembered(str(said["id"]), int(said["line"]), float(said["at"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path}: it says which store is served, and cannot be read: {error}; see that it can be, or have it "
            "written anew: fleet-runner db accept --reason …"
        ) from error


def write(folder: Path, remembered: Remembered) -> None:
    """Remember it; StoreError where that cannot be written."""
    path = folder / NAME
    new = path.with_name(f".{NAME}.{os.getpid()}")
    text = json.dumps({"id": remembered.id, "line": remembered.line, "at": remembered.at})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise StoreError(f"{path}: which store is served cannot be written down: {error.strerror}") from error
