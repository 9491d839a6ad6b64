"""Attempts: which remedies were carried out on a node, and what came of each; one goes on at most."""

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from fleet_runner.adapters.store.faults import rows
from fleet_runner.adapters.store.schema.remedies import GOING_ON, attempts
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.lifecycle.actions import BeginAttempt, EndAttempt
from fleet_runner.core.lifecycle.runs import RUNNER, Entry, Node
from fleet_runner.core.lifecycle.states import SERVING

_REMEMBERED = (
    select(attempts)
    .where(attempts.c.node == bindparam("node"), or_(attempts.c.at >= bindparam("since"), GOING_ON))
    .order_by(attempts.c.at, attempts.c.id)
)


def of_node(connection: Connection, node: str, since: float) -> tuple[Attempt, ...]:
    """Return a node's attempts that were begun since a moment, and one that goes on, oldest first."""
    return tuple(map(rows.attempt, connection.execute(_REMEMBERED, {"node": node, "since": since}).all()))


def begin(connection: Connection, node: Node, action: BeginAttempt, now: float) -> None:
    """Write down that a remedy is carried out; ConflictError where another goes on.

    One that was left open is over once its node serves: what came of it is not known, and it stops nothing.
    """
    mine = (attempts.c.node == node.name, GOING_ON)
    if node.state in SERVING:
        left = {"ended_at": now, "because": "the node served again before anybody wrote down what came of it."}
        connection.execute(update(attempts).where(*mine).values(left))
    if (other := connection.execute(select(attempts.c.id).where(*mine)).scalar_one_or_none()) is not None:
        raise ConflictError(f"node {node.name}: attempt {other} is not over; nothing was changed; decide again")
    row = {"node": node.name, "remedy": action.remedy.value, "faults": list(action.faults), "by": action.by}
    connection.execute(insert(attempts).values(row | {"at": now, "because": ""}))


def end(connection: Connection, node: str, action: EndAttempt, now: float) -> list[Entry]:
    """Write down what came of an attempt; return what the history says of one of which it is known better now."""
    mine = select(attempts).where(attempts.c.id == action.attempt, attempts.c.node == node)
    row = connection.execute(mine).one_or_none()
    if row is None:
        raise ConflictError(f"node {node}: it has no attempt {action.attempt}; nothing was changed; decide again")
    ended = now if row.ended_at is None else row.ended_at
    told = {"ended_at": ended, "helped": action.helped, "because": action.because}
    connection.execute(update(attempts).where(attempts.c.id == action.attempt).values(told))
    if row.ended_at is None:  # the move that ended it says so
        return []
    return [Entry(0, node, now, "attempt", f"{row.remedy} did not last: {action.because}", RUNNER)]
