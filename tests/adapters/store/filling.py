"""Rows for every table of a database as it is, whatever its schema: two of each, that refer to each other."""

from typing import Any

from sqlalchemy import Column, Connection, MetaData, Table, inspect, text
from sqlalchemy.types import Boolean, Double, Integer, LargeBinary, TypeEngine

LISTS = frozenset({
    "asked", "attributes", "before", "codes", "evidence", "expected", "faults", "findings", "host_keys", "macs",
    "nodes", "observed", "parts", "places", "results", "runs", "sources", "targets", "tasks_before",
})  # fmt: skip
"""Columns that hold JSON."""

COUNT = 2

Rows = dict[str, list[dict[str, Any]]]


def tables(connection: Connection) -> list[Table]:
    """Return the tables as the database has them, but Alembic's own and the engine's."""
    found = MetaData()
    found.reflect(connection, only=lambda name, _: is_ours(name))
    return list(found.sorted_tables)


def is_ours(name: str | None, *_: object) -> bool:
    """Whether a table is one of the store's."""
    return name != "alembic_version" and not str(name).startswith("procrastinate_")


def fill(connection: Connection) -> Rows:
    """Put rows into every table; return what is in them then."""
    found = tables(connection)  # which takes longer than to fill them
    for table in found:
        for number in range(1, COUNT + 1):
            row = {column.name: _value(table, column, number) for column in table.columns}
            connection.execute(table.insert().values(row))
    return _rows(connection, found)


def rows(connection: Connection) -> Rows:
    """Return every row of every table, in the order of their keys."""
    return _rows(connection, tables(connection))


def _rows(connection: Connection, known: list[Table]) -> Rows:
    found: Rows = {}
    for table in known:
        ordered = table.select().order_by(*table.primary_key.columns)
        found[table.name] = [dict(row) for row in connection.execute(ordered).mappings()]
    return found


def empty(connection: Connection) -> None:
    """Take every table away."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
        return
    for name in inspect(connection).get_table_names():
        connection.exec_driver_sql(f'DROP TABLE "{name}"')


def _value(table: Table, column: Column[Any], number: int) -> Any:
    for key in column.foreign_keys:
        if key.column.table is table:
            return None if number == 1 else number - 1
        return _value(key.column.table, key.column, number)
    plain: dict[type[TypeEngine[Any]], Any] = {
        Boolean: number == 1,
        Double: 1_740_000_000.123456789 + number,
        Integer: number,
    }
    plain[LargeBinary] = bytes(range(256)) * number
    text = f"{table.name}.{column.name} été \N{SNOWMAN} {number}"
    otherwise = '["\\u00e9",1.5,null]' if column.name in LISTS else text
    return next((value for kind, value in plain.items() if isinstance(column.type, kind)), otherwise)
