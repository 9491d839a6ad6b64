"""Images that the emulator understands: a line of JSON that says what they bring, then filler; or PLDM packages."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.firmware import pldm_package

MAGIC = "fleet-lab-image"
HEAD_BYTES = 262_144
"""As much of an image as is kept to be looked at."""

FILLER = bytes(range(256)) * 256


@dataclass(frozen=True, slots=True)
class Image:
    """What an image brings: {glob over inventory ids: version}; `board` is a glob of the model that it is for.

    `numbered` is what a PLDM package brings: {software id: version}. `along` comes with it whatever it is sent for,
    also to entries that cannot be updated by themselves.
    """

    versions: Mapping[str, str]
    board: str = ""
    numbered: Mapping[int, str] = field(default_factory=dict)
    along: Mapping[str, str] = field(default_factory=dict)

    def brings(self, entry: str, software_id: str = "") -> str | None:
        """Return the version for an inventory entry, None where the image has nothing for it."""
        named = (version for glob, version in self.versions.items() if fnmatchcase(entry, glob))
        return next(named, self.numbered.get(_number(software_id)))


def write(
    path: Path,
    versions: Mapping[str, str],
    *,
    size: int = 4096,
    board: str = "",
    along: Mapping[str, str] | None = None,
) -> str:
    """Write an image of at least `size` bytes and return its sha256; memory does not grow with the size."""
    said = {"format": MAGIC, "versions": dict(versions), "board": board, **({"along": dict(along)} if along else {})}
    line = json.dumps(said).encode() + b"\n"
    digest = hashlib.sha256(line)
    left = size - len(line)
    with path.open("wb") as file:
        file.write(line)
        while left > 0:
            chunk = FILLER[:left]
            file.write(chunk)
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()


def read(head: bytes, size: int) -> Image | None:
    """Return what an image says of itself by its first bytes and its length; None where it is none of either kind."""
    if pldm_package.is_package(head):
        return _package(head, size)
    try:
        said = json.loads(head.partition(b"\n")[0])
    except ValueError:
        return None
    if not isinstance(said, dict) or said.get("format") != MAGIC or not isinstance(said.get("versions"), dict):
        return None
    brought, along = said["versions"], said.get("along")
    return Image(_texts(brought), str(said.get("board", "")), along=_texts(along) if isinstance(along, dict) else {})


def _texts(said: Mapping[object, object]) -> dict[str, str]:
    return {str(glob): str(version) for glob, version in said.items()}


def _package(head: bytes, size: int) -> Image | None:
    try:
        package = pldm_package.parse(head[: pldm_package.MOST_BYTES], size)
    except EvidenceError:
        return None
    return Image({}, numbered={component.identifier: component.version for component in package.given})


def _number(software_id: str) -> int:
    """A software id as packages write it, -1 for vendors' other ones."""
    try:
        return int(software_id, 16)
    except ValueError:
        return -1
