"""Who has logged in with a browser, by the SHA-256 of what it shows."""

from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, or_, select

from fleet_runner.adapters.store.schema.remedies import tokens
from fleet_runner.adapters.store.schema.web import sessions
from fleet_runner.core.access.roles import Role, Session, Who


def begin(connection: Connection, session: Session) -> None:
    """Keep one; those that are over by then are removed."""
    connection.execute(delete(sessions).where(sessions.c.until <= session.made_at))
    who = session.who
    row = {
        "digest": session.digest,
        "name": who.name,
        "role": who.role.value,
        "tenant": who.tenant,
        "token": session.token,
        "made_at": session.made_at,
        "until": session.until,
    }
    connection.execute(insert(sessions).values(row))


def found(connection: Connection, digest: str, now: float) -> Session | None:
    """Return one that is good now; None also where the token it was opened with has ended since."""
    row = connection.execute(_good(now).where(sessions.c.digest == digest)).first()
    return None if row is None else _session(row)


def every(connection: Connection, now: float) -> tuple[Session, ...]:
    """Return all that are good now, the oldest first."""
    return tuple(_session(row) for row in connection.execute(_good(now).order_by(sessions.c.made_at)).all())


def end(connection: Connection, digest: str) -> None:
    """End one, if it is there."""
    connection.execute(delete(sessions).where(sessions.c.digest == digest))


def end_of(connection: Connection, name: str) -> int:
    """End all of a name; return how many."""
    return connection.execute(delete(sessions).where(sessions.c.name == name)).rowcount


def _good(now: float) -> Select[Any]:
    """Return what asks for those that are good now: a session ends with the token that it was begun with."""
    return (
        select(sessions)
        .outerjoin(tokens, tokens.c.id == sessions.c.token)
        .where(sessions.c.until > now, tokens.c.revoked_at.is_(None))
        .where(or_(tokens.c.until.is_(None), tokens.c.until > now))
    )


def _session(row: Row[Any]) -> Session:
    who = Who(row.name, Role(row.role), row.tenant)
    return Session(row.digest, who, row.made_at, row.until, row.token)
