"""Tickets: one a fault; seen again instead of opened twice, and opened again when a closed one's fault returns."""

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


def see(connection: Connection, node: str, action: OpenTicket, now: float) -> list[Entry]:
    """See a fault: its open ticket once more, its closed one again, or in a new one; return what histories say."""
    told = {"title": action.title, "body": action.body, "remedy": action.remedy, "last_seen_at": now}
    number = _again(connection, action, told)
    if number is not None:
        _name(connection, number, action)
        return []
    closed = _closed(connection, action)
    if closed is not None and action.at <= closed.closed_at:
        return []  # whoever closed it looked later
    if closed is not None and _reopen(connection, closed.id, told):
        _name(connection, closed.id, action)
        return _say(connection, node, action, f"Ticket {closed.id} reopened: {action.title}", now)
    number, seen = _open(connection, action, told)
    _name(connection, number, action)
    return _say(connection, node, action, f"Ticket {number}: {action.title}", now) if seen == 1 else []


def close(connection: Connection, node: str, action: CloseTicket, now: float) -> list[Entry]:
    """Close a ticket; return what the histories say about it. One that is closed already stays as it is."""
    ticket = next(iter(_collect(connection, _with_nodes().where(tickets.c.id == action.ticket))), None)
    if ticket is None:
        raise ConflictError(f"node {node}: there is no ticket {action.ticket}; read the tickets again")
    mine = update(tickets).where(tickets.c.id == ticket.id, tickets.c.closed_at.is_(None))
    if connection.execute(mine.values(closed_at=now, closed_because=action.because)).rowcount != 1:
        return []
    return _say(connection, node, ticket, f"Ticket {ticket.id} closed: {action.because}", now)


def _again(connection: Connection, action: OpenTicket, told: dict[str, Any]) -> int | None:
    """Note on a fault's open ticket that it was seen again; return the ticket's number."""
    mine = update(tickets).where(tickets.c.fault == untrusted.key(action.fault), tickets.c.closed_at.is_(None))
    seen = mine.values(told | {"seen": tickets.c.seen + 1}).returning(tickets.c.id)
    return connection.execute(seen).scalar_one_or_none()


def _closed(connection: Connection, action: OpenTicket) -> Row[Any] | None:
    """Return a fault's newest ticket, which is closed."""
    newest = select(tickets).where(tickets.c.fault == untrusted.key(action.fault), tickets.c.closed_at.is_not(None))
    return connection.execute(newest.order_by(tickets.c.id.desc()).limit(1)).one_or_none()


def _reopen(connection: Connection, number: int, told: dict[str, Any]) -> bool:
    """Open a closed ticket again; False if somebody else did."""
    mine = update(tickets).where(tickets.c.id == number, tickets.c.closed_at.is_not(None))
    anew = {"seen": tickets.c.seen + 1, "closed_at": None, "closed_because": ""}
    return connection.execute(mine.values(told | anew)).rowcount == 1


def _open(connection: Connection, action: OpenTicket, told: dict[str, Any]) -> tuple[int, int]:
    """Open a ticket, or see the one that somebody opened meanwhile; return its number and how often it was seen."""
    row = {"fault": untrusted.key(action.fault), "check": untrusted.key(action.check), "closed_because": ""}
    fresh = database.insert(connection, tickets).values(row | told | {"opened_at": told["last_seen_at"], "seen": 1})
    again = fresh.on_conflict_do_update(
        index_elements=[tickets.c.fault],
        index_where=tickets.c.closed_at.is_(None),
        set_=told | {"seen": tickets.c.seen + 1},
    )
    ticket = connection.execute(again.returning(tickets.c.id, tickets.c.seen)).one()
    return ticket.id, ticket.seen


def _name(connection: Connection, number: int, action: OpenTicket) -> None:
    """Add the nodes that a ticket does not name yet."""
    names = [{"ticket": number, "node": name} for name in dict.fromkeys(map(untrusted.key, action.nodes))]
    if names:
        connection.execute(database.insert(connection, ticket_nodes).on_conflict_do_nothing(), names)


def _say(connection: Connection, node: str, about: OpenTicket | Ticket, sentence: str, now: float) -> list[Entry]:
    """Return a sentence for the history of everyone it is about."""
    told = nodes.existing(connection, {node, *about.nodes})
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
