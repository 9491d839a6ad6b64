"""Images that the emulator understands: a first line of JSON that says what they bring, then filler."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

MAGIC = "fleet-lab-image"
HEAD_BYTES = 262_144
"""As much of an image as is kept to be looked at."""

FILLER = bytes(range(256)) * 256


@dataclass(frozen=True, slots=True)
class Image:
    """What an image brings: {glob over inventory ids: version}; `board` is a glob of the model that it is for."""

    versions: Mapping[str, str]
    board: str = ""

    def brings(self, entry: str) -> str | None:
        """Return the version for an inventory entry, None where the image has nothing for it."""
        return next((version for glob, version in self.versions.items() if fnmatchcase(entry, glob)), None)


def write(path: Path, versions: Mapping[str, str], *, size: int = 4096, board: str = "") -> str:
    """Write an image of at least `size` bytes and return its sha256; memory does not grow with the size."""
    line = json.dumps({"format": MAGIC, "versions": dict(versions), "board": board}).encode() + b"\n"
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


def read(head: bytes) -> Image | None:
    """Return what an image says of itself by its first bytes, None where it is no image of ours."""
    try:
        said = json.loads(head.partition(b"\n")[0])
    except ValueError:
        return None
    if not isinstance(said, dict) or said.get("format") != MAGIC or not isinstance(said.get("versions"), dict):
        return None
    return Image({str(glob): str(version) for glob, version in said["versions"].items()}, str(said.get("board", "")))
