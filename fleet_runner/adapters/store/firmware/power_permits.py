"""Leave of a person to switch a node's power although its firmware says no: with a reason, for a while, on record."""

from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.firmware import flashes, leases
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.firmware import power_allowances
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.runs import Entry


class Leave(NamedTuple):
    """Who gives it, why, when, and for how many seconds."""

    by: str
    reason: str
    at: float
    seconds: float


def give(connection: Connection, node: str, leave: Leave) -> None:
    """Allow power actions on a node for a while; an earlier leave is replaced."""
    leases.hold(connection, node)
    by, because = bounds.words(leave.by), bounds.words(leave.reason)
    row = {"node": node, "by": by, "because": because, "at": leave.at, "until": leave.at + leave.seconds}
    fresh = database.insert(connection, power_allowances).values(row)
    connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=row))
    sentence = f"{by} allows power actions for {leave.seconds:g} s whatever its firmware is at ({because})."
    history.add(connection, [Entry(0, node, leave.at, flashes.KIND, sentence, by)])


def standing(connection: Connection, node: str, now: float) -> Leave | None:
    """Return the leave that stands for a node now.

    One that was given in what is now the future is none: the clock was set back, and nobody knows for how long.
    """
    mine = (power_allowances.c.node == node, power_allowances.c.at <= now, power_allowances.c.until > now)
    found = connection.execute(select(power_allowances).where(*mine)).one_or_none()
    return Leave(found.by, found.because, found.at, found.until - found.at) if found is not None else None


def none_stands(connection: Connection, node: str, now: float) -> None:
    """Refuse to have an image sent while anybody may switch the node's power: the leave was not given for that flash.

    Raises:
        ConflictError: a leave stands.
    """
    leases.hold(connection, node)
    if leave := standing(connection, node, now):
        until = datetime.fromtimestamp(leave.at + leave.seconds, UTC).strftime("%H:%M:%S")
        raise ConflictError(
            f"node {node}: power actions are allowed until {until} UTC by {leave.by}: {leave.reason}; nothing is "
            f'flashed until then, or: fleet-runner firmware allow-power {node} --for 1s --reason "…"'
        )
