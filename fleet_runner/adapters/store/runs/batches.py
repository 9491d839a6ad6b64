"""Batches between runners: offered with their runs, taken by one, started once, given up when their lease is over.

Who takes one is the engine's to say, in `jobs`; what may begin, and once, is said here. All times are the database's.
"""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, exists, func, or_, select, text, update

from fleet_runner.adapters.store.budgets import switches
from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.runs import jobs, spool
from fleet_runner.adapters.store.schema.core import batches, nodes, runs
from fleet_runner.adapters.store.schema.runners import parcels, runners
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.inventory.placement import BatchSummary, Offer, queue, reaches_all

QUEUE = "queue"
"""The switch that people pause taking with."""

KEPT = 86_400.0
"""Seconds for which a parcel that ended is remembered where nobody removed it."""

SILENT = "its runner was silent for longer than its lease"
NEVER = "a runner took it and did not begin it"

_OPEN = parcels.c.ended_at.is_(None)
_STARTED = parcels.c.started_at.is_not(None)
_LISTED = [each for each in parcels.c if each.name != "runs"]
_WAITING = text("""
SELECT DISTINCT jobs.queue_name, parcels.places FROM procrastinate_jobs AS jobs
JOIN parcels ON parcels.job = jobs.id WHERE jobs.status = 'todo' AND parcels.ended_at IS NULL
""")
_NO_JOB = text("""
parcels.runner = '' AND NOT EXISTS (
    SELECT FROM procrastinate_jobs AS jobs WHERE jobs.id = parcels.job AND jobs.status IN ('todo', 'doing'))
""")
"""Its job failed before a runner took it: its worker was killed, or somebody ended it in the engine's own shell."""


def offer(connection: Connection, given: Offer) -> None:
    """Have the engine give a batch whose runs are open to a runner; one that was offered is left alone.

    Raises:
        ConflictError: some of its runs are over or were taken over.
    """
    gone = given.runs.keys() - spool.open_runs(connection, given.batch).keys()
    if gone:
        raise ConflictError(f"batch {given.batch}: its run of {min(gone)} is over; it was not offered to any runner")
    row: dict[str, Any] = {"batch": given.batch, "places": list(given.places), "runs": dict(given.runs)}
    row |= {"runner": "", "carrier": "", "until": 0.0, "detail": "", "stop": False}
    row["offered_at"] = database.clock(connection)
    fresh = database.insert(connection, parcels).values(row).on_conflict_do_nothing()
    if connection.execute(fresh.returning(parcels.c.batch)).one_or_none() is not None:
        job = jobs.offer(connection, queue(given.places), given.batch)
        connection.execute(update(parcels).where(parcels.c.batch == given.batch).values(job=job))


def reached(connection: Connection, runner: str) -> tuple[str, ...]:
    """Return the queues that a runner may take batches of now; none where it has no room, or nobody may take any."""
    mine = select(runners).where(runners.c.id == runner, runners.c.ending.is_(False))
    me = connection.execute(mine).one_or_none()
    if me is None or switches.one(connection, QUEUE) is not None:
        return ()
    if used(connection, database.clock(connection)).get(runner, 0) >= me.slots:
        return ()
    waiting = connection.execute(_WAITING).all()
    return tuple({name for name, places in waiting if reaches_all(me.places, json.loads(places))})


def claim(connection: Connection, batch: str, runner: str, seconds: float) -> Offer | None:
    """Have a runner begin a batch within so many seconds, the only one that ever may; None where it is not to be."""
    mine = update(parcels).where(parcels.c.batch == batch, _OPEN, parcels.c.runner == "", parcels.c.stop.is_(False))
    mine = mine.values(runner=runner, until=database.clock(connection) + seconds)
    row = connection.execute(mine.returning(parcels.c.runs, parcels.c.places)).one_or_none()
    if row is None:
        return None
    stage = connection.execute(select(batches.c.stage).where(batches.c.id == batch)).scalar_one()
    return Offer(batch, stage, row.runs, tuple(row.places))


def used(connection: Connection, now: float) -> dict[str, int]:
    """Return how many parcels each runner has: those that it takes now, and those that are carried."""
    query = select(parcels.c.runner, func.count()).where(_OPEN, parcels.c.runner != "", parcels.c.until > now)
    rows = connection.execute(query.group_by(parcels.c.runner)).all()
    return {row[0]: row[1] for row in rows}


def start(connection: Connection, batch: str, carrier: str, seconds: float) -> frozenset[str]:
    """Begin a batch, once: return the nodes whose runs are open; none where it is not this carrier's to begin.

    The same one may ask again: whether its answer was lost, or its question, it cannot know.
    """
    now = database.clock(connection)
    mine = (parcels.c.batch == batch, _OPEN, parcels.c.until > now, parcels.c.stop.is_(False))
    fresh = or_(parcels.c.started_at.is_(None), parcels.c.carrier == carrier)
    begun = update(parcels).where(*mine, fresh)
    begun = begun.values(started_at=func.coalesce(parcels.c.started_at, now), carrier=carrier, until=now + seconds)
    if connection.execute(begun).rowcount != 1:
        return frozenset()
    opened = frozenset(spool.open_runs(connection, batch))
    if not opened:
        finish(connection, batch, None, "its runs were over before it began")
    return opened


def renew(connection: Connection, batch: str, seconds: float) -> str | None:
    """Keep a parcel for so many seconds more; None where it is its carrier's no more, else why it is to end."""
    now = database.clock(connection)
    mine = (parcels.c.batch == batch, _OPEN, _STARTED, parcels.c.until > now)
    held = exists().where(runs.c.batch == batch, runs.c.ended_at.is_(None), nodes.c.name == runs.c.node)
    kept = update(parcels).where(*mine, held.where(nodes.c.fence == runs.c.fence)).values(until=now + seconds)
    row = connection.execute(kept.returning(parcels.c.stop, parcels.c.detail)).one_or_none()
    if row is None:
        return None
    return (row.detail or "It was stopped on request.") if row.stop else ""


def finish(connection: Connection, batch: str, rc: int | None, detail: str) -> bool:
    """Say how a play ended, whatever its lease has left; False where the parcel is its carrier's no more."""
    mine = update(parcels).where(parcels.c.batch == batch, _OPEN)
    end: dict[str, Any] = {"ended_at": database.clock(connection), "rc": rc, "detail": bounds.words(detail)}
    if connection.execute(mine.values(end | {"runs": {}})).rowcount != 1:
        return False
    jobs.wake(connection)
    return True


def drop(connection: Connection, batch: str) -> None:
    """Give up a parcel whose supervisor is gone for good, or never came: it is lost at once, or never begins."""
    connection.execute(update(parcels).where(parcels.c.batch == batch, _OPEN).values(until=0.0))


def lapse(connection: Connection) -> None:
    """End the parcels whose lease is over, and those that nobody will begin: nothing can renew or begin them then."""
    now = database.clock(connection)
    over = update(parcels).where(_OPEN, _STARTED, parcels.c.until <= now)
    connection.execute(over.values(ended_at=now, detail=SILENT, runs={}))
    late = and_(parcels.c.runner != "", parcels.c.until <= now)
    never = update(parcels).where(_OPEN, parcels.c.started_at.is_(None), or_(late, _NO_JOB))
    connection.execute(never.values(ended_at=now, detail=NEVER, runs={}))
    jobs.tidy(connection)
    connection.execute(delete(parcels).where(parcels.c.ended_at < now - KEPT))


def stop(connection: Connection, batch: str, because: str) -> bool:
    """Have a batch end: by its supervisor, or here where no play was started; False where it is over."""
    now = database.clock(connection)
    mine = update(parcels).where(parcels.c.batch == batch, _OPEN)
    why = bounds.words(because)
    ended = mine.where(parcels.c.started_at.is_(None))
    if connection.execute(ended.values(stop=True, ended_at=now, rc=None, detail=why, runs={})).rowcount == 1:
        return True
    return connection.execute(mine.values(stop=True, detail=why)).rowcount == 1


def forget(connection: Connection, batch: str) -> None:
    """Remove a parcel that has ended."""
    connection.execute(delete(parcels).where(parcels.c.batch == batch, parcels.c.ended_at.is_not(None)))


def found(connection: Connection, names: Iterable[str] | None) -> tuple[BatchSummary, ...]:
    """Return every parcel that has not ended, the oldest first; or those of some batches."""
    query = select(*_LISTED, batches.c.stage).join_from(parcels, batches, batches.c.id == parcels.c.batch)
    query = query.where(_OPEN if names is None else parcels.c.batch.in_(sorted(set(names))))
    rows: Any = connection.execute(query.order_by(parcels.c.offered_at, parcels.c.batch)).all()
    members: dict[str, list[str]] = {}
    carried = select(runs.c.batch, runs.c.node).where(runs.c.batch.in_([row.batch for row in rows]))
    for row in connection.execute(carried.where(runs.c.ended_at.is_(None))):
        members.setdefault(row.batch, []).append(row.node)
    now = database.clock(connection)
    return tuple(_parcel(row, members.get(row.batch, []), now) for row in rows)


def _parcel(row: Row[Any], members: Iterable[str], now: float) -> BatchSummary:
    return BatchSummary(
        batch=row.batch,
        stage=row.stage,
        nodes=tuple(sorted(members)),
        places=tuple(row.places),
        runner=row.runner if row.started_at is not None or row.until > now else "",
        offered_at=row.offered_at,
        read_at=now,
        left=max(0.0, row.until - now),
        started_at=row.started_at,
        ended_at=row.ended_at,
        rc=row.rc,
        detail=row.detail,
        stop=row.stop,
    )
