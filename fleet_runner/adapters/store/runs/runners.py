"""Runners as the store knows them: when each was last heard of, and whose turn it is to decide for the fleet."""

from sqlalchemy import Connection, delete, or_, select, update

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.runs import batches, jobs
from fleet_runner.adapters.store.schema.runners import runners, turns
from fleet_runner.core.inventory.placement import Runner

DECIDE = "decide"
"""The turn of whoever decides for all nodes."""

FORGOTTEN = 7 * 86_400.0
"""Seconds after which a runner that says nothing is not listed any more."""


def begin(connection: Connection, runner: Runner) -> None:
    """Write down that a runner begins."""
    now = database.clock(connection)
    row = {"host": runner.host, "release": runner.release, "places": list(runner.places), "slots": runner.slots}
    row |= {"started_at": now, "beat_at": now, "ending": False}
    fresh = database.insert(connection, runners).values(row | {"id": runner.id})
    connection.execute(fresh.on_conflict_do_update(index_elements=["id"], set_=row))
    connection.execute(delete(runners).where(runners.c.beat_at < now - FORGOTTEN))


def beat(connection: Connection, runner: str) -> None:
    """Write down that a runner lives, and takes what there is: another process of its name may just have ended."""
    now = database.clock(connection)
    connection.execute(update(runners).where(runners.c.id == runner).values(beat_at=now, ending=False))


def end(connection: Connection, runner: str) -> None:
    """Write down that a runner takes nothing more, and give its turn back."""
    connection.execute(update(runners).where(runners.c.id == runner).values(ending=True))
    connection.execute(delete(turns).where(turns.c.runner == runner))
    jobs.ring(connection)


def every(connection: Connection) -> tuple[Runner, ...]:
    """Return every runner that is not forgotten, by its id."""
    now = database.clock(connection)
    used = batches.used(connection, now)
    rows = connection.execute(select(runners).order_by(runners.c.id)).all()
    return tuple(
        Runner(
            id=row.id,
            host=row.host,
            release=row.release,
            places=tuple(row.places),
            slots=row.slots,
            started_at=row.started_at,
            beat_at=row.beat_at,
            ending=row.ending,
            used=used.get(row.id, 0),
            silent=max(0.0, now - row.beat_at),
        )
        for row in rows
    )


def take_turn(connection: Connection, runner: str, seconds: float) -> bool:
    """Take or keep the turn to decide for so many seconds; False while it is another's."""
    now = database.clock(connection)
    mine = {"runner": runner, "until": now + seconds}
    fresh = database.insert(connection, turns).values(mine | {"name": DECIDE})
    free = or_(turns.c.runner == runner, turns.c.until <= now)
    taken = fresh.on_conflict_do_update(index_elements=["name"], set_=mine, where=free)
    return connection.execute(taken.returning(turns.c.runner)).one_or_none() is not None


def give_turn_back(connection: Connection, runner: str) -> None:
    """Let another decide."""
    connection.execute(delete(turns).where(turns.c.runner == runner))
    jobs.ring(connection)


def deciding(connection: Connection) -> str:
    """Return whose turn it is, "" where it is nobody's."""
    now = database.clock(connection)
    query = select(turns.c.runner).where(turns.c.name == DECIDE, turns.c.until > now)
    return connection.execute(query).scalar_one_or_none() or ""
