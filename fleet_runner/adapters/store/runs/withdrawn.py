"""Batches that nobody has, taken back: nobody can begin them any more, whoever was about to offer or take them."""

from sqlalchemy import Connection, and_, select

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.runs import runs
from fleet_runner.adapters.store.runs.rows import run as from_row
from fleet_runner.adapters.store.schema.core import runs as run_rows
from fleet_runner.adapters.store.schema.runners import parcels
from fleet_runner.core.lifecycle.runs import Outcome


def withdraw(connection: Connection, batch: str, why: str, now: float) -> int:
    """Cancel a batch's open runs where nobody has it; return how many, none where somebody has.

    An ended parcel stays for a day. An offer that comes late finds it, however old the look was that led to this.
    """
    moment = database.clock(connection)
    end = {"ended_at": moment, "stop": True, "detail": bounds.words(why), "runs": {}}
    row = {"batch": batch, "places": [], "runner": "", "carrier": "", "until": 0.0, "offered_at": moment}
    unbegun, free = parcels.c.started_at.is_(None), and_(parcels.c.ended_at.is_(None), parcels.c.until <= moment)
    ended = database.insert(connection, parcels).values(row | end)
    connection.execute(ended.on_conflict_do_update(index_elements=["batch"], set_=end, where=and_(unbegun, free)))
    over = select(parcels.c.batch).where(parcels.c.batch == batch, unbegun, parcels.c.ended_at.is_not(None))
    if connection.execute(over).first() is None:
        return 0
    opened = connection.execute(runs.open_query().where(run_rows.c.batch == batch)).all()
    for each in opened:
        runs.close(connection, from_row(each), Outcome.CANCELLED, (why, now))
    return len(opened)
