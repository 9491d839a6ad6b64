"""Tickets: at most one open per fault, seen again instead of opened twice."""

from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, select, update

from fleet_runner.adapters.store import database, nodes, untrusted
from fleet_runner.adapters.store.schema import ticket_nodes, tickets
from fleet_runner.core.actions import CloseTicket, OpenTicket
from fleet_runner.core.errors import ConflictError
from fleet_runner.core.runs import Entry, Ticket


def found(connection: Connection, node: str | None, *, open_only: bool) -> tuple[Ticket, ...]:
    """Return tickets, oldest first; all of them or those that name a node."""
    return _collect(connection, query(node, open_only=open_only))


def query(node: str | None, *, open_only: bool) -> Select[Any]:
    """Return the query behind `found`: it reads the open tickets, or those of the node."""
    wanted = _with_nodes()
    if node is not None:
        wanted = wanted.where(tickets.c.id.in_(select(ticket_nodes.c.ticket).where(ticket_nodes.c.node == node)))
    if open_only:
        wanted = wanted.where(tickets.c.closed_at.is_(None))
    return wanted


def one(connection: Connection, ticket: int) -> Ticket | None:
    """Return a ticket."""
    return next(iter(_collect(connection, _with_nodes().where(tickets.c.id == ticket))), None)


def see(connection: Connection, node: str, action: OpenTicket, now: float) -> list[Entry]:
    """Open a ticket, or see its fault once more; return what the histories say about it."""
    row = {
        "fault": untrusted.key(action.fault),
        "check": untrusted.key(action.check),
        "title": action.title,
        "body": action.body,
        "remedy": action.remedy,
        "opened_at": now,
        "seen": 1,
        "last_seen_at": now,
        "closed_because": "",
    }
    fresh = database.insert(connection, tickets).values(row)
    again = fresh.on_conflict_do_update(
        index_elements=[tickets.c.fault],
        index_where=tickets.c.closed_at.is_(None),
        set_={"seen": tickets.c.seen + 1, "last_seen_at": now, "body": fresh.excluded.body},
    )
    ticket = connection.execute(again.returning(tickets.c.id, tickets.c.seen)).one()
    names = [{"ticket": ticket.id, "node": untrusted.key(name)} for name in action.nodes]
    if names:
        connection.execute(database.insert(connection, ticket_nodes).on_conflict_do_nothing(), names)
    if ticket.seen > 1:
        return []
    told = nodes.existing(connection, {node, *action.nodes})
    return [Entry(0, name, now, "ticket", f"Ticket {ticket.id}: {action.title}", "runner") for name in sorted(told)]


def close(connection: Connection, node: str, action: CloseTicket, now: float) -> list[Entry]:
    """Close a ticket; return what the histories say about it. One that is closed already stays as it is."""
    ticket = one(connection, action.ticket)
    if ticket is None:
        raise ConflictError(f"node {node}: there is no ticket {action.ticket}; read the tickets again")
    mine = update(tickets).where(tickets.c.id == ticket.id, tickets.c.closed_at.is_(None))
    if connection.execute(mine.values(closed_at=now, closed_because=action.because)).rowcount != 1:
        return []
    told = nodes.existing(connection, {node, *ticket.nodes})
    sentence = f"Ticket {ticket.id} closed: {action.because}"
    return [Entry(0, name, now, "ticket", sentence, "runner") for name in sorted(told)]


def _with_nodes() -> Select[Any]:
    columns: list[ColumnElement[Any]] = [*tickets.c, ticket_nodes.c.node]
    both = ticket_nodes.c.ticket == tickets.c.id
    return select(*columns).join_from(
        tickets, ticket_nodes, both, isouter=True
    )  # unordered: SQLite would walk every closed ticket for the order


def _collect(connection: Connection, wanted: Select[Any]) -> tuple[Ticket, ...]:
    rows = sorted(connection.execute(wanted).all(), key=lambda row: (row.id, row.node or ""))
    return tuple(_ticket(list(group)) for _, group in groupby(rows, key=lambda row: row.id))


def _ticket(rows: list[Row[Any]]) -> Ticket:
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
