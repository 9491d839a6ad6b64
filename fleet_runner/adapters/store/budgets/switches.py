"""What people switched off, each with a reason."""

from sqlalchemy import Connection, delete, select

from fleet_runner.adapters.store.budgets import rows
from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.runs import jobs
from fleet_runner.adapters.store.schema.runners import switches
from fleet_runner.core.inventory.switch import Switch


def off(connection: Connection, name: str, by: str, reason: str) -> None:
    """Switch something off; whoever did so last, and why, is kept."""
    row = {"at": database.clock(connection), "by": bounds.words(by), "reason": bounds.words(reason)}
    fresh = database.insert(connection, switches).values(row | {"name": name})
    connection.execute(fresh.on_conflict_do_update(index_elements=["name"], set_=row))


def on(connection: Connection, name: str) -> bool:
    """Switch it on again; False where it was not off."""
    gone = connection.execute(delete(switches).where(switches.c.name == name)).rowcount == 1
    jobs.wake(connection)
    return gone


def one(connection: Connection, name: str) -> Switch | None:
    """Return who switched something off, and why; None where it is on."""
    row = connection.execute(select(switches).where(switches.c.name == name)).one_or_none()
    return rows.switch(row) if row is not None else None
