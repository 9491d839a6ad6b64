"""OVMF's variables as a BMC writes them: the next boot loads a program from a URI.

The layout is that of the UEFI Platform Initialization Specification (firmware volume, authenticated variables) and
of the UEFI Specification (load options, device paths).
"""

import struct
import uuid

GLOBAL = uuid.UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c").bytes_le
KEPT = 0x7  # non-volatile, for boot services and the running system
START, ADDED = 0x55AA, 0x3F
FREE = b"\xff"
VOLUME_LENGTH_AT = 48  # the volume's header says here how long it is itself
STORE_HEADER = 28
MESSAGING, URI, END = 0x03, 0x18, b"\x7f\xff\x04\x00"
NUMBER = 0


def booting_from(variables: bytes, uri: str) -> bytes:
    """Return the flash with what makes the firmware load a URI once."""
    path = struct.pack("<BBH", MESSAGING, URI, 4 + len(uri)) + uri.encode("ascii") + END
    active = 1
    option = struct.pack("<IH", active, len(path)) + _text("Network") + path
    added = _variable(f"Boot{NUMBER:04X}", option) + _variable("BootNext", struct.pack("<H", NUMBER))
    at = _free(variables)
    assert variables[at : at + len(added)] == FREE * len(added), f"no room for {len(added)} bytes at {at}"
    return variables[:at] + added + variables[at + len(added) :]


def _free(variables: bytes) -> int:
    """Return where the next variable goes: after the last one."""
    (length,) = struct.unpack_from("<H", variables, VOLUME_LENGTH_AT)
    at = int(length) + STORE_HEADER
    while struct.unpack_from("<H", variables, at) == (START,):
        name, data = struct.unpack_from("<II", variables, at + 36)
        at += -(-(60 + name + data) // 4) * 4
    return at


def _variable(name: str, data: bytes) -> bytes:
    text = _text(name)
    header = struct.pack("<HBBIQ16sIII", START, ADDED, 0, KEPT, 0, b"", 0, len(text), len(data)) + GLOBAL
    whole = header + text + data
    return whole + FREE * (-len(whole) % 4)


def _text(words: str) -> bytes:
    return (words + "\0").encode("utf-16-le")
