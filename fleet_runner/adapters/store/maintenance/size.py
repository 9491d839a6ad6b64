"""How much of each kind the store holds, since when, and how fast it grows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, case, func, select, text

from fleet_runner.adapters.store.engine.columns import metadata
from fleet_runner.adapters.store.schema.core import (
    REVISION,
    boot_events,
    boots,
    evidence,
    journal,
    results,
    runs,
    tickets,
)
from fleet_runner.adapters.store.schema.firmware import flashes
from fleet_runner.adapters.store.schema.jobs import job_answers
from fleet_runner.adapters.store.schema.remedies import alarms, outbox, ticket_photos
from fleet_runner.adapters.store.schema.runners import parcels
from fleet_runner.adapters.store.schema.trends import episodes, foresights, panels, stays
from fleet_runner.adapters.store.schema.web import audit

DAY = 86_400.0


class Day(NamedTuple):
    """A column that counts days since the epoch."""

    column: Column[Any]


KINDS: dict[str, Column[Any] | Day] = {
    "results": results.c.at,
    "evidence": evidence.c.at,
    "history": journal.c.at,
    "runs": runs.c.opened_at,
    "tickets": tickets.c.opened_at,
    "news of tickets": outbox.c.at,
    "photos of tickets": ticket_photos.c.at,
    "alarms": alarms.c.first_at,
    "boots": boots.c.armed_at,
    "steps of boots": boot_events.c.at,
    "flashes": flashes.c.intended_at,
    "batches in the queue": parcels.c.offered_at,
    "lines of the audit log": audit.c.at,
    "days of metrics": Day(panels.c.day),
    "faults of parts": episodes.c.last_at,
    "parts in places": stays.c.last_at,
    "predictions": foresights.c.first_at,
    "answers about jobs": job_answers.c.at,
}
"""The moment of each kind's rows; their table is the column's. What is not here grows with the fleet alone."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows of a kind, their bytes with indexes (None where the database does not tell), the oldest and the newest."""

    name: str
    rows: int
    size: int | None
    oldest: float | None
    newest: float | None
    lately: int


@dataclass(frozen=True, slots=True)
class Weighed:
    """A store: its schema, where it is, its bytes on disk, how many of them are free for reuse, and its kinds."""

    schema: str
    where: str
    size: int
    free: int
    kinds: tuple[Kind, ...]


def weigh(connection: Connection, where: str, since: float) -> Weighed:
    """Read all of that; this walks every table once."""
    sizes = _sizes(connection)
    kinds = tuple(_kind(connection, name, column, sizes, since) for name, column in KINDS.items())
    size, free = on_disk(connection, where)
    return Weighed(REVISION, where, size, free, kinds)


def _kind(connection: Connection, name: str, moment: Column[Any] | Day, sizes: dict[str, int], since: float) -> Kind:
    table = moment.column.table if isinstance(moment, Day) else moment.table
    at = moment.column * DAY if isinstance(moment, Day) else moment
    lately = func.coalesce(func.sum(case((at >= since, 1), else_=0)), 0)
    row = connection.execute(select(func.count(), func.min(at), func.max(at), lately).select_from(table)).one()
    return Kind(name, row[0], sizes.get(str(table)), row[1], row[2], int(row[3]))


def _sizes(connection: Connection) -> dict[str, int]:
    """Return the bytes of each table with its indexes; of those that the database tells."""
    if connection.dialect.name == "postgresql":
        told = (
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relname = ANY(:names)"
        )
        return {row[0]: int(row[1]) for row in connection.execute(text(told), {"names": list(metadata.tables)})}
    tells = connection.execute(text("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'")).first()
    if tells is None:
        return {}
    told = "SELECT m.tbl_name, sum(d.pgsize) FROM dbstat d JOIN sqlite_master m ON m.name = d.name"
    return {row[0]: int(row[1]) for row in connection.execute(text(f"{told} WHERE d.aggregate = 1 GROUP BY 1"))}


def on_disk(connection: Connection, where: str) -> tuple[int, int]:
    """Return how many bytes a store has on disk, and how many of them are free for reuse."""
    if connection.dialect.name == "postgresql":
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()), 0
    files = [Path(where + ending) for ending in ("", "-wal", "-shm")]
    free, page = (connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("freelist_count", "page_size"))
    return sum(file.stat().st_size for file in files if file.exists()), int(free) * int(page)
