"""What was read of a BMC, as a file of JSON: URI to body; one whose name ends with .gz is compressed."""

import gzip
import json
import os
import zlib
from pathlib import Path

from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.bmc import saved
from fleet_runner.core.bmc.tree import Tree

MOST_BYTES = 200_000_000
"""What a file may hold; a big server's whole tree is 20 MB."""


def read(path: Path) -> Tree:
    """Return the tree of a file.

    Raises:
        FleetError: it cannot be read, or holds something else.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FleetError(f"{path} cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise FleetError(f"{path} is cut short or no gzip file; copy it again") from None
    if len(raw) > MOST_BYTES:
        raise FleetError(f"{path} holds more than {MOST_BYTES // 1_000_000} MB; expected one BMC's answers")
    try:
        return saved.from_saved(json.loads(raw))
    except EvidenceError as error:
        raise FleetError(f"{path}: {error}") from None
    except (ValueError, RecursionError):
        raise FleetError(f"{path} is not JSON; expected what `fleet-runner bmc look --save` writes") from None


def write(path: Path, tree: Tree) -> None:
    """Write a tree without its secrets, for its owner to read alone.

    Raises:
        FleetError: the file cannot be written.
    """
    text = json.dumps(saved.to_saved(tree), indent=1).encode()
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.touch(mode=0o600)
        beside.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise FleetError(f"{path} cannot be written: {error.strerror or error}") from None
