"""Photos of tickets. The name of each is its hash, so one that is sent twice is kept once."""

from hashlib import sha256

from sqlalchemy import Connection, func, select

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.schema.remedies import ticket_photos
from fleet_runner.adapters.store.tickets import tickets
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.tickets.photos import ALL_BYTES, MOST, Photo

_TOLD = [each for each in ticket_photos.c if each.name != "body"]


def add(connection: Connection, ticket: int, content: bytes, by: str, now: float) -> tuple[Photo | None, list[Entry]]:
    """Keep a photo of a ticket that is locked; return it (None: there are too many), and what the histories say."""
    photo = Photo(ticket, sha256(content).hexdigest(), len(content), bounds.key(by), now)
    there = {each.digest: each for each in of_ticket(connection, ticket)}
    if photo.digest in there or len(there) >= MOST:
        return there.get(photo.digest), []
    if (connection.execute(select(func.sum(ticket_photos.c.size))).scalar_one() or 0) + photo.size > ALL_BYTES:
        raise StoreError(f"photos of tickets have {ALL_BYTES:,} bytes, which is as many as are kept; none is added")
    row = {"ticket": ticket, "digest": photo.digest, "size": photo.size, "by": photo.by, "at": now, "body": content}
    connection.execute(database.insert(connection, ticket_photos).values(row))
    said = f"A photo is on the ticket's page (SHA-256 {photo.digest})."
    return photo, tickets.note(connection, ticket, said, by, now) or []


def of_ticket(connection: Connection, ticket: int) -> tuple[Photo, ...]:
    """Return a ticket's photos, oldest first."""
    mine = select(*_TOLD).where(ticket_photos.c.ticket == ticket)
    ordered = mine.order_by(ticket_photos.c.at, ticket_photos.c.digest)
    return tuple(Photo(row.ticket, row.digest, row.size, row.by, row.at) for row in connection.execute(ordered))


def body(connection: Connection, ticket: int, digest: str) -> bytes | None:
    """Return a photo's bytes; None where there is none."""
    mine = (ticket_photos.c.ticket == ticket, ticket_photos.c.digest == digest)
    return connection.execute(select(ticket_photos.c.body).where(*mine)).scalar_one_or_none()
