"""Tokens of those who push signals: who they are and what they may, by the SHA-256 of each."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, insert, or_, select, update

from fleet_runner.adapters.store.schema.remedies import tokens
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.signals.tokens import INGEST, Token


def every(connection: Connection) -> tuple[Token, ...]:
    """Return all of them, oldest first; also those that are good for nothing any more."""
    return tuple(_token(row) for row in connection.execute(select(tokens).order_by(tokens.c.id)).all())


def add(connection: Connection, token: Token) -> int:
    """Add one; return its id. ConflictError where one that is not revoked has its name already."""
    same = select(tokens.c.scope).where(tokens.c.name == token.name, tokens.c.revoked_at.is_(None))
    if (scope := connection.execute(same.limit(1)).scalar()) is not None:
        kind = "signals" if scope == INGEST else "web"
        raise ConflictError(
            f"token {token.name}: there is one already; `fleet-runner {kind} token revoke {token.name}` ends it"
        )
    return _added(connection, token)


def rotate(connection: Connection, token: Token, until: float) -> int:
    """Add one in the place of those of its name, which are good until then at most; return its id.

    ConflictError where none of its name is good now: whoever ended it has ended it for good.
    """
    good = or_(tokens.c.until.is_(None), tokens.c.until > token.made_at)
    mine = update(tokens).where(tokens.c.name == token.name, tokens.c.revoked_at.is_(None), good)
    shorter = case((tokens.c.until < until, tokens.c.until), else_=until)
    if not connection.execute(mine.values(until=shorter)).rowcount:
        raise ConflictError(f"token {token.name}: none of that name is valid; create a new one")
    return _added(connection, token)


def revoke(connection: Connection, name: str, now: float) -> bool:
    """End the tokens of a name; False where none is to be ended."""
    mine = update(tokens).where(tokens.c.name == name, tokens.c.revoked_at.is_(None))
    return connection.execute(mine.values(revoked_at=now)).rowcount > 0


def used(connection: Connection, at: Mapping[int, float]) -> None:
    """Keep when tokens were last used, by id."""
    if at:
        rows = [{"_id": token, "_at": moment} for token, moment in sorted(at.items())]
        mine = update(tokens).where(tokens.c.id == bindparam("_id"))
        connection.execute(mine.values(used_at=bindparam("_at")), rows)


def _added(connection: Connection, token: Token) -> int:
    row = {
        "name": token.name,
        "scope": token.scope,
        "sources": [source.value for source in token.sources],
        "nodes": list(token.nodes),
        "tenant": token.tenant,
        "digest": token.digest,
        "made_at": token.made_at,
        "by": token.by,
        "until": token.until,
    }
    return int(connection.execute(insert(tokens).values(row).returning(tokens.c.id)).scalar_one())


def _token(row: Row[Any]) -> Token:
    return Token(
        name=row.name,
        digest=row.digest,
        made_at=row.made_at,
        by=row.by,
        scope=row.scope,
        sources=tuple(Source(each) for each in row.sources),
        nodes=tuple(row.nodes),
        tenant=row.tenant,
        until=row.until,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
        id=row.id,
    )
