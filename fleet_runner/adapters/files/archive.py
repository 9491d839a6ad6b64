"""An archive of texts for people elsewhere: scrubbed, bounded, and nothing in it but plain files below one folder."""

import gzip
import io
import json
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.redaction import Scrubber

FILE_BYTES = 64_000_000
"""The most that one file may have, before it is packed; a compressed one is measured as its text."""

TOTAL_BYTES = 512_000_000

LINE = 1_000_000
"""Characters that are read at a time where a line does not end."""

ZSTD = "zstd"


class Archive:
    """Takes texts under their names. `left_out` says what was not taken, or not as a whole, and why."""

    def __init__(self, tar: tarfile.TarFile, folder: str, scrubber: Scrubber) -> None:
        self._tar, self._folder, self.scrubber = tar, folder, scrubber
        self.left_out: list[str] = []
        self.size = 0
        self.names: list[str] = []

    def text(self, name: str, text: str) -> None:
        """Add a text."""
        self._stream(name, io.BytesIO(text.encode("utf-8", "replace")))

    def json(self, name: str, value: Any) -> None:
        """Add plain JSON types; each text in them is scrubbed by itself, so that what is left is JSON."""
        with tempfile.TemporaryFile() as clean:
            size = clean.write(json.dumps(self.scrubber.tree(value), indent=1, default=str).encode())
            if size > min(FILE_BYTES, TOTAL_BYTES - self.size):
                self.left_out.append(f"{name}: it has {size // 1_000_000} MB")
                return
            self.size += size
            self._add(name, clean)

    def file(self, name: str, path: Path) -> None:
        """Add a file, if it is one: no link is followed, and no device read."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            self.left_out.append(f"{name}: {error.strerror}")
            return
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            self.left_out.append(f"{name}: not a regular file")
            return
        with os.fdopen(handle, "rb") as file:
            self._stream(name, file, packed=name.endswith(".gz"))

    def _stream(self, name: str, data: IO[bytes], *, packed: bool = False) -> None:
        """Scrub a text line by line into a file of its own, then add that."""
        room = min(FILE_BYTES, TOTAL_BYTES - self.size)
        if room <= 0:
            self.left_out.append(f"{name}: the archive holds {TOTAL_BYTES // 1_000_000} MB already")
            return
        with tempfile.TemporaryFile() as clean:
            try:
                whole, size = self._scrubbed(data, clean, room, packed=packed)
            except (OSError, EOFError) as error:  # gzip's own errors are among them
                self.left_out.append(f"{name}: it cannot be read: {error}")
                return
            if not whole:
                self.left_out.append(f"{name}: cut after {size // 1_000_000} MB")
            self.size += size
            self._add(name, clean)

    def _scrubbed(self, data: IO[bytes], clean: IO[bytes], room: int, *, packed: bool) -> tuple[bool, int]:
        """Return whether all of it fitted, and how much was written."""
        source = gzip.GzipFile(fileobj=data) if packed else data
        target = gzip.GzipFile(fileobj=clean, mode="wb", mtime=0) if packed else clean
        size = 0
        while line := source.readline(LINE):
            if size + len(line) > room:
                break
            size += target.write(self.scrubber.line(line.decode("utf-8", "replace")).encode())
        if packed:
            target.close()
        return not line, size

    def _add(self, name: str, clean: IO[bytes]) -> None:
        entry = tarfile.TarInfo(f"{self._folder}/{_safe(name)}")
        entry.size, entry.mtime, entry.mode = clean.tell(), int(time.time()), 0o600
        clean.seek(0)
        self._tar.addfile(entry, clean)
        self.names.append(name)


def _safe(name: str) -> str:
    """Return a name that lies in the folder, whatever it was made from."""
    parts = ["".join(each if each.isalnum() or each in "-_.+" else "_" for each in part) for part in name.split("/")]
    return "/".join(part.lstrip(".") or "_" for part in parts if part)[:200]


@contextmanager
def writing(path: Path, folder: str, scrubber: Scrubber) -> Iterator[Archive]:
    """Write FILE.tar.gz or FILE.tar.zst as a whole, or not at all; nobody else can read it.

    Raises:
        FleetError: another ending, a file that is there already, or a folder that cannot be written to.
    """
    if not path.name.endswith((".tar.gz", ".tar.zst")):
        raise FleetError(f"--out {path}: expected a name that ends with .tar.gz or .tar.zst")
    if path.exists():
        raise FleetError(f"--out {path}: it is there already; name another file")
    packs = path.name.endswith(".zst")
    if packs and shutil.which(ZSTD) is None:
        raise FleetError(f"--out {path}: the program {ZSTD} is not on this machine; name a .tar.gz instead")
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            if packs:
                yield from _zstd(file, folder, scrubber)
            else:
                with tarfile.open(fileobj=file, mode="w:gz") as tar:
                    yield Archive(tar, _safe(folder), scrubber)
        part.replace(path)
    except OSError as error:
        raise FleetError(f"--out {path}: {error.strerror}; nothing was written") from error
    finally:
        part.unlink(missing_ok=True)


def _zstd(file: IO[bytes], folder: str, scrubber: Scrubber) -> Iterator[Archive]:
    with subprocess.Popen([ZSTD, "-q", "-c"], stdin=subprocess.PIPE, stdout=file) as program:  # noqa: S603  no shell
        if program.stdin is not None:
            with tarfile.open(fileobj=program.stdin, mode="w|") as tar:
                yield Archive(tar, _safe(folder), scrubber)
            program.stdin.close()
        if program.wait():
            raise FleetError(f"{ZSTD} ended with {program.returncode}; nothing was written")
