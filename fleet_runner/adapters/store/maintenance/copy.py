"""A whole store carried from one database to another: every row, in one transaction, and verified."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Select, Table, Text, func, insert, inspect, select, text

from fleet_runner.adapters.store.engine.columns import Json, Words
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.maintenance.migrate import migrate, revision
from fleet_runner.adapters.store.schema.core import metadata, runs
from fleet_runner.core.base.errors import StoreError

ROWS, HEAVY = 1_000, {"evidence": 50, "ticket_photos": 10}
"""Rows that are written at a time; of those whose bodies may be long."""

Digest = int


@dataclass(frozen=True, slots=True)
class Copied:
    """A table's rows, and the sum of their hashes, in whichever order they come."""

    table: str
    rows: int
    digest: Digest


def copy(source: Database, target: Database, tell: Callable[[Copied], None]) -> tuple[Copied, ...]:
    """Copy every row into an empty store, or nothing; nobody writes to the source meanwhile.

    Raises:
        StoreError: the target is not empty, runs are open, or what arrived is not what was sent.
    """
    _prepare(target)
    with source.write() as reading, target.write() as writing:
        _hold(reading)
        _check_runs(source, reading)
        if found := [table.name for table in metadata.sorted_tables if _rows(writing, table)]:
            raise StoreError(
                f"store {target.where}: it is not empty ({', '.join(found[:3])}); name a new database, "
                f"nothing was changed"
            )
        done: list[Copied] = []
        for table in metadata.sorted_tables:
            sent = _carry(reading, writing, table)
            arrived = digest(writing, table)
            if arrived != sent:
                raise StoreError(
                    f"store {target.where}: of {table.name} {arrived.rows} rows arrived, {sent.rows} were sent, and "
                    f"their contents differ; nothing was kept, please report this"
                )
            tell(sent)
            done.append(sent)
        _number_on(writing)
    return tuple(done)


def digest(connection: Connection, table: Table) -> Copied:
    """Return a table's rows and the sum of their hashes, which is the same on both databases."""
    count, total = 0, 0
    for chunk in _chunks(connection, table):
        count, total = count + len(chunk), total + sum(map(_hash, chunk))
    return Copied(table.name, count, total % 2**256)


def _prepare(target: Database) -> None:
    """Make the tables in an empty database; refuse one that is somebody else's."""
    with target.read() as connection:
        strange = set(inspect(connection).get_table_names()) - metadata.tables.keys() - {"alembic_version"}
        known = revision(connection)
    if strange and known is None:
        raise StoreError(
            f"store {target.where}: it has tables of something else ({min(strange)}); name a new database"
        )
    migrate(target)


def _hold(connection: Connection) -> None:
    """Keep everybody from writing until this has ended; SQLite's write transaction already does."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(f'"{name}"' for name in sorted(metadata.tables))
        connection.execute(text(f"LOCK TABLE {names} IN SHARE MODE"))


def _check_runs(source: Database, connection: Connection) -> None:
    count = connection.execute(select(func.count()).where(runs.c.ended_at.is_(None))).scalar_one()
    if count:
        raise StoreError(
            f"store {source.where}: {count} runs are open, and their plays would report to the old store; "
            f"`fleet-runner queue pause`, let serve close them, end it, and copy then; nothing was changed"
        )


def _carry(reading: Connection, writing: Connection, table: Table) -> Copied:
    count, total = 0, 0
    plain = _plain(table)
    for chunk in _chunks(reading, table):
        writing.execute(insert(plain), [dict(zip(plain.c.keys(), row, strict=True)) for row in chunk])
        count, total = count + len(chunk), total + sum(map(_hash, chunk))
    return Copied(table.name, count, total % 2**256)


def _chunks(connection: Connection, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    size = HEAVY.get(table.name, ROWS)
    rows: Iterable[Any] = connection.execute(_whole(table), execution_options={"yield_per": size})
    found = iter(rows)
    while chunk := [tuple(row) for row in islice(found, size)]:
        yield chunk


def _whole(table: Table) -> Select[Any]:
    """Return what reads a table in the order of its key: a flash comes after the one that it rolls back."""
    plain = _plain(table)
    return select(*plain.c).order_by(*(plain.c[column.name] for column in table.primary_key.columns))


def _plain(table: Table) -> Table:
    """Return a table whose JSON is the text that is stored: it is carried as it is."""
    texts = (Json, Words)
    columns = [Column(each.name, Text() if isinstance(each.type, texts) else each.type) for each in table.columns]
    return Table(table.name, MetaData(), *columns)


def _hash(row: tuple[Any, ...]) -> Digest:
    said = "\0".join(sha256(each).hexdigest() if isinstance(each, bytes) else repr(each) for each in row)
    return int.from_bytes(sha256(said.encode("utf-8", "surrogatepass")).digest())


def _rows(connection: Connection, table: Table) -> bool:
    return connection.execute(select(1).select_from(table).limit(1)).first() is not None


def _number_on(connection: Connection) -> None:
    """Have PostgreSQL number new rows after the old ones; SQLite does by itself."""
    if connection.dialect.name != "postgresql":
        return
    for table in metadata.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            sequence = text("SELECT pg_get_serial_sequence(:name, 'id')")
            named = connection.execute(sequence, {"name": f'"{table.name}"'}).scalar_one()
            newest = connection.execute(select(func.max(table.c.id))).scalar_one()
            if newest is not None:
                connection.execute(text("SELECT setval(:named, :newest)"), {"named": named, "newest": newest})
