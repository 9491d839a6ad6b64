"""Who has logged in with a browser, by the SHA-256 of what it shows."""

from sqlalchemy import Connection, delete, insert, or_, select

from fleet_runner.adapters.store.remedy_schema import tokens
from fleet_runner.adapters.store.web_schema import sessions
from fleet_runner.core.access import Role, Session, Who


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
    asked = (
        select(sessions)
        .outerjoin(tokens, tokens.c.id == sessions.c.token)
        .where(sessions.c.digest == digest, sessions.c.until > now, tokens.c.revoked_at.is_(None))
        .where(or_(tokens.c.until.is_(None), tokens.c.until > now))
    )
    row = connection.execute(asked).first()
    if row is None:
        return None
    who = Who(row.name, Role(row.role), row.tenant)
    return Session(row.digest, who, row.made_at, row.until, row.token)


def end(connection: Connection, digest: str) -> None:
    """End one, if it is there."""
    connection.execute(delete(sessions).where(sessions.c.digest == digest))
