"""Who may drive a node's firmware: one holder at a time, for as long as he said and not longer."""

from sqlalchemy import Connection, delete, select

from fleet_runner.adapters.store import database
from fleet_runner.adapters.store.firmware_schema import firmware_leases
from fleet_runner.adapters.store.schema import nodes, runs
from fleet_runner.core.errors import ConflictError, RunOverError, StoreError

Fenced = tuple[int, int]
"""A run by its id, and its fence."""


def take(connection: Connection, node: str, holder: str, run: Fenced | None, span: tuple[float, float]) -> None:
    """Take or renew a node's lease from a moment for some seconds.

    Raises:
        ConflictError: another holds it, or (RunOverError) the run is over or was taken over.
        StoreError: the store does not know the node.
    """
    hold(connection, node)
    if run is not None:
        check_run(connection, node, run)
    now, seconds = span
    found = connection.execute(select(firmware_leases).where(firmware_leases.c.node == node)).one_or_none()
    if found is not None and found.holder != holder and found.until > now:
        raise ConflictError(
            f"node {node}: {found.holder} is at its firmware for {found.until - now:.0f} s more; wait for it, "
            f"or end that process first"
        )
    row = {"node": node, "holder": holder, "run": run[0] if run else None, "until": now + seconds}
    fresh = database.insert(connection, firmware_leases).values(row)
    connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=row))


def give_back(connection: Connection, node: str, holder: str) -> None:
    """Let go of a lease; one that is another's stays."""
    mine = (firmware_leases.c.node == node, firmware_leases.c.holder == holder)
    connection.execute(delete(firmware_leases).where(*mine))


def check(connection: Connection, node: str, holder: str, now: float) -> int | None:
    """Refuse a write of whoever does not hold the node's lease now; return the run that the holder works for."""
    hold(connection, node)
    found = connection.execute(select(firmware_leases).where(firmware_leases.c.node == node)).one_or_none()
    if found is None or found.holder != holder or found.until <= now:
        raise ConflictError(
            f"node {node}: {holder} does not hold the lease of its firmware, or no longer; "
            f"leave the node alone and read its flash again"
        )
    return int(found.run) if found.run is not None else None


def holder(connection: Connection, node: str, now: float) -> tuple[str, float] | None:
    """Return who holds a node's lease now, and until when."""
    standing = (firmware_leases.c.node == node, firmware_leases.c.until > now)
    found = connection.execute(select(firmware_leases).where(*standing)).one_or_none()
    return (str(found.holder), float(found.until)) if found is not None else None


def hold(connection: Connection, node: str) -> None:
    """Let one transaction at a time see to a node's firmware; its runs end before or after it, not meanwhile.

    Raises:
        StoreError: the store does not know the node.
    """
    mine = select(nodes.c.name).where(nodes.c.name == node).with_for_update(key_share=True)
    if connection.execute(mine).scalar_one_or_none() is None:
        raise StoreError(f"node {node}: the store does not know it; `fleet-runner tick` registers it, then try again")


def check_run(connection: Connection, node: str, run: Fenced) -> None:
    """Refuse what a run wants that has ended, or whose node another run has taken over."""
    number, fence = run
    mine = select(runs.c.id).join(nodes, nodes.c.name == runs.c.node)
    mine = mine.where(runs.c.id == number, runs.c.node == node, runs.c.ended_at.is_(None))
    if connection.execute(mine.where(runs.c.fence == fence, nodes.c.fence == fence)).one_or_none() is None:
        raise RunOverError(
            f"node {node}: run {number} is over or was taken over; leave the node alone, nothing was changed"
        )
