"""One glance at the store: the state of every node and the conditions that hold, and nothing else.

The inventory of every play takes it. What the store is made of costs 0.4 s of CPU to load, a database's own driver a
hundredth of that. So tables are named here as well, and a test holds both against each other. It only reads: a store
that is not there is not made, and one of another schema is left as it is.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

from fleet_runner.core.base.errors import StoreError

REVISION = "0019"
"""The schema that has these tables; the store's own."""

PATIENCE = 2
"""Seconds: a play can do without."""

_SCHEMA: LiteralString = "SELECT version_num FROM alembic_version"
_ROWS: LiteralString = (
    "SELECT name, 'state', state FROM nodes UNION ALL SELECT node, 'condition', condition FROM conditions"
)

Rows = list[tuple[str, str, str]]


def states(url: str) -> Rows:
    """Return (node, "state" or "condition", which) of all nodes; nothing where there is no store.

    Raises:
        StoreError: it cannot be read, or has another schema; it says which.
    """
    scheme, _, rest = url.partition("://")
    if scheme.partition("+")[0] == "sqlite":
        path = Path(rest.removeprefix("/")).absolute()
        return _sqlite(path) if path.is_file() else []
    return _postgresql(f"postgresql://{rest}")


def _sqlite(path: Path) -> Rows:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=PATIENCE)) as connection:
            connection.execute("BEGIN")
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone() is None:
                return []
            _agree(connection.execute(_SCHEMA).fetchone(), str(path))
            return connection.execute(_ROWS).fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"store {path}: {error}; `fleet-runner status` says more") from error


def _postgresql(url: str) -> Rows:
    where = "store in PostgreSQL"  # not the URL: it may hold a password, and so may what its driver says of it
    try:
        import psycopg  # noqa: PLC0415  only those need it whose store is there
    except ImportError as error:
        raise StoreError("store: PostgreSQL needs psycopg; `pip install 'fleet-runner[postgres]'`") from error
    limits = f"-c statement_timeout={PATIENCE * 1000} -c default_transaction_read_only=on"
    try:
        with psycopg.connect(url, connect_timeout=PATIENCE, options=limits) as connection:
            if connection.execute("SELECT to_regclass('alembic_version')").fetchone() == (None,):
                return []
            _agree(connection.execute(_SCHEMA).fetchone(), where)
            return connection.execute(_ROWS).fetchall()
    except psycopg.Error as error:
        raise StoreError(f"{where}: {type(error).__name__}; `fleet-runner status` says more") from error


def _agree(found: Any, where: str) -> None:
    if found != (REVISION,):
        shown = found[0] if found else "not written down"
        raise StoreError(
            f"{where}: its schema is {shown}, expected {REVISION}; `fleet-runner status` says what to do"
        )
