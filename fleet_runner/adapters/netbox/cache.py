"""A file that keeps what was read of a NetBox, for all processes of a machine that read the same one.

It is written whole or not at all, under a lock that lets one process read while the others wait for what it reads. A
file that cannot be used (cut off, of another version, another NetBox or token, somebody else's) is read past.
"""

import contextlib
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
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

FORM = sha256(json.dumps({name: form._fields for name, form in FORMS.items()}).encode()).hexdigest()
"""What tells a file of other rows, of an older or a newer version."""


class _UnusableError(Exception):
    """Why a kept file is not used."""


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


def load(file: Path, print_: str) -> tuple[Rows, Mark] | None:
    """Return what a file keeps for a fingerprint, or nothing; the log says why not, unless there is no file."""
    try:
        return _load(file, print_)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = str(error.strerror)
    except _UnusableError as error:
        why = str(error)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        why = f"it is damaged ({type(error).__name__})"
    log.warning("the copy of NetBox is not used; everything is read again", file=str(file), why=why)
    return None


def _load(file: Path, print_: str) -> tuple[Rows, Mark]:
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
        found = os.fstat(stream.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise _UnusableError("other users can read or write it, expected mode 0600")
        head, _, body = stream.read().partition(b"\n")
    said = json.loads(head)
    if said["form"] != FORM:
        raise _UnusableError("another version of fleet-runner wrote it")
    if said["of"] != print_:
        raise _UnusableError("it belongs to another NetBox or token")
    if said["sum"] != sha256(body).hexdigest():
        raise _UnusableError("it is damaged")
    kept = json.loads(body)
    mark = kept["mark"]
    opened = {int(number): float(since) for number, since in mark["open"].items()}
    lists = {name: {row[0]: _row(form, row) for row in kept["rows"][name]} for name, form in FORMS.items()}
    return Rows(**lists), Mark(**(mark | {"open": opened}))


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


def save(file: Path, print_: str, kept: Rows, mark: Mark) -> bool:
    """Write a file whole or not at all, for this user only; return whether that went well. The log says why not."""
    lists = {name: list(getattr(kept, name).values()) for name in FORMS}
    body = json.dumps({"mark": asdict(mark), "rows": lists}, separators=(",", ":")).encode()
    head = json.dumps({"form": FORM, "of": print_, "sum": sha256(body).hexdigest()}).encode()
    new = ""
    try:
        descriptor, new = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")  # of mode 0600
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines((head, b"\n", body))
            stream.flush()
            os.fsync(stream.fileno())
        Path(new).replace(file)
    except OSError as error:
        log.warning("the copy of NetBox cannot be written", file=str(file), why=error.strerror)
        if new:
            Path(new).unlink(missing_ok=True)
        return False
    return True
