"""The database behind a URL, and all that SQLite and PostgreSQL do differently; see `adapters.store_snapshot`."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from fleet_runner.adapters.store.engine.errors import explained
from fleet_runner.core.base.errors import NoStoreError, StoreError

PATIENCE = 10.0
"""Seconds to wait for another writer's lock."""

_UNREADABLE = (
    "database_url is not a database URL; expected sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE"
)
FROZEN = 30.0
"""Seconds after which a PostgreSQL ends the transaction of a process that does nothing in the middle of one."""

SETTLING = 0.5
"""Seconds to wait for those who write to a table."""

_IDLE = f"-c idle_in_transaction_session_timeout={round(FROZEN * 1000)}"

_WRITES = "fleet_writes"
_CREATION_LOCK = 5_023_319_866  # any number, as long as every fleet-runner takes the same one
_BREAKER_LOCK = 5_023_319_867


@dataclass(frozen=True, slots=True)
class Database:
    """An engine, and where it leads to, in words without a password; `refusal` is why it is only read, or ""."""

    engine: Engine
    where: str
    held: ContextVar[Callable[[], Connection] | None] = field(
        default_factory=lambda: ContextVar("held", default=None)
    )
    refusal: str = ""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Look at one moment of the store: the one that this thread holds, if it does."""
        held = self.held.get()
        with explained(self.where), self.engine.connect() if held is None else nullcontext(held()) as connection:
            yield connection

    def one_moment(self) -> AbstractContextManager[None]:
        """Have everything that this thread reads meanwhile be read in one transaction; the first read begins it."""
        return _Moment(self)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Change the store as a whole or not at all."""
        if self.refusal:
            raise StoreError(self.refusal)
        with explained(self.where), self.engine.execution_options(**{_WRITES: True}).begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


class _Moment(AbstractContextManager[None]):
    """One transaction of a thread; within another one, that one's. A tick enters one for each node, most unused."""

    __slots__ = ("_connection", "_database", "_token")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None

    def __enter__(self) -> None:
        held = self._database.held
        self._token = held.set(held.get() or self._connected)

    def __exit__(self, *_: object) -> None:
        self._database.held.reset(self._token)
        if self._connection is not None:
            with explained(self._database.where):
                self._connection.close()

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._database.engine.connect()
        return self._connection


def connect(url: str, *, patience: float = PATIENCE, create: bool = False) -> Database:
    """Reach the database of a URL; only with `create` may a SQLite file that is missing come to be."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(_UNREADABLE) from None  # neither is what was found shown: it may hold a password
    if "@" in (parsed.host or ""):
        raise StoreError(f"{_UNREADABLE}; an @ in a password is written %40")
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(parsed, patience, create=create)
        case "postgresql" | "postgres":
            return _postgresql(parsed, patience)
        case other:
            raise StoreError(
                f"store: {other!r} is not a database it can use; expected sqlite:///PATH or postgresql://…"
            )


def insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an insert that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def clock(connection: Connection) -> float:
    """Return the time by the database's own clock, which all that share it agree on; SQLite's is this machine's."""
    if connection.dialect.name == "postgresql":
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
    return time.time()


def agreed(connection: Connection, now: float) -> float:
    """Return the time that all agree on who share the database: PostgreSQL's own, and with SQLite `now`."""
    return clock(connection) if connection.dialect.name == "postgresql" else now


def settle(connection: Connection, table: Table, patience: float | None = None) -> None:
    """Wait a moment for all who write to a table now: what they add has lower numbers than what comes after them.

    Nobody else waits. With SQLite only one writes at a time. Whoever writes for long is not waited for: StoreError.
    """
    if connection.dialect.name != "postgresql":
        return
    patience = SETTLING if patience is None else patience
    writing, until = _writing(connection, table), time.monotonic() + patience
    while writing:
        if time.monotonic() > until:
            why = f"store: a process is writing to {table.name} for more than {patience:g} s"
            raise StoreError(f"{why}; wait for it, then run it again")
        time.sleep(SETTLING / 50)
        writing &= _writing(connection, table)


def _writing(connection: Connection, table: Table) -> frozenset[str]:
    """Return the transactions that may have added rows which nobody else sees yet."""
    locks = (
        "SELECT virtualtransaction FROM pg_locks WHERE mode = 'RowExclusiveLock' "
        "AND relation = CAST(:name AS regclass) "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    found = connection.execute(text(locks), {"name": f'"{table.name}"'})
    return frozenset(found.scalars())


def never_hold(connection: Connection, seconds: float) -> None:
    """Have the server end this transaction if its process is frozen in the middle: what it locked is free then.

    A SQLite file has no server that could; whoever freezes there keeps all others from writing.
    """
    if connection.dialect.name == "postgresql":
        milliseconds = str(round(seconds * 1000))
        wanted = text("SELECT set_config('idle_in_transaction_session_timeout', :milliseconds, true)")
        connection.execute(wanted, {"milliseconds": milliseconds})


def hold_creation(connection: Connection) -> None:
    """Let one process at a time create or migrate tables; SQLite's write transaction already does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})"))


def hold_breaker(connection: Connection) -> None:
    """Let one process at a time count what wants out: two that count at once would miss each other's."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_BREAKER_LOCK})"))


def _sqlite(url: URL, patience: float, *, create: bool) -> Database:
    if url.database in {None, "", ":memory:"} or url.query:
        raise StoreError("store: the URL names no file of its own, or options; expected sqlite:///PATH")
    path = Path(str(url.database)).absolute()
    if create:
        _make_folder(path.parent)
    elif not path.is_file():
        raise NoStoreError(
            f"store {path}: there is no such file; `fleet-runner tick` creates it, or correct the path"
        )
    mode = "rwc" if create else "rw"
    name = URL.create("sqlite", database=f"file:{quote(str(path))}", query={"mode": mode, "uri": "true"})
    engine = create_engine(name, connect_args={"timeout": patience})
    if create:
        event.listen(engine, "do_connect", lambda *_: _make_file(path))
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", begin_sqlite)
    return Database(engine, str(path))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"store folder {folder}: {error.strerror}; create it or name another state_dir") from error


def _make_file(path: Path) -> None:
    """Make a new store its owner's alone, before SQLite does; the files beside it get the mode that it has.

    One that is there is not even opened: closing it again would drop this process's locks on it.
    """
    with suppress(OSError):  # it is there, or SQLite says what is wrong
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _prepare_sqlite(connection: Any, record: object) -> None:
    """Take transactions into our own hands, and set what SQLite forgets with every connection."""
    del record
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", "foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")


def begin_sqlite(connection: Connection) -> None:
    """A writer takes the lock at once: one that read first and wrote later would fail without waiting."""
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql(url: URL, patience: float) -> Database:
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"), connect_args=_arguments(patience), pool_pre_ping=True
        )
    except ImportError as error:
        raise StoreError("store: PostgreSQL needs psycopg; `pip install 'fleet-runner[postgres]'`") from error
    shown = url.set(query={name: value for name, value in url.query.items() if name in {"host", "port"}})
    return Database(engine, shown.render_as_string(hide_password=True))


def driver_arguments(url: str, patience: float = PATIENCE) -> dict[str, Any]:
    """Return what PostgreSQL's driver connects with, for who comes to a store without SQLAlchemy."""
    dialect: Any = PGDialect_psycopg
    return {**dialect().create_connect_args(make_url(url))[1], **_arguments(patience)}


def _arguments(patience: float) -> dict[str, Any]:
    return {
        "connect_timeout": max(2, round(patience)),
        # A server that is gone without a word is noticed within about `patience`, not after the system's hours.
        "tcp_user_timeout": max(2, round(patience)) * 1000,
        "keepalives_idle": max(2, round(patience)),
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "options": f"-c lock_timeout={max(1, round(patience * 1000))} {_IDLE}",
        "application_name": "fleet-runner",
    }
