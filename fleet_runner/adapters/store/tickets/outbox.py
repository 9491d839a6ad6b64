"""The outbox: what happened to tickets, written with it, and how far each tracker has been told.

A line is written once, whoever is told. A ticket's links to trackers are marked as waiting in the same transaction;
an open ticket that a tracker has no link of waits for it, too, so one that is named later gets every open ticket.
"""

from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, TextClause, func, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.schema.core import tickets
from fleet_runner.adapters.store.schema.remedies import WAITING, outbox, ticket_links
from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.trackers.changes import Act, Change, LatestLines, worth
from fleet_runner.core.tickets.trackers.links import Link

RUNNER = "runner"


def add(  # noqa: PLR0913  a line has this many parts
    connection: Connection, ticket: int, act: Act, sentence: str, *, by: str = RUNNER, now: float, key: str = ""
) -> None:
    """Write a line, and have every tracker told that knows the ticket. `key` is that of a report, and no other's.

    The caller has changed or locked the ticket's row, so lines of one ticket follow each other.
    """
    row = {"ticket": ticket, "act": act.value, "sentence": bounds.words(sentence), "by": bounds.key(by)}
    connection.execute(database.insert(connection, outbox).values(row | {"at": now, "key": key or None}))
    connection.execute(update(ticket_links).where(ticket_links.c.ticket == ticket).values(waits=True))


def has(connection: Connection, key: str) -> bool:
    """Whether a report has been written."""
    return bool(key) and connection.execute(select(outbox.c.id).where(outbox.c.key == key)).first() is not None


def follow(connection: Connection, before: Ticket, action: OpenTicket, now: float) -> None:
    """Write the line that a further sighting of an open ticket is worth, if it is worth one."""
    found = replace(action, nodes=tuple(map(bounds.key, action.nodes)))
    told = worth(before, found, _lately(connection, before), now)
    if told is not None:
        add(connection, before.id, *told, now=now)


def changes(connection: Connection, ticket: int, after: int = 0) -> tuple[Change, ...]:
    """Return the lines of a ticket after one of them, oldest first."""
    mine = select(outbox).where(outbox.c.ticket == ticket, outbox.c.id > after).order_by(outbox.c.id)
    return tuple(
        Change(row.id, row.ticket, Act(row.act), row.sentence, row.by, row.at) for row in connection.execute(mine)
    )


def link(connection: Connection, ticket: int, tracker: str) -> Link | None:
    """Return how a ticket stands with a tracker; None where nothing was told yet."""
    mine = (ticket_links.c.ticket == ticket, ticket_links.c.tracker == tracker)
    row = connection.execute(select(ticket_links).where(*mine).with_for_update()).one_or_none()
    return _link(row) if row is not None else None


def links(connection: Connection, *where: ColumnElement[bool] | TextClause) -> tuple[Link, ...]:
    """Return links by ticket and tracker: all, or those that are asked for."""
    found = select(ticket_links).where(*where).order_by(ticket_links.c.ticket, ticket_links.c.tracker)
    return tuple(map(_link, connection.execute(found)))


def of_ticket(connection: Connection, ticket: int) -> tuple[Link, ...]:
    """Return where a ticket lives elsewhere."""
    return links(connection, ticket_links.c.ticket == ticket)


def waiting(connection: Connection, tracker: str) -> tuple[Link, ...]:
    """Return what a tracker has yet to be told of, oldest ticket first: also of tickets that it never heard of."""
    known = links(connection, ticket_links.c.tracker == tracker, WAITING)
    mine = (ticket_links.c.ticket == tickets.c.id) & (ticket_links.c.tracker == tracker)
    unknown = select(tickets.c.id).select_from(tickets.outerjoin(ticket_links, mine))
    unknown = unknown.where(tickets.c.closed_at.is_(None), ticket_links.c.ticket.is_(None))
    fresh = (Link(number, tracker) for number in connection.execute(unknown).scalars())
    return tuple(sorted((*known, *fresh), key=lambda each: each.ticket))


def begin(connection: Connection, ticket: int, tracker: str, *, asks: bool, now: float) -> Link:
    """Write down that a tracker is about to be told, or asked for an issue; return the link as it is then."""
    found = link(connection, ticket, tracker) or Link(ticket, tracker)
    begun = replace(found, tries=found.tries + 1, asked_at=now if asks else found.asked_at)
    _write(connection, begun)
    return begun


def join(connection: Connection, joined: Link, remote: str, url: str) -> Link:
    """Write down which issue is a ticket's."""
    found = link(connection, joined.ticket, joined.tracker) or joined
    known = replace(found, remote=bounds.key(remote), url=bounds.key(url))
    _write(connection, known)
    return known


def settle(connection: Connection, told: Link, line: int, digest: str) -> Link:
    """Write down what a tracker knows of a ticket now; it waits again if more has happened meanwhile."""
    found = link(connection, told.ticket, told.tracker) or told  # locked before the newest line is read
    newest = connection.execute(select(func.max(outbox.c.id)).where(outbox.c.ticket == told.ticket)).scalar_one()
    waits = newest is not None and newest > line
    known = replace(found, told=line, digest=digest, waits=waits, tries=0, due_at=0.0, detail="")
    _write(connection, known)
    return known


def wait(connection: Connection, waits: Link, detail: str, due_at: float) -> None:
    """Write down why a ticket is not told yet, and when the tracker is asked again."""
    found = link(connection, waits.ticket, waits.tracker) or waits
    why = bounds.words(detail)
    _write(connection, replace(found, detail=why, due_at=due_at, waits=True, tries=max(found.tries, waits.tries + 1)))


def hurry(connection: Connection, tracker: str, tickets_only: tuple[int, ...] = ()) -> None:
    """Have a tracker told at once of what waits, all or of some tickets."""
    mine = update(ticket_links).where(ticket_links.c.tracker == tracker, WAITING)
    if tickets_only:
        mine = mine.where(ticket_links.c.ticket.in_(tickets_only))
    connection.execute(mine.values(due_at=0.0))


def forget(connection: Connection, ticket: int, tracker: str) -> bool:
    """Forget the issue of a ticket, so that another one is opened; False where none is known."""
    found = link(connection, ticket, tracker)
    if found is None or not found.remote:
        return False
    _write(connection, Link(ticket, tracker, serial=found.serial + 1))
    return True


def _lately(connection: Connection, ticket: Ticket) -> LatestLines:
    """Return when a ticket's newest lines were written; one without any is from before there was an outbox."""
    mine = select(func.max(outbox.c.at)).where(outbox.c.ticket == ticket.id)
    at = connection.execute(mine).scalar_one()
    changed_at = connection.execute(mine.where(outbox.c.act == Act.CHANGED.value)).scalar_one()
    return LatestLines(at if at is not None else ticket.opened_at, changed_at if changed_at is not None else 0.0)


def _write(connection: Connection, told: Link) -> None:
    row = asdict(told)
    fresh = database.insert(connection, ticket_links).values(row)
    changed = {name: value for name, value in row.items() if name not in {"ticket", "tracker"}}
    connection.execute(fresh.on_conflict_do_update(index_elements=["ticket", "tracker"], set_=changed))


def _link(row: Row[Any]) -> Link:
    return Link(**row._mapping)  # noqa: SLF001  SQLAlchemy's documented way to a row's columns by name
