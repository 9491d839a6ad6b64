"""Serial numbers that wait to be written into a NetBox: one for each slot, the last that was told."""

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, delete, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.netbox import serials
from fleet_runner.adapters.store.tickets import rma_cases
from fleet_runner.core.inventory.netbox.mirror.serials import Due
from fleet_runner.core.lifecycle.runs import Entry


def queue(connection: Connection, given: Iterable[Due]) -> None:
    """Have serial numbers written; one that still waits for the same slot is replaced."""
    for due in given:
        row = {"node": due.node, "slot": due.slot, "out": due.out, "came": due.came, "by": due.by, "at": due.at}
        row |= {"conflict": "", "tries": 0, "due_at": 0.0, "detail": ""}
        fresh = database.insert(connection, serials).values(row)
        connection.execute(fresh.on_conflict_do_update(index_elements=["node", "slot"], set_=row))


def waiting(connection: Connection, node: str | None = None) -> tuple[Due, ...]:
    """Return what is not written, all or a node's; first what was tried least."""
    query = select(serials).order_by(serials.c.tries, serials.c.node, serials.c.slot)
    if node is not None:
        query = query.where(serials.c.node == node)
    return tuple(
        Due(row.node, row.slot, row.out, row.came, row.by, row.at, row.conflict, row.tries, row.due_at, row.detail)
        for row in connection.execute(query).all()
    )


def written(connection: Connection, given: Iterable[Due]) -> None:
    """Forget what stands there now, unless the slot was told of another part meanwhile."""
    for due in given:
        connection.execute(delete(serials).where(*_same(due)))


def not_written(connection: Connection, due: Due, why: str, due_at: float) -> None:
    """Note why a serial number is not written, and when that is tried again."""
    row = {"tries": bounds.count(due.tries + 1), "due_at": due_at, "detail": bounds.words(why)}
    connection.execute(update(serials).where(*_same(due)).values(row))


def conflicting(connection: Connection, due: Due, there: str, now: float, due_at: float) -> bool:
    """Note which serial number is in the way, and say so in the history, once; False where it was said."""
    what = bounds.key(there)
    connection.execute(update(serials).where(*_same(due)).values(conflict=what, due_at=due_at, detail=""))
    if due.conflict == what:
        return False
    said = (
        f"The part in {due.slot} has serial number {due.came}, and NetBox says {what}, which is neither the one that "
        f"went out nor empty: it is left as it is. Correct it there, or empty it, then it is written."
    )
    history.add(connection, [Entry(0, due.node, now, rma_cases.KIND, said, due.by)])
    return True


def hurry(connection: Connection) -> None:
    """Have everything that waits tried at once."""
    connection.execute(update(serials).values(due_at=0.0))


def _same(due: Due) -> tuple[ColumnElement[bool], ...]:
    return (
        serials.c.node == due.node,
        serials.c.slot == due.slot,
        serials.c.came == due.came,
        serials.c.at == due.at,
    )
