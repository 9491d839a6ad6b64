"""Reading a SQLite store whose disk takes no writes: at night, on a full disk, people have to see what there is.

A reader needs a small file beside the store, which remembers what others do; SQLite cannot make it there. On a full
disk it keeps that in memory and locks everybody else out instead: nobody else has the store open then, or the file
would be there. On a file system that is read-only nobody writes at all, and nothing need be remembered.
"""

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, make_url

from fleet_runner.adapters.store.engine.database import Database, begin_sqlite
from fleet_runner.adapters.store.maintenance.revision import check
from fleet_runner.core.base.errors import StoreError

FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
SHUT = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})

ALONE = MappingProxyType({"mode": "rw", "vfs": "unix-excl"})
UNCHANGING = MappingProxyType({"mode": "ro", "immutable": "1"})


def reading(url: str, error: StoreError, patience: float) -> Database:
    """Return the store for reading alone.

    The error of who opened it as always is raised again where it is not the disk that keeps it from being opened.
    """
    code = getattr(getattr(error.__cause__, "orig", None), "sqlite_errorcode", 0) & 0xFF
    how = _how(path := Path(str(make_url(url).database)).absolute(), code)
    if how is None:
        raise error
    database = _opened(path, how, patience, str(error))
    try:
        check(database)
    except StoreError:  # what was wrong at first says more
        database.close()
        raise error from None
    return database


def _opened(path: Path, how: Mapping[str, str], patience: float, refusal: str) -> Database:
    name = URL.create("sqlite", database=f"file:{quote(str(path))}", query={**how, "uri": "true"})
    engine = create_engine(name, connect_args={"timeout": patience})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", begin_sqlite)
    return Database(engine, str(path), refusal=refusal)


def _how(path: Path, code: int) -> Mapping[str, str] | None:
    if code in FULL:
        return ALONE
    shut = code in SHUT and os.statvfs(path).f_flag & os.ST_RDONLY
    return UNCHANGING if shut and not _unfinished(path) else None


def _unfinished(path: Path) -> bool:
    """Whether a log beside the store holds what is not in it yet: who read the store alone would miss that."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _prepare(connection: Any, record: object) -> None:
    """Sort in memory: the folder for temporary files may be on the same disk."""
    del record
    connection.isolation_level = None
    connection.execute("PRAGMA temp_store = MEMORY")
