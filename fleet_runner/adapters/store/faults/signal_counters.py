"""How much was heard of each source, and what became of it: a counter for each word."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.engine.database import insert
from fleet_runner.adapters.store.schema.remedies import heard


@dataclass(frozen=True, slots=True)
class SignalCount:
    """How often something became of what a source said, when last, and a detail of that time."""

    source: str
    what: str
    count: int
    last_at: float
    detail: str = ""


def every(connection: Connection) -> tuple[SignalCount, ...]:
    """Return every counter, by source and word."""
    rows = connection.execute(select(heard).order_by(heard.c.source, heard.c.what)).mappings()
    return tuple(SignalCount(**row) for row in rows)


def count(connection: Connection, counted: Mapping[tuple[str, str], SignalCount]) -> None:
    """Add to the counters."""
    if not counted:
        return
    rows = [
        {
            "source": source,
            "what": what,
            "count": each.count,
            "last_at": each.last_at,
            "detail": bounds.words(each.detail),
        }
        for (source, what), each in sorted(counted.items())
    ]
    fresh = insert(connection, heard)
    added = {
        "count": heard.c.count + fresh.excluded.count,
        "last_at": fresh.excluded.last_at,
        "detail": fresh.excluded.detail,
    }
    connection.execute(fresh.on_conflict_do_update(index_elements=["source", "what"], set_=added), rows)
