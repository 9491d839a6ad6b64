"""Syslog messages of RFC 5424 and RFC 3164, alone or in a stream (RFC 6587): what the kernel of a host said.

Only messages of the facility `kern` count: no process of a node can log with it through the system's own means.
"""

import re

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.kernel_lines import bare
from fleet_runner.core.faults.signals.clock import moment
from fleet_runner.core.faults.signals.kernel import LONGEST, Line

LARGEST = 8192
"""Bytes of one message in a stream; RFC 5424 asks receivers for 2048."""

_KERN = 8
"""Priorities below this are of the facility 0, `kern`: RFC 5424, 6.2.1."""

_DIGITS = len(str(LARGEST))

_PRI = re.compile(r"<(\d{1,3})>")
_NEW = re.compile(
    r"1 (?P<time>\S{1,48}) (?P<host>\S{1,255}) (?P<app>\S{1,48}) \S{1,128} \S{1,32} "
    r'(?:-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.){0,1000}"){1,1000}\]){1,20})(?: (?:\ufeff)?(?P<text>.*))?$',
    re.DOTALL,
)
_OLD = re.compile(
    r"(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S{8,30}) (?P<host>\S{1,255}) "
    r"(?P<app>[^\s:\[]{1,48})(?:\[\d{1,10}\])?: ?(?P<text>.*)$",
    re.DOTALL,
)
_KERNEL = "kernel"


def read(message: str, heard: float) -> Line | None:
    """Return the line of a message, None if it is not of a kernel; EvidenceError for what is no syslog message."""
    message = message[:LARGEST].rstrip("\r\n\x00")
    pri = _PRI.match(message)
    found = _NEW.match(message, pri.end()) or _OLD.match(message, pri.end()) if pri is not None else None
    if pri is None or found is None:
        raise EvidenceError(
            f"a syslog message begins with {message[:40]!r}, expected the header of RFC 5424 or RFC 3164"
        )
    if int(pri[1]) >= _KERN or found["app"] != _KERNEL:
        return None
    _, text = bare((found["text"] or "")[:LONGEST].replace("\n", " "))
    return Line(found["host"], text, moment(found["time"], heard), found["time"])


def frames(held: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole messages that a stream begins with, and what is left of it: messages are counted or by line.

    EvidenceError for a message that is longer than LARGEST: the stream cannot be followed any further.
    """
    found: list[bytes] = []
    at = 0
    while at < len(held):
        frame, end = _counted(held, at) if held[at : at + 1].isdigit() else _lined(held, at)
        if end < 0:
            break
        if frame:
            found.append(frame)
        at = end
    return found, held[at:]


def _counted(held: bytes, at: int) -> tuple[bytes, int]:
    """Return a message whose length stands before it, and where it ends; -1 where it has not arrived whole."""
    space = held.find(b" ", at, at + _DIGITS + 1)
    if space < 0 and len(held) - at <= _DIGITS:
        return b"", -1
    size = held[at : max(space, at)]
    if not size.isdigit() or int(size) > LARGEST:
        raise EvidenceError(
            f"a syslog stream counts {held[at : at + 10]!r} bytes, expected at most {LARGEST}; is it octet-counted?"
        )
    end = space + 1 + int(size)
    return (held[space + 1 : end], end) if end <= len(held) else (b"", -1)


def _lined(held: bytes, at: int) -> tuple[bytes, int]:
    newline = held.find(b"\n", at, at + LARGEST + 1)
    if newline < 0:
        if len(held) - at > LARGEST:
            raise EvidenceError(f"a line of a syslog stream has more than {LARGEST} bytes; split it")
        return b"", -1
    return held[at:newline].strip(b"\r\x00 "), newline + 1
