"""Wishes about nodes: left by people at any time, answered by the reconciler exactly once."""

from sqlalchemy import Connection, bindparam, func, insert, select, update

from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.schema.core import intents
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import Answer
from fleet_runner.core.lifecycle.runs import Entry, Intent, IntentKind


def leave(connection: Connection, wish: Intent) -> int:
    """Store a wish and wake its node; return the wish's id."""
    if not nodes.existing(connection, [wish.node]):
        raise StoreError(f"node {wish.node}: no such node; `fleet-runner status` lists them, nothing was changed")
    row = {"node": wish.node, "wish": wish.wish.value, "by": wish.by, "at": wish.at}
    more = {"reason": wish.reason, "detail": wish.detail}
    number = int(connection.execute(insert(intents).values(row | more).returning(intents.c.id)).scalar_one())
    nodes.wake(connection, [wish.node])
    asked = sentence(wish.by, f"{wish.wish.value} {wish.detail}".strip(), wish.reason)
    history.add(connection, [Entry(0, wish.node, wish.at, "intent", asked, wish.by)])
    return number


_PENDING = (
    select(intents).where(intents.c.node == bindparam("node"), intents.c.answered_at.is_(None)).order_by(intents.c.id)
)


def pending(connection: Connection, node: str) -> tuple[Intent, ...]:
    """Return the wishes about a node that nobody has answered, oldest first."""
    return tuple(
        Intent(row.id, row.node, IntentKind(row.wish), row.by, row.at, row.reason, row.detail)
        for row in connection.execute(_PENDING, {"node": node}).all()
    )


def answer(connection: Connection, node: str, action: Answer, now: float) -> Entry:
    """Answer a wish; return what the history says about it."""
    mine = update(intents).where(intents.c.id == action.intent, intents.c.node == node)
    said = {"answered_at": now, "accepted": action.accepted, "answer": action.sentence}
    if connection.execute(mine.where(intents.c.answered_at.is_(None)).values(said)).rowcount != 1:
        raise ConflictError(
            f"node {node}: intent {action.intent} is not waiting for an answer; read the intents again, "
            f"nothing was changed"
        )
    return Entry(0, node, now, "intent", action.sentence, "runner")


def answered(connection: Connection, intent: int) -> tuple[bool, str] | None:
    """Return the answer to a wish, or None while there is none."""
    said = select(intents.c.accepted, intents.c.answer).where(
        intents.c.id == intent, intents.c.answered_at.is_not(None)
    )
    row = connection.execute(said).one_or_none()
    return (bool(row.accepted), str(row.answer)) if row is not None else None


def released_at(connection: Connection, node: str) -> float:
    """Return when a wish to release a node was last granted, or 0.0."""
    granted = (intents.c.node == node, intents.c.wish == IntentKind.RELEASE.value, intents.c.accepted.is_(True))
    return float(connection.execute(select(func.max(intents.c.answered_at)).where(*granted)).scalar_one() or 0.0)


def sentence(by: str, wish: str, reason: str) -> str:
    """Return what the history says of a wish as it is left."""
    return f"{by} asks: {wish}{f' ({reason})' if reason else ''}."
