"""The folders that batches and gathered bundles leave in `state_dir`: found with their age and size, and removed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from fleet_runner.adapters.plays import batch_folder
from fleet_runner.core.schedules.retention import Artifact


def found(above: Path, pattern: str) -> tuple[Artifact, ...]:
    """Return the folders under another that fit a pattern, by their name relative to it."""
    if not above.is_dir():
        return ()
    folders = (path for path in sorted(above.glob(pattern)) if path.is_dir() and not path.is_symlink())
    return tuple(_weighed(folder, str(folder.relative_to(above))) for folder in folders)


def remove(above: Path, name: str) -> bool:
    """Remove a folder; False where a supervisor holds it, or somebody else removed it meanwhile.

    It gets another name first: a half-removed folder of a batch would look like one that is to be started.
    """
    folder = above / name
    try:
        if batch_folder.locked(folder):
            return False
        gone = folder if folder.name.startswith(".") else folder.with_name(f".{folder.name}")
        folder.rename(gone)
    except OSError:
        return False
    shutil.rmtree(gone, ignore_errors=True)
    return True


def _weighed(folder: Path, name: str) -> Artifact:
    at, size = 0.0, 0
    for path in (folder, *_files(folder)):
        try:
            told = path.lstat()
        except OSError:
            continue
        at, size = max(at, told.st_mtime), size + told.st_blocks * 512
    return Artifact(name, at, size)


def _files(folder: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(folder):
        yield from (Path(above) / name for name in (*folders, *names))
