"""A multipart body read as a stream: small parts are kept, of the file only its head, its length and its sum."""

import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fleet_runner.lab.redfish.images import HEAD_BYTES

MOST_PART_BYTES = 262_144
MOST_PARTS = 100
FILES = frozenset({"UpdateFile", "file"})
"""What the part with the image is called by DMTF, and by HPE."""

NAME = re.compile(rb'(?<!file)name="?([^";\r\n]+)"?', re.IGNORECASE)
FILE_NAME = re.compile(rb'filename="?([^";\r\n]+)"?', re.IGNORECASE)
BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)


@dataclass(slots=True)
class File:
    """An image as it came in."""

    head: bytes = b""
    size: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def add(self, chunk: bytes) -> None:
        """Take note of the next bytes."""
        if len(self.head) < HEAD_BYTES:
            self.head += chunk[: HEAD_BYTES - len(self.head)]
        self.size += len(chunk)
        self.digest.update(chunk)


@dataclass(slots=True)
class Parts:
    """What a multipart body held: small parts by name, and the image where it had one, with the name of its file.

    `names` are those of the parts in the order in which they came, `files` those of parts with the name of a file.
    """

    small: dict[str, bytes] = field(default_factory=dict)
    file: File | None = None
    names: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    file_name: str = ""

    def begin(self, head: bytes) -> str:
        """Take note of a part's head, and return the part's name."""
        found, file = NAME.search(head), FILE_NAME.search(head)
        name = found[1].decode("utf-8", "replace") if found else ""
        if name not in self.names:
            self.names = [*self.names, name][:MOST_PARTS]
        if file:
            self.files = [*self.files, name][:MOST_PARTS]
            self.file_name = file[1].decode("utf-8", "replace")
        return name

    def add(self, name: str, chunk: bytes) -> None:
        """Take note of the next bytes of a part."""
        if name in FILES:
            self.file = self.file or File()
            self.file.add(chunk)
        else:
            self.small[name] = (self.small.get(name, b"") + chunk)[:MOST_PART_BYTES]


def boundary(content_type: str) -> bytes | None:
    """Return what stands between the parts, None where the body is not multipart."""
    found = BOUNDARY.search(content_type)
    return found[1].strip().encode() if found and content_type.lower().startswith("multipart/") else None


async def parse(chunks: AsyncIterator[bytes], between: bytes) -> Parts | None:
    """Read a multipart body to its end; None where it never ends as one should."""
    parts = Parts()
    mark = b"\r\n--" + between
    rest, name = b"\r\n", None  # the first mark stands at the very start
    ended = False
    async for chunk in chunks:
        rest += chunk
        while not ended:
            at = rest.find(mark)
            if at < 0 or len(rest) < at + len(mark) + 2:
                keep = max(len(rest) - len(mark) - 2, 0) if at < 0 else at
                if name is not None:
                    parts.add(name, rest[:keep])
                rest = rest[keep:]
                break
            following = rest[at + len(mark) :]
            ended, end = following.startswith(b"--"), following.find(b"\r\n\r\n")
            if not ended and end < 0:
                break
            if name is not None:
                parts.add(name, rest[:at])
            if not ended:
                name, rest = parts.begin(following[:end]), following[end + 4 :]
    return parts if ended else None
