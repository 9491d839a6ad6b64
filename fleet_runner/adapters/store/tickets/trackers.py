"""Trackers: who tells each one now, and until when it is left alone because of what went wrong."""

from sqlalchemy import Connection, or_, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.schema.remedies import trackers
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.tickets.trackers.links import TrackerStatus


def take(connection: Connection, name: str, holder: str, now: float, seconds: float) -> TrackerStatus | None:
    """Take or renew the right to tell a tracker; return how it stands, None while another process has that right."""
    blank = {"holder": "", "until": 0.0, "tries": 0, "due_at": 0.0, "detail": ""}
    connection.execute(database.insert(connection, trackers).values({"name": name} | blank).on_conflict_do_nothing())
    free = or_(trackers.c.holder == holder, trackers.c.until <= now)
    mine = update(trackers).where(trackers.c.name == name, free).values(holder=holder, until=now + seconds)
    return one(connection, name) if connection.execute(mine).rowcount == 1 else None


def hold(connection: Connection, name: str, holder: str, now: float, seconds: float) -> None:
    """Renew the right to tell a tracker; ConflictError if another process has taken it meanwhile."""
    mine = update(trackers).where(trackers.c.name == name, trackers.c.holder == holder)
    if connection.execute(mine.values(until=now + seconds)).rowcount != 1:
        raise ConflictError(f"tracker {name}: another process updates it now; this one is on standby")


def give_back(connection: Connection, name: str, holder: str) -> None:
    """Let another process tell a tracker at once."""
    mine = update(trackers).where(trackers.c.name == name, trackers.c.holder == holder)
    connection.execute(mine.values(holder="", until=0.0))


def one(connection: Connection, name: str) -> TrackerStatus:
    """Return how a tracker stands; one that was never told anything has nothing against it."""
    row = connection.execute(select(trackers).where(trackers.c.name == name)).one_or_none()
    return (
        TrackerStatus(name) if row is None else TrackerStatus(name, row.tries, row.due_at, row.detail, row.heard_at)
    )


def failed(connection: Connection, name: str, detail: str, due_at: float) -> None:
    """Leave a tracker alone for a while."""
    why = {"tries": trackers.c.tries + 1, "due_at": due_at, "detail": bounds.words(detail)}
    connection.execute(update(trackers).where(trackers.c.name == name).values(why))


def heard(connection: Connection, name: str, now: float) -> None:
    """Note that a tracker took something."""
    well = {"tries": 0, "due_at": 0.0, "detail": "", "heard_at": now}
    connection.execute(update(trackers).where(trackers.c.name == name).values(well))


def hurry(connection: Connection, name: str) -> None:
    """Have a tracker asked again at once."""
    connection.execute(update(trackers).where(trackers.c.name == name).values(due_at=0.0))
