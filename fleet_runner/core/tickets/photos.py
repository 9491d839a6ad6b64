"""Photos of tickets: what of a JPEG is kept. Nothing is decoded, and nothing stays but the picture.

Place, time, camera, thumbnails and comments go, and so does what stands behind the picture (ITU-T T.81, annex B).
"""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import PhotoError

MOST_BYTES = 2 * 1024 * 1024
"""Of one photo; a page makes a tenth of it of what a phone's camera gives."""

MOST = 20
"""Photos of one ticket."""

ALL_BYTES = 10_000_000_000
"""Of all photos: some 30,000; so a token in wrong hands does not fill the store's disk."""

LONGEST = 4_096
"""Pixels of a side: whoever looks at it decodes it, and a few bytes can say that they are 4,000 million pixels."""

SCANS = 100
"""Passes over the whole picture; usual ones have 1, or about 10, and each costs whoever looks at it."""

START, END = b"\xff\xd8", 0xD9
FRAMES = frozenset({0xC0, 0xC1, 0xC2})
"""Kinds of pictures that browsers show: baseline, extended and progressive."""

OTHERS = frozenset({0xC3, *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0), 0xDC, 0xDE, 0xDF})
"""What only pictures have that browsers do not show."""

COLOURS = 16
"""Bytes of Adobe's word on how colours are meant; a longer one says something else."""

ALONE = frozenset({0x00, 0x01, *range(0xD0, 0xD9)})
SCAN, ADOBE = 0xDA, 0xEE
KEPT = frozenset({*FRAMES, 0xC4, SCAN, 0xDB, 0xDD})
"""What makes up the picture: frame, Huffman tables, scans, quantization tables, restart interval."""

UNUSUAL = "this kind of JPEG is not shown by browsers; send a usual one"
CUT = "the photo is cut off or damaged; take it once more"

_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo that is stored, without its bytes: its SHA-256 in hex, how many bytes it has, who sent it, when."""

    ticket: int
    digest: str
    size: int
    by: str
    at: float


def picture(body: bytes) -> bytes:
    """Return what is kept of a photo.

    Raises:
        PhotoError: it is no JPEG, not whole, or too large.
    """
    if len(body) > MOST_BYTES:
        raise PhotoError(f"the photo has more than {MOST_BYTES // 1024:,} KiB; send a smaller one")
    if not body.startswith(START):
        raise PhotoError("this is no JPEG; send a photo as JPEG")
    kept, at, scans, framed = [START], len(START), 0, False
    while (code := _code(body, at)) != END:
        segment = _segment(body, at)
        at += len(segment)
        if code in FRAMES:
            _check(segment, framed=framed)
            framed = True
        if code in KEPT or (code == ADOBE and segment[4:9] == b"Adobe" and len(segment) == COLOURS):
            kept.append(segment)
        if code == SCAN:
            found, scans = _MARKER.search(body, at), scans + 1
            if found is None or scans > SCANS or not framed:
                raise PhotoError(CUT)
            kept.append(body[at : found.start()])
            at = found.start()
    if not scans:
        raise PhotoError(CUT)
    return b"".join([*kept, bytes([0xFF, END])])


def _code(body: bytes, at: int) -> int:
    """Return which marker is at a place, 0 for none."""
    return body[at + 1] if body[at : at + 1] == b"\xff" and at + 1 < len(body) else 0


def _segment(body: bytes, at: int) -> bytes:
    """Return a marker with what belongs to it."""
    code, length = _code(body, at), int.from_bytes(body[at + 2 : at + 4])
    if code in OTHERS:
        raise PhotoError(UNUSUAL)
    if code in ALONE or length < 2 or at + 2 + length > len(body):  # noqa: PLR2004  the length counts itself
        raise PhotoError(CUT)
    return body[at : at + 2 + length]


def _check(frame: bytes, *, framed: bool) -> None:
    """Refuse a second frame, and one whose size nobody could look at."""
    high, wide = int.from_bytes(frame[5:7]), int.from_bytes(frame[7:9])
    if framed:
        raise PhotoError(UNUSUAL)
    if not high or not wide:
        raise PhotoError(CUT)
    if max(high, wide) > LONGEST:
        raise PhotoError(f"the photo is {wide} x {high} pixels; send one of at most {LONGEST} on a side")
