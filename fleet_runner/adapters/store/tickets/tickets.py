"""Tickets: one a fault; seen again instead of opened twice, and opened again when a closed one's fault returns."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Row, Select, bindparam, or_, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.engine.columns import Words
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.adapters.store.results.results import in_chunks
from fleet_runner.adapters.store.schema.core import ticket_nodes, tickets
from fleet_runner.adapters.store.tickets import outbox, rows
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.runs import Entry, Ticket
from fleet_runner.core.tickets.trackers.changes import Act


def found(connection: Connection, node: str | None, *, open_only: bool) -> tuple[Ticket, ...]:
    """Return tickets, oldest first; all of them or those that name a node."""
    if node is not None and open_only:
        return _collect(connection, _OPEN_OF, {"node": node})
    return _collect(connection, query(node, open_only=open_only))


def query(node: str | BindParameter[str] | None, *, open_only: bool) -> Select[Any]:
    """Return the query behind `found`: it reads the open tickets, or those of the node."""
    wanted = _with_nodes()
    if node is not None:
        wanted = wanted.where(tickets.c.id.in_(select(ticket_nodes.c.ticket).where(ticket_nodes.c.node == node)))
    if open_only:
        wanted = wanted.where(tickets.c.closed_at.is_(None))
    return wanted


def of_nodes(connection: Connection, names: Iterable[str], since: float) -> tuple[Ticket, ...]:
    """Return the tickets that name any of some nodes and are open, or were closed since a moment, oldest first."""
    named = {row.ticket for row in in_chunks(connection, select(ticket_nodes), ticket_nodes.c.node, names)}
    late = or_(tickets.c.closed_at.is_(None), tickets.c.closed_at >= since)
    return rows.tickets(in_chunks(connection, _with_nodes().where(late), tickets.c.id, named))


def seen_since(connection: Connection, since: float) -> tuple[Ticket, ...]:
    """Return the tickets whose fault was seen since a moment, open or closed, oldest first."""
    return _collect(connection, _with_nodes().where(tickets.c.last_seen_at >= since))


def one(connection: Connection, number: int) -> Ticket | None:
    """Return a ticket, or None."""
    return next(iter(_collect(connection, _with_nodes().where(tickets.c.id == number))), None)


def see(connection: Connection, node: str, action: OpenTicket, now: float) -> list[Entry]:
    """See a fault: its open ticket once more, its closed one again, or in a new one; return what histories say."""
    told = {"title": action.title, "body": action.body, "remedy": action.remedy, "last_seen_at": now}
    before = _standing(connection, action)
    if before is not None:
        connection.execute(update(tickets).where(tickets.c.id == before.id).values(told | {"seen": before.seen + 1}))
        _name(connection, before.id, action)
        outbox.follow(connection, before, action, now)
        return []
    closed = _closed(connection, action)
    if closed is not None and action.at <= closed.closed_at:
        return []  # whoever closed it looked later
    if closed is not None and _reopen(connection, closed.id, told):
        _name(connection, closed.id, action)
        outbox.add(connection, closed.id, Act.REOPENED, action.title, now=now)
        return _say(connection, node, action, f"Ticket {closed.id} reopened: {action.title}", now)
    number, seen = _open(connection, action, told)
    _name(connection, number, action)
    if seen > 1:
        return []
    outbox.add(connection, number, Act.OPENED, action.title, now=now)
    return _say(connection, node, action, f"Ticket {number}: {action.title}", now)


def close(connection: Connection, node: str, action: CloseTicket, now: float) -> list[Entry]:
    """Close a ticket; return what the histories say about it. One that is closed already stays as it is."""
    ticket = one(connection, action.ticket)
    if ticket is None:
        raise ConflictError(f"node {node}: there is no ticket {action.ticket}; read the tickets again")
    if not _end(connection, ticket.id, action.because, now):
        return []
    outbox.add(connection, ticket.id, Act.CLOSED, action.because, now=now)
    return _say(connection, node, ticket, f"Ticket {ticket.id} closed: {action.because}", now)


def close_by_hand(connection: Connection, number: int, reason: str, by: str, now: float) -> list[Entry] | None:
    """Close an open ticket on a person's word; None where there is no such ticket, or it is closed."""
    ticket = one(connection, number)
    if ticket is None or not _end(connection, number, f"by hand, by {by}: {reason}", now):
        return None
    outbox.add(connection, number, Act.CLOSED, f"by hand, by {by}: {reason}", by=by, now=now)
    return _say_by_hand(connection, ticket, f"Ticket {number} closed by hand: {reason}", by, now)


def note(  # noqa: PLR0913  a line has this many parts
    connection: Connection, number: int, words: str, by: str, now: float, *, key: str = ""
) -> list[Entry] | None:
    """Add a person's words to a ticket; None where there is no such ticket, or the report is written already."""
    ticket = one(connection, number) if lock(connection, number) else None
    if ticket is None or outbox.has(connection, key):
        return None
    outbox.add(connection, number, Act.NOTED, words, by=by, now=now, key=key)
    return _say_by_hand(connection, ticket, f"Ticket {number}, a note: {words}", by, now)


def lock(connection: Connection, number: int) -> bool:
    """Have nobody else change a ticket before this transaction ends; False where there is none."""
    mine = select(tickets.c.id).where(tickets.c.id == number).with_for_update()
    return connection.execute(mine).first() is not None


def _standing(connection: Connection, action: OpenTicket) -> Ticket | None:
    """Return a fault's open ticket, which nobody else changes before this transaction ends."""
    mine = (tickets.c.fault == bounds.key(action.fault), tickets.c.closed_at.is_(None))
    number = connection.execute(select(tickets.c.id).where(*mine).with_for_update()).scalar_one_or_none()
    return one(connection, number) if number is not None else None


def _end(connection: Connection, number: int, because: str, now: float) -> bool:
    """Close a ticket; False if it is closed."""
    mine = update(tickets).where(tickets.c.id == number, tickets.c.closed_at.is_(None))
    return connection.execute(mine.values(closed_at=now, closed_because=because)).rowcount == 1


def _closed(connection: Connection, action: OpenTicket) -> Row[Any] | None:
    """Return a fault's newest ticket, which is closed."""
    newest = select(tickets).where(tickets.c.fault == bounds.key(action.fault), tickets.c.closed_at.is_not(None))
    return connection.execute(newest.order_by(tickets.c.id.desc()).limit(1)).one_or_none()


def _reopen(connection: Connection, number: int, told: dict[str, Any]) -> bool:
    """Open a closed ticket again; False if somebody else did."""
    mine = update(tickets).where(tickets.c.id == number, tickets.c.closed_at.is_not(None))
    anew = {"seen": tickets.c.seen + 1, "closed_at": None, "closed_because": ""}
    return connection.execute(mine.values(told | anew)).rowcount == 1


def _open(connection: Connection, action: OpenTicket, told: dict[str, Any]) -> tuple[int, int]:
    """Open a ticket, or see the one that somebody opened meanwhile; return its number and how often it was seen."""
    row = {"fault": bounds.key(action.fault), "check": bounds.key(action.check), "closed_because": ""}
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
    names = [{"ticket": number, "node": name} for name in dict.fromkeys(map(bounds.key, action.nodes))]
    if names:
        connection.execute(database.insert(connection, ticket_nodes).on_conflict_do_nothing(), names)


def _say(connection: Connection, node: str, about: OpenTicket | Ticket, sentence: str, now: float) -> list[Entry]:
    """Return a sentence for the history of everyone it is about."""
    told = nodes.existing(connection, {node, *about.nodes})
    return [Entry(0, name, now, "ticket", sentence, "runner") for name in sorted(told)]


def _say_by_hand(connection: Connection, about: Ticket, sentence: str, by: str, now: float) -> list[Entry]:
    """Return what a person did to a ticket, for the history of everyone it is about."""
    told = nodes.existing(connection, about.nodes)
    return [Entry(0, name, now, "ticket", sentence, by) for name in sorted(told)]


def _with_nodes() -> Select[Any]:
    columns: list[ColumnElement[Any]] = [*tickets.c, ticket_nodes.c.node]
    both = ticket_nodes.c.ticket == tickets.c.id
    return select(*columns).join_from(
        tickets, ticket_nodes, both, isouter=True
    )  # unordered: SQLite would walk every closed ticket for the order


_OPEN_OF = query(bindparam("node", type_=Words), open_only=True)


def _collect(
    connection: Connection, wanted: Select[Any], given: Mapping[str, str] | None = None
) -> tuple[Ticket, ...]:
    return rows.tickets(connection.execute(wanted, given).all())
