"""PLDM firmware packages as DSP0267 has them, made for tests."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from fleet_runner.core.firmware.pldm_package import DOWNSTREAM, MANIFEST, OPAQUE, REVISIONS

UUIDS = {revision: uuid for uuid, revision in REVISIONS.items()}
ENCODINGS = {1: "ascii", 2: "utf-8", 4: "utf-16-le", 5: "utf-16-be"}


@dataclass(frozen=True)
class Part:
    """One component to put into a package: what it is called, its version, and its image."""

    identifier: int
    version: str
    image: bytes = b"firmware"
    classification: int = 10
    stamp: int = 0xFFFFFFFF


def package(
    parts: Sequence[Part], *, revision: int = 1, version: str = "bundle-1", form: int = 1, devices: int = 1
) -> bytes:
    """Return a package that brings all its parts to each of its devices."""
    about = (revision, version, form, devices)
    length = len(_header(parts, about, 0))
    checksums = 8 if revision >= MANIFEST else 4
    header = bytearray(_header(parts, about, length + checksums))
    struct.pack_into("<H", header, 17, length + checksums)
    payload = b"".join(part.image for part in parts)
    tail = struct.pack("<I", crc32(header))
    tail += struct.pack("<I", crc32(payload)) if revision >= MANIFEST else b""
    return bytes(header) + tail + payload


def header_size(data: bytes) -> int:
    """Return how long the header of a package is."""
    return int(struct.unpack_from("<H", data, 17)[0])


def _header(parts: Sequence[Part], about: tuple[int, str, int, int], start: int) -> bytes:
    """Return a header without its checksums; the first image lies at `start`."""
    revision, version, form, devices = about
    bits = max(8, -(-len(parts) // 8) * 8)
    head = UUIDS[revision] + struct.pack("<BH", revision, 0) + bytes(13) + struct.pack("<H", bits)
    head += _text(version, form)
    head += bytes([devices]) + b"".join(_device(parts, bits, revision, form) for _ in range(devices))
    if revision >= DOWNSTREAM:
        head += b"\x01" + struct.pack("<H", 9) + b"unread!"
    head += struct.pack("<H", len(parts))
    for part in parts:
        head += struct.pack("<HHI", part.classification, part.identifier, part.stamp) + bytes(4)
        head += struct.pack("<II", start, len(part.image)) + _text(part.version, form)
        head += struct.pack("<I", 3) + b"any" if revision >= OPAQUE else b""
        start += len(part.image)
    return head


def _device(parts: Sequence[Part], bits: int, revision: int, form: int) -> bytes:
    name = "set".encode(ENCODINGS[form])
    applicable = ((1 << len(parts)) - 1).to_bytes(bits // 8, "little")
    descriptors = struct.pack("<HH", 0, 2) + b"\xde\x10" + struct.pack("<HH", 0x0100, 2) + b"\x20\x23"
    body = struct.pack("<BIBBH", 2, 0, form, len(name), 4) + (bytes(4) if revision >= MANIFEST else b"")
    body += applicable + name + descriptors + b"data"
    return struct.pack("<H", len(body) + 2) + body


def _text(text: str, form: int) -> bytes:
    raw = text.encode(ENCODINGS[form])
    return bytes([form, len(raw)]) + raw
