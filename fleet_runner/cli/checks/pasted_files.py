"""Files that somebody gives, read in pieces: of any encoding, packed or not, and of any size."""

import codecs
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import IO

from fleet_runner.cli.base.session import errors
from fleet_runner.core.checks.pasted.text import Pasted, Read

STDIN = Path("-")

PIECE = 1 << 20
"""Bytes that are read at a time; a line that is longer is taken in pieces."""

SLOW = 2.0
"""Seconds after which it is told how far it is, and then every second."""

PAUSE = 1.0

GZIP = b"\x1f\x8b"

PACKED = {b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd", b"BZh": "bzip2"}
"""Beginnings of files that have to be unpacked first."""

_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}


Feed = Callable[[str], None]
"""Takes the next lines of a text."""


def read(path: Path, *, alone: bool, beside: Feed | None = None) -> Read:
    """Return what a file says; of one that cannot be read, why. `alone`: it is not one of several.

    `beside` is given the same lines.
    """
    label = "standard input" if path == STDIN else str(path)
    pasted = Pasted(label, "" if alone or path == STDIN else path.name.partition(".")[0])
    try:
        with _opened(path) as raw:
            return _fed(pasted, raw, beside)
    except OSError as error:
        return Read(label, 0, useless=f"{error.strerror or error}; name a file that can be read")


def _opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    if path != STDIN:
        return path.open("rb")
    if sys.stdin.isatty():
        errors.print("paste the log, then press Ctrl-D", style="dim")
    return nullcontext(sys.stdin.buffer)


def _fed(pasted: Pasted, raw: IO[bytes], beside: Feed | None) -> Read:
    chunks = _chunks(raw)
    head = next(chunks, b"")
    kind = next((name for begin, name in PACKED.items() if head.startswith(begin)), "")
    if kind:
        return Read(pasted.label, 0, useless=f"it is packed ({kind}); unpack it first, or pack it with gzip")
    chunks = chain([head], chunks)
    cut, told = "", time.monotonic() + SLOW - PAUSE
    try:
        for size, text in _pieces(_unpacked(chunks) if head.startswith(GZIP) else chunks):
            pasted.feed(text)
            if beside is not None:
                beside(text)
            if errors.is_terminal and time.monotonic() - told > PAUSE:
                told = time.monotonic()
                errors.print(f"{pasted.label}: {size / 1e6:,.0f} MB read", style="dim", markup=False)
    except (EOFError, zlib.error) as error:
        cut = f"its gzip data is cut or damaged ({error})"
    return pasted.end(cut)


def _chunks(raw: IO[bytes]) -> Iterator[bytes]:
    while data := raw.read(PIECE):
        yield data


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what gzip packed, a bounded piece at a time; EOFError where the data is cut."""
    packer = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    for chunk in chunks:
        left = chunk
        while left:
            yield packer.decompress(left, PIECE)
            left = packer.unconsumed_tail
            if packer.eof:
                left = packer.unused_data.lstrip(b"\x00")
                packer = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if left else packer
    yield packer.flush()
    if not packer.eof:
        raise EOFError("it ends too soon")


def _pieces(chunks: Iterator[bytes]) -> Iterator[tuple[int, str]]:
    """Yield how much was read, and whole lines; the last piece may lack its end."""
    size, left, decoder = 0, "", None
    for data in chunks:
        if not data:
            continue
        decoder = decoder or codecs.getincrementaldecoder(_encoding(data))(errors="replace")
        size += len(data)
        text = (left + decoder.decode(data)).replace("\r\n", "\n")
        whole, end, left = text.rpartition("\n")
        if len(left) > PIECE:
            whole, end, left = text, "", ""
        if whole or end:
            yield size, whole + end
    left += decoder.decode(b"", final=True) if decoder is not None else ""
    if left:
        yield size, left


def _encoding(data: bytes) -> str:
    """Return the encoding by a file's first bytes; UTF-16 without a mark has a zero in every other one."""
    for mark, name in _BOMS.items():
        if data.startswith(mark):
            return name
    sample = data[:2000]
    half = len(sample) // 2
    if half and sample[1::2].count(0) > half * 0.8:
        return "utf-16-le"
    return "utf-16-be" if half and sample[::2].count(0) > half * 0.8 else "utf-8"
