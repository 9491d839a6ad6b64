"""Pictures of faults, written to a file."""

import errno
from collections.abc import Sequence
from pathlib import Path

from fleet_runner.cli.cabling.text import note
from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.picture import svg

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Why nothing more can be written, whatever the file is called."""


def draw(path: Path, faults: Sequence[Fault], places: Places) -> None:
    """Write the picture of faults, and say where."""
    try:
        path.write_text(svg(faults, places), encoding="utf-8")
    except OSError as error:
        if error.errno in _FULL:
            raise StoreError(f"{path}: {error.strerror}; name a file on a file system with room") from error
        raise FleetError(f"{path}: {error.strerror}; name a file that can be written") from error
    note(f"wrote {path}")
