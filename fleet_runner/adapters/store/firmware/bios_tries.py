"""The BIOS settings that a node's BMC last took: one try in a stay, written by whoever holds the node's lease."""

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.firmware import leases
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.firmware import bios_tries
from fleet_runner.core.firmware.bios import told
from fleet_runner.core.firmware.bios_steps import Try
from fleet_runner.core.lifecycle.runs import Entry

KIND = "firmware"
"""What they are called in a node's history."""


def note(connection: Connection, node: str, tried: Try, who: tuple[str, str], now: float) -> None:
    """Write down what a BMC took, before the host is reset for it; `who` holds the lease, and in whose name.

    Raises:
        ConflictError: he does not hold it, or no longer.
    """
    holder, by = who
    run = leases.check(connection, node, holder, now)
    row = {
        "node": node,
        "attributes": dict(sorted(tried.attributes.items())),
        "at": tried.at,
        "resets": tried.resets,
        "reset_from": tried.reset_from,
    }
    fresh = database.insert(connection, bios_tries).values(row)
    connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=row))
    sentence = f"BIOS settings wait for a reset of the host, number {tried.resets}: {told(tried.attributes)}."
    history.add(connection, [Entry(0, node, now, KIND, sentence, by, run=run)])


def one(connection: Connection, node: str, since: float) -> Try | None:
    """Return the newest try of a node if it is from a moment or later."""
    mine = select(bios_tries).where(bios_tries.c.node == node, bios_tries.c.at >= since)
    found = connection.execute(mine).one_or_none()
    return Try(found.attributes, found.at, found.resets, found.reset_from) if found is not None else None
