"""Requests about nodes: left by people at any time, answered by the reconciler exactly once."""

from sqlalchemy import Connection, bindparam, func, insert, select, update

from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.schema.core import intents
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import Answer
from fleet_runner.core.lifecycle.runs import Entry, Intent, IntentKind


def leave(connection: Connection, intent: Intent) -> int:
    """Store a request and wake its node; return the request's id."""
    if not nodes.existing(connection, [intent.node]):
        raise StoreError(f"node {intent.node}: no such node; `fleet-runner status` lists them, nothing was changed")
    row = {"node": intent.node, "kind": intent.kind.value, "by": intent.by, "at": intent.at}
    more = {"reason": intent.reason, "detail": intent.detail}
    number = int(connection.execute(insert(intents).values(row | more).returning(intents.c.id)).scalar_one())
    nodes.wake(connection, [intent.node])
    asked = sentence(intent.by, f"{intent.kind.value} {intent.detail}".strip(), intent.reason)
    history.add(connection, [Entry(0, intent.node, intent.at, "intent", asked, intent.by)])
    return number


_PENDING = (
    select(intents).where(intents.c.node == bindparam("node"), intents.c.answered_at.is_(None)).order_by(intents.c.id)
)


def pending(connection: Connection, node: str) -> tuple[Intent, ...]:
    """Return the requests about a node that nobody has answered, oldest first."""
    return tuple(
        Intent(row.id, row.node, IntentKind(row.kind), row.by, row.at, row.reason, row.detail)
        for row in connection.execute(_PENDING, {"node": node}).all()
    )


def answer(connection: Connection, node: str, action: Answer, now: float) -> Entry:
    """Answer a request; return what the history says about it."""
    mine = update(intents).where(intents.c.id == action.intent, intents.c.node == node)
    said = {"answered_at": now, "accepted": action.accepted, "answer": action.sentence}
    if connection.execute(mine.where(intents.c.answered_at.is_(None)).values(said)).rowcount != 1:
        raise ConflictError(
            f"node {node}: intent {action.intent} is not waiting for an answer; read the intents again, "
            f"nothing was changed"
        )
    return Entry(0, node, now, "intent", action.sentence, "runner")


def answered(connection: Connection, intent: int) -> tuple[bool, str] | None:
    """Return the answer to a request, or None while there is none."""
    said = select(intents.c.accepted, intents.c.answer).where(
        intents.c.id == intent, intents.c.answered_at.is_not(None)
    )
    row = connection.execute(said).one_or_none()
    return (bool(row.accepted), str(row.answer)) if row is not None else None


def released_at(connection: Connection, node: str) -> float:
    """Return when a request to release a node was last granted, or 0.0."""
    granted = (intents.c.node == node, intents.c.kind == IntentKind.RELEASE.value, intents.c.accepted.is_(True))
    return float(connection.execute(select(func.max(intents.c.answered_at)).where(*granted)).scalar_one() or 0.0)


def sentence(by: str, intent: str, reason: str) -> str:
    """Return what the history says of a request as it is left."""
    return f"{by} asks: {intent}{f' ({reason})' if reason else ''}."
