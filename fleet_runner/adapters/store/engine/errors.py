"""What went wrong in the database, as one sentence with the next step."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from fleet_runner.core.base.errors import ConflictError, StoreError, UnwritableError


class Trouble(NamedTuple):
    """What was found, and what to do next."""

    found: str
    next: str


_FULL = Trouble("its disk is full or a size limit is reached", "free space there, then run it again")
_LOCKED = Trouble(
    "another process holds its lock", "wait for that process or end it (`fuser` names it), then run it again"
)
_DISK = Trouble(
    "the disk refused a write (full, over a size limit, or failing)", "check its space and health, then run it again"
)
_READONLY = Trouble("it may not be written by this user", "correct the owner or mode of the file and its folder")
_CORRUPT = Trouble(
    "the file is damaged or is not a database", "restore it from a backup, or move it away and start again"
)
_ABSENT = Trouble("it cannot be opened", "check that path and permissions are right")
_GONE = Trouble(
    "the server cannot be reached or ended the connection", "check that it runs and that the URL is right"
)
_REFUSED = Trouble("the server refused the login, database or privilege", "correct the URL or the grants")

_OPTION = Trouble("the URL has an option that PostgreSQL does not know", "correct what follows the question mark")

SQLITE: dict[int, Trouble] = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _DISK,
    sqlite3.SQLITE_READONLY: _READONLY,
    sqlite3.SQLITE_CORRUPT: _CORRUPT,
    sqlite3.SQLITE_NOTADB: _CORRUPT,
    sqlite3.SQLITE_CANTOPEN: _ABSENT,
}
"""By SQLite's primary result code."""

POSTGRESQL: dict[str, Trouble] = {
    "53100": _FULL,
    "53": Trouble("the server is out of memory or connections", "relieve it, then run it again"),
    "55P03": _LOCKED,
    "25006": Trouble("the server only takes reads", "point the URL at the primary"),
    "08": _GONE,
    "57P": _GONE,
    "28": _REFUSED,
    "3D": _REFUSED,
    "42501": _REFUSED,
}
"""By SQLSTATE or its beginning, the longest first."""

REFUSALS = (
    "authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist",
    "not permitted to log in", "permission denied for database",
)  # fmt: skip
"""What a server says to whom it does not let in, which comes without an SQLSTATE."""

UNKNOWN_OPTION = "invalid connection option"

CROSSED = frozenset({"40001", "40P01"})
"""SQLSTATEs of a transaction that lost against another: nothing is wrong with the store."""


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn every database error into StoreError; the transaction around the statement is rolled back by then."""
    try:
        yield
    except DBAPIError as error:
        raise _explain(where, error) from error
    except SQLAlchemyError as error:
        raise StoreError(f"store {where}: {error}; nothing was half-written; please report this") from error


def _explain(where: str, error: DBAPIError) -> StoreError:
    state = getattr(error.orig, "sqlstate", None)
    if state in CROSSED:
        return ConflictError(f"store {where}: another writer came first; read the node again and decide again")
    said = " ".join(str(error.orig).split())[:500]
    code = getattr(error.orig, "sqlite_errorcode", None)
    trouble = _postgresql(error, state) if code is None else SQLITE.get(code & 0xFF)
    if trouble is None:
        kind = UnwritableError if isinstance(error, DataError | IntegrityError) else StoreError
        return kind(f"store {where}: {said}; nothing was half-written; please report this")
    return StoreError(f"store {where}: {trouble.found} ({said}); nothing was half-written; {trouble.next}")


def _postgresql(error: DBAPIError, state: str | None) -> Trouble | None:
    if state is None:  # there was no connection yet
        said = str(error.orig)
        if any(words in said for words in REFUSALS):
            return _REFUSED
        return _GONE if isinstance(error, OperationalError) else _OPTION if UNKNOWN_OPTION in said else None
    return next((POSTGRESQL[state[:size]] for size in (5, 3, 2) if state[:size] in POSTGRESQL), None)
