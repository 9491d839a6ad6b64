"""A file that keeps what was read of a NetBox, for all processes of a machine that read the same one.

It is written whole or not at all, under a lock that lets one process read while the others wait for what it reads. A
file that cannot be used (cut off, of another version, another NetBox or token, somebody else's) is read past. Rows
are made of it when somebody first asks for any: most who read a NetBox that nobody changed never do.
"""

import contextlib
import fcntl
import gc
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import structlog

from fleet_runner.adapters.netbox import rows
from fleet_runner.adapters.netbox.changes import Mark
from fleet_runner.adapters.netbox.rows import Rows

log = structlog.get_logger()

LOCK_SECONDS = 60.0  # that others may read; then this process reads without their help
LOOK_SECONDS = 0.05

FORMS: Mapping[str, Any] = {
    "sites": rows.SiteRow,
    "racks": rows.RackRow,
    "device_types": rows.TypeRow,
    "devices": rows.DeviceRow,
    "interfaces": rows.InterfaceRow,
    "inventory_items": rows.ItemRow,
    "modules": rows.ModuleRow,
    "cables": rows.CableRow,
    "front_ports": rows.FrontRow,
    "rear_ports": rows.RearRow,
}
"""What each list of `Rows` holds."""

LAYOUT = 2  # of a file: the mark is in its head

FORM = sha256(json.dumps([LAYOUT, {name: form._fields for name, form in FORMS.items()}]).encode()).hexdigest()
"""What tells a file of other rows, of an older or a newer version."""


class UnusableError(Exception):
    """Why a kept file is not used."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file keeps: rows, how far the change log was read then, and what tells these rows from any others."""

    rows: Rows
    mark: Mark
    sum: str


class _KeptRows(Rows):
    """Rows that are made of a file's text when somebody first asks for any."""

    __slots__ = ("_text",)

    def __init__(self, text: bytes) -> None:
        object.__setattr__(self, "_text", text)

    def __getattr__(self, name: str) -> Any:
        """Make all of them; only what is not set yet is looked for here."""
        if text := self._text:  # else another thread has just made them
            with uncollected():
                kept = json.loads(text)
                for each, form in FORMS.items():
                    object.__setattr__(self, each, {row[0]: _row(form, row) for row in kept[each]})
            object.__setattr__(self, "_text", b"")
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and all(getattr(self, name) == getattr(other, name) for name in FORMS)

    __hash__ = None  # type: ignore[assignment]  # as of any rows


def fingerprint(url: str, token: str) -> str:
    """Return what tells the same NetBox, seen with the same rights."""
    return sha256(f"{url} {token}".encode()).hexdigest()


@contextlib.contextmanager
def locked(file: Path, *, wait: bool = True) -> Iterator[None]:
    """Let one process at a time read what a file keeps; who waits too long, or cannot lock, goes on without.

    Who knows already what was read need not `wait`: a process that somebody stopped holds up no runner.
    """
    try:
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        lock = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        log.warning("the copy of NetBox is not shared with other processes", file=str(file), why=error.strerror)
        yield
        return
    try:
        _wait(lock, file, LOCK_SECONDS if wait else 0.0)
        yield
    finally:
        os.close(lock)


def _wait(lock: int, file: Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                if seconds:
                    log.warning("another process takes long to read NetBox; it is read here, too", file=str(file))
                return
            time.sleep(LOOK_SECONDS)
        except OSError as error:
            log.warning("the copy of NetBox cannot be locked", file=str(file), why=error.strerror)
            return
        else:
            return


def load(file: Path, print_: str) -> Kept | None:
    """Return what a file keeps for a fingerprint, or nothing; the log says why not, unless there is no file."""
    try:
        said, body = read(file, FORM, print_)
        mark = said["mark"]
        opened = {int(number): float(since) for number, since in mark["open"].items()}
        return Kept(_KeptRows(body), Mark(**(mark | {"open": opened})), said["sum"])
    except FileNotFoundError:
        return None
    except OSError as error:
        why = str(error.strerror)
    except UnusableError as error:
        why = str(error)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        why = f"it is damaged ({type(error).__name__})"
    log.warning("the copy of NetBox is not used; everything is read again", file=str(file), why=why)
    return None


def read(file: Path, form: str, of: str) -> tuple[dict[str, Any], bytes]:
    """Return the head and the body of a file that `write` wrote.

    Raises UnusableError, OSError and what comes of a head that is none.
    """
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
        found = os.fstat(stream.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise UnusableError("other users can read or write it, expected mode 0600")
        head, body = stream.readline(), stream.read()
    said = json.loads(head)
    if said["form"] != form:
        raise UnusableError("another version of fleet-runner wrote it")
    if said["of"] != of:
        raise UnusableError("it belongs to another NetBox or token")
    if said.pop("seal") != _seal(said) or said["sum"] != sha256(body).hexdigest():
        raise UnusableError("it is damaged")
    return said, body


def _seal(head: Mapping[str, Any]) -> str:
    """Return what tells a head from one of which a digit has changed: a mark too far on would miss changes."""
    return sha256(json.dumps(head).encode()).hexdigest()


def _row(form: Any, row: list[Any]) -> Any:
    match form:
        case rows.TypeRow:
            return form(*row[:-1], tuple(rows.PortRow(*port) for port in row[-1]))
        case rows.CableRow:
            return form(*row[:-1], tuple(rows.EndRow(*end) for end in row[-1]))
        case rows.FrontRow:
            return form(*row[:-1], tuple((rear, position) for rear, position in row[-1]))
        case _:
            return form(*row)


def save(file: Path, print_: str, kept: Rows, mark: Mark) -> str:
    """Write a file whole or not at all; return what tells these rows from others, "" where that did not go well."""
    body = json.dumps({name: list(getattr(kept, name).values()) for name in FORMS}, separators=(",", ":")).encode()
    return write(file, {"form": FORM, "of": print_, "mark": asdict(mark)}, body)


def write(file: Path, head: Mapping[str, Any], body: bytes) -> str:
    """Write a head and a body, for this user only; return the body's sum, or "", and the log says why not."""
    total, new = sha256(body).hexdigest(), ""
    said = {**head, "sum": total}
    try:
        descriptor, new = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")  # of mode 0600
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines((json.dumps({**said, "seal": _seal(said)}).encode(), b"\n", body))
            stream.flush()
            os.fsync(stream.fileno())
        Path(new).replace(file)
    except OSError as error:
        log.warning("the copy of NetBox cannot be written", file=str(file), why=error.strerror)
        if new:
            Path(new).unlink(missing_ok=True)
        return ""
    return total


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage while many objects are made that all stay: that took a third of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
