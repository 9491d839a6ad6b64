"""What is to be erased, in a node's history before anything is; and whether it still may be."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.firmware import leases
from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import Condition, State

KIND = "wipe"
"""What wipes are called in a node's history."""


def intend(
    connection: Connection, node: str, orders: Sequence[str], who: tuple[str, tuple[int, int] | None, float]
) -> None:
    """Write down what is about to be erased; without anything, only ask if it still may be.

    `who` asks: a name, its run and that run's fence (None by hand), and when.

    Raises:
        ConflictError: the node is not in the state wipe, is held, or the run is over, or another one is under way.
    """
    by, run, now = who
    row = nodes.one(connection, node)
    if row is None or row.state is not State.WIPE:
        where = f"in {row.state}" if row else "not in the store"
        raise ConflictError(
            f"node {node}: it is {where}, and only one in the state wipe is erased (fleet-runner wipe)"
        )
    if Condition.HELD in row.conditions:
        raise ConflictError(f"node {node}: it is held, so nothing more of it is erased; release it first")
    if run is not None:
        leases.check_run(connection, node, run)
    elif (other := _open(connection, node)) is not None:
        raise ConflictError(f"node {node}: the runner is at it (run {other}), so nothing is erased by hand")
    if orders:
        sentence = f"About to be erased for good: {'; '.join(orders)}."
        history.add(connection, [Entry(0, node, now, KIND, sentence, by, run=run[0] if run else None)])


def _open(connection: Connection, node: str) -> int | None:
    mine = select(runs.c.id).where(runs.c.node == node, runs.c.ended_at.is_(None))
    return connection.execute(mine).scalar_one_or_none()
