"""Who may drive a node's firmware: one holder at a time, for as long as he said and not longer."""

from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.schema.core import nodes, runs
from fleet_runner.adapters.store.schema.firmware import firmware_leases, flashes
from fleet_runner.core.base.errors import ConflictError, RunOverError, StoreError

Fenced = tuple[int, int]
"""A run by its id, and its fence."""


class Claim(NamedTuple):
    """Who wants a node, for which run, and the address of its BMC, "" where he does not say."""

    holder: str
    run: Fenced | None
    bmc: str = ""


def take(connection: Connection, node: str, claim: Claim, span: tuple[float, float]) -> None:
    """Take or renew a node's lease from a moment for some seconds; which moment, `database.agreed` says.

    Raises:
        ConflictError: another holds it, or its BMC is at work under another node's name.
        RunOverError: the run is over or was taken over.
        StoreError: the store does not know the node.
    """
    holder, run, _ = claim
    bmc = _address(claim.bmc)
    hold(connection, node)
    if run is not None:
        check_run(connection, node, run)
    now, seconds = database.agreed(connection, span[0]), span[1]
    found = connection.execute(select(firmware_leases).where(firmware_leases.c.node == node)).one_or_none()
    if found is not None and found.holder != holder and found.until > now:
        raise ConflictError(
            f"node {node}: {found.holder} is at its firmware for {found.until - now:.0f} s more; wait for it, "
            f"or end that process first"
        )
    if bmc:
        _alone(connection, node, bmc, now)
    row = {"node": node, "holder": holder, "run": run[0] if run else None, "until": now + seconds, "bmc": bmc}
    fresh = database.insert(connection, firmware_leases).values(row)
    connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=row))


def bmc(connection: Connection, node: str) -> str:
    """Return the address of its BMC that a node was leased with."""
    wanted = select(firmware_leases.c.bmc).where(firmware_leases.c.node == node)
    return str(connection.execute(wanted).scalar_one())


def _address(bmc: str) -> str:
    return bounds.key(bmc.strip().rstrip("/").lower())


def _alone(connection: Connection, node: str, bmc: str, now: float) -> None:
    """Refuse a BMC that is at work under another node's name: the node was renamed, or two have one address."""
    opened = select(flashes).where(flashes.c.bmc == bmc, flashes.c.node != node, flashes.c.ended_at.is_(None))
    if found := connection.execute(opened.order_by(flashes.c.id)).first():
        raise ConflictError(
            f"node {node}: flash {found.id} of {found.node} is open at the same BMC, {bmc}; was the node renamed? "
            f'Look at the BMC, then `fleet-runner firmware settle {found.node} --reason "…"`, or correct the address'
        )
    others = (firmware_leases.c.bmc == bmc, firmware_leases.c.node != node, firmware_leases.c.until > now)
    if held := connection.execute(select(firmware_leases).where(*others)).first():
        raise ConflictError(
            f"node {node}: {held.holder} is at the firmware of {held.node}, at the same BMC, {bmc}, for "
            f"{held.until - now:.0f} s more; wait for it, and see which of the two has that address"
        )


def give_back(connection: Connection, node: str, holder: str) -> None:
    """Let go of a lease; one that is another's stays."""
    mine = (firmware_leases.c.node == node, firmware_leases.c.holder == holder)
    connection.execute(delete(firmware_leases).where(*mine))


def check(connection: Connection, node: str, holder: str, now: float) -> int | None:
    """Refuse a write of whoever does not hold the node's lease now; return the run that the holder works for."""
    hold(connection, node)
    found = connection.execute(select(firmware_leases).where(firmware_leases.c.node == node)).one_or_none()
    if found is None or found.holder != holder or found.until <= database.agreed(connection, now):
        raise ConflictError(
            f"node {node}: {holder} does not hold the lease of its firmware, or no longer; "
            f"leave the node alone and read its flash again"
        )
    return int(found.run) if found.run is not None else None


def holder(connection: Connection, node: str, now: float) -> tuple[str, float] | None:
    """Return who holds a node's lease now, and until when by the clock that says `now`."""
    agreed = database.agreed(connection, now)
    standing = (firmware_leases.c.node == node, firmware_leases.c.until > agreed)
    found = connection.execute(select(firmware_leases).where(*standing)).one_or_none()
    return (str(found.holder), float(found.until) + (now - agreed)) if found is not None else None


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
