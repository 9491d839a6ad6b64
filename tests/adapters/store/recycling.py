"""Databases of tests that are over, emptied for the next ones: making one copies a thousand files.

Only a database that nobody is connected to any more is used again, and only while its catalog, its version and its
settings are those of a new one: a test that does anything but write rows has a database to itself.
"""

import os
import time
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

TEMPLATE = "postgres"
CATALOGS = ("attribute", "attrdef", "class", "constraint", "index", "namespace", "proc", "rewrite", "trigger")
LOOKS = 10
"""How often to look, some hundredths of a second apart, until the server is done with who has just left."""

CHANGES = "SELECT '{0}', count(*)::text, max(xmin::text::bigint)::text FROM pg_{0}"
STATE = " UNION ALL ".join(CHANGES.format(name) for name in CATALOGS)
SETTINGS = """SELECT setconfig::text FROM pg_db_role_setting
    UNION ALL SELECT rolname || rolconnlimit || rolcanlogin FROM pg_roles WHERE rolname !~ '^pg_'
    UNION ALL SELECT datname || datallowconn || datconnlimit FROM pg_database WHERE datname = current_database()"""
OTHERS = """SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
    AND datname = current_database() AND backend_type = 'client backend'"""
TABLES = """SELECT oid::regclass::text FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version' ORDER BY 1"""
RESTARTED = """SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    FROM pg_sequences WHERE last_value IS NOT NULL"""


class Databases:
    """Empty stores in one server, by the folder of its socket."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.free: list[str] = []
        self.new = self._state(TEMPLATE)

    def url(self, name: str) -> str:
        """Return the URL of a database."""
        return f"postgresql+psycopg://fleet@/{name}?host={self.home}"

    def make(self) -> str:
        """Return the name of a database that holds an empty store."""
        if self.free:
            return self.free.pop()
        name = f"t{os.getpid()}_{time.monotonic_ns()}"
        self._order(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        return name

    def give_back(self, name: str) -> None:
        """Empty a database for whoever wants one next, or remove it."""
        with suppress(SQLAlchemyError):
            if self._state(name) == self.new:
                self.free.append(name)
                return
        self._order(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _order(self, what: str) -> None:
        engine = create_engine(self.url("template1"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(what))
        engine.dispose()

    def _state(self, name: str) -> list[tuple[Any, ...]]:
        """Empty a database; return all that is to be as it is in a new one, or nothing where somebody is there."""
        engine = create_engine(self.url(name))
        try:
            with engine.begin() as connection:
                if not _alone(connection):
                    return []
                _empty(connection)
                found = [tuple(row) for row in connection.execute(text(STATE))]
                found += [(row[0].replace(name, ""),) for row in connection.execute(text(SETTINGS))]
                return [*found, *map(tuple, connection.execute(text("SELECT version_num FROM alembic_version")))]
        finally:
            engine.dispose()


def _alone(connection: Connection) -> bool:
    for _ in range(LOOKS):
        if not connection.execute(text(OTHERS)).scalar():
            return True
        time.sleep(0.02)
    return False


def _empty(connection: Connection) -> None:
    """Delete every row, in no order, and begin to count anew."""
    names = [row[0] for row in connection.execute(text(TABLES))]
    asked = ", ".join(f"EXISTS (SELECT FROM {name})" for name in names)
    filled = connection.execute(text(f"SELECT {asked}")).one()
    connection.execute(text("SET LOCAL session_replication_role = replica"))
    for name in (name for name, has_rows in zip(names, filled, strict=True) if has_rows):
        connection.execute(text(f"DELETE FROM {name}"))  # noqa: S608  it is the server's own quoted name
    connection.execute(text(RESTARTED))
