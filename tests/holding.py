"""Which processes hold a file open."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path


def holding(wanted: Callable[[str], bool]) -> set[int]:
    """Return the processes, but this one, that hold a file whose path is wanted; they may end while they are read."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for link in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if wanted(str(link.readlink())):
                        found.add(int(process.name))
    return found - {os.getpid()}
