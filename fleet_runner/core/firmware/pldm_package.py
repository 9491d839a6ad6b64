"""The header of a PLDM firmware package (DMTF DSP0267, 1.0 to 1.3): for which devices it is, and what it brings them.

The images that follow the header are not looked at here; all numbers are little-endian.
"""

from dataclasses import dataclass
from zlib import crc32

from fleet_runner.core.base.errors import EvidenceError

REVISIONS = {
    bytes.fromhex("f018878ccb7d49439800a02f059aca02"): 1,
    bytes.fromhex("1244d2648d7d4718a030fc8a56587d5a"): 2,
    bytes.fromhex("3119ce2fe80a4a99af6d46f8b121f6bf"): 3,
    bytes.fromhex("7b291c996db64208801b02026e463c78"): 4,
}
"""The UUIDs with which packages begin, and the revision of the header's format (DSP0267 1.0, 1.1, 1.2, 1.3)."""

MOST_BYTES = 65_535
"""The longest header: its size is a number of 16 bits."""

RELEASED = 13  # bytes of the moment of release

DOWNSTREAM, OPAQUE, MANIFEST = 2, 3, 4
"""The revisions that brought downstream devices, opaque data of components, and reference manifests."""

_ENCODINGS = {1: "ascii", 2: "utf-8", 3: "utf-16", 4: "utf-16-le", 5: "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of device that the package is for: (type, data) of each descriptor, and which components it gets."""

    version: str
    descriptors: tuple[tuple[int, bytes], ...]
    components: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ComponentImage:
    """One image. `identifier` is what NVIDIA's BMCs call SoftwareId; `offset` is from the file's first byte."""

    classification: int
    identifier: int
    stamp: int
    version: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Package:
    """What a package says of itself. `revision` is that of its header's format: 1 is DSP0267 1.0.

    `downstream` counts the devices behind others that it is for, too. `payload_crc32` is that of all bytes after the
    header's `header_bytes`; None before DSP0267 1.3, which brought it.
    """

    revision: int
    version: str
    devices: tuple[Device, ...]
    components: tuple[ComponentImage, ...]
    downstream: int = 0
    header_bytes: int = 0
    payload_crc32: int | None = None

    @property
    def given(self) -> tuple[ComponentImage, ...]:
        """Return the components that some device is given; all where devices behind others may be given any."""
        named = {index for device in self.devices for index in device.components}
        return tuple(each for index, each in enumerate(self.components) if self.downstream or index in named)


class _Reader:
    """Takes one field after the other, and never one that the header does not hold."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise EvidenceError(f"the PLDM package's header ends at byte {len(self.data)}, within a field")
        self.at, found = end, self.data[self.at : end]
        return found

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")


def is_package(data: bytes) -> bool:
    """Whether a file that begins so is a PLDM package."""
    return data[:16] in REVISIONS


def parse(data: bytes, size: int) -> Package:
    """Read a package from its first bytes (MOST_BYTES are enough) and its whole size, or raise EvidenceError."""
    if not is_package(data):
        raise EvidenceError("the file does not begin as a PLDM package does")
    whole = _Reader(data)
    revision = REVISIONS[whole.take(16)]
    whole.take(1)
    header_bytes = whole.number(2)
    reader = _Reader(data[:header_bytes])
    reader.take(19 + RELEASED)
    bits = reader.number(2)
    version = _text(reader, *reader.take(2))
    devices = [_device(reader, bits, revision) for _ in range(reader.number(1))]
    downstream = reader.number(1) if revision >= DOWNSTREAM else 0
    for _ in range(downstream):
        _record(reader)
    components = tuple(_component(reader, revision) for _ in range(reader.number(2)))
    _check(reader)
    if beyond := [each for each in components if each.offset + each.size > size]:
        raise EvidenceError(
            f"the PLDM package has {size} bytes, and {beyond[0].version} ends beyond; was it cut short?"
        )
    if within := [each for each in components if each.size and each.offset < header_bytes]:
        raise EvidenceError(
            f"the PLDM package's header has {header_bytes} bytes, and {within[0].version} begins in it"
        )
    payload_crc32 = reader.number(4) if revision >= MANIFEST else None
    return Package(revision, version, tuple(devices), components, downstream, header_bytes, payload_crc32)


def _device(reader: _Reader, bits: int, revision: int) -> Device:
    record = _record(reader)
    count = record.number(1)
    record.take(4)  # what the device may be asked besides
    form, length = record.take(2)
    record.take(2 + (4 if revision >= MANIFEST else 0))  # lengths of what follows the descriptors
    applicable = int.from_bytes(record.take((bits + 7) // 8), "little")
    version = _text(record, form, length)
    descriptors = tuple((record.number(2), record.take(record.number(2))) for _ in range(count))
    return Device(version, descriptors, tuple(index for index in range(bits) if applicable >> index & 1))


def _record(reader: _Reader) -> _Reader:
    """Return a record, whose first field is its own length."""
    length = reader.number(2)
    return _Reader(reader.take(max(length - 2, 0)))


def _component(reader: _Reader, revision: int) -> ComponentImage:
    classification, identifier, stamp = reader.number(2), reader.number(2), reader.number(4)
    reader.take(4)  # options, and how the package would have it activated
    offset, size = reader.number(4), reader.number(4)
    version = _text(reader, *reader.take(2))
    if revision >= OPAQUE:
        reader.take(reader.number(4))
    return ComponentImage(classification, identifier, stamp, version, offset, size)


def _check(reader: _Reader) -> None:
    """Hold the header against its checksum, which follows its last field."""
    counted = crc32(reader.data[: reader.at])
    said = reader.number(4)
    if said != counted:
        raise EvidenceError(f"the PLDM package's header has checksum {counted:08x}, expected {said:08x}")


def _text(reader: _Reader, form: int, length: int) -> str:
    """Return a text of a form and a length in bytes; what cannot be read in it is replaced."""
    return reader.take(length).decode(_ENCODINGS.get(form, "utf-8"), "replace").strip("\0 ")
