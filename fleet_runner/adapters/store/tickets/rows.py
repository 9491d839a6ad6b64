"""Rows of tickets as values; without SQLAlchemy, which the store's reader does not load."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from fleet_runner.core.lifecycle.runs import Ticket


def tickets(found: Iterable[Any]) -> tuple[Ticket, ...]:
    """Return rows of tickets, one for each node that a ticket names, as values, by number."""
    rows = sorted(found, key=lambda row: (row.id, row.node or ""))
    return tuple(_ticket(list(group)) for _, group in groupby(rows, key=lambda row: row.id))


def _ticket(rows: list[Any]) -> Ticket:
    row = rows[0]
    return Ticket(
        id=row.id,
        fault=row.fault,
        check=row.check,
        title=row.title,
        body=row.body,
        nodes=tuple(named.node for named in rows if named.node is not None),
        remedy=row.remedy,
        opened_at=row.opened_at,
        seen=row.seen,
        last_seen_at=row.last_seen_at,
        closed_at=row.closed_at,
        closed_because=row.closed_because,
    )
