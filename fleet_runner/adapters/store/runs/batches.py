"""Batches between runners: offered with their runs, taken by one, started once, given up when their lease is over.

All times are the database's. A parcel whose play was started is never given out again.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, func, or_, select, update

from fleet_runner.adapters.store.budgets import switches
from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.runs import spool
from fleet_runner.adapters.store.schema.core import batches, nodes, runs
from fleet_runner.adapters.store.schema.runners import parcels, runners
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.inventory.placement import BatchSummary, ClaimedBatch, Offer, reaches_all

QUEUE = "queue"
"""The switch that people pause taking with."""

PAGE = 200
"""Parcels that are looked at together for some that a runner reaches."""

KEPT = 86_400.0
"""Seconds for which a parcel that ended is remembered where nobody removed it."""

SILENT = "its runner was silent for longer than its lease"

_OPEN = parcels.c.ended_at.is_(None)
_STARTED = parcels.c.started_at.is_not(None)
_LISTED = [each for each in parcels.c if each.name != "runs"]


def offer(connection: Connection, given: Offer) -> None:
    """Let any runner take a batch whose runs are open; one that was offered is left alone.

    Raises:
        ConflictError: some of its runs are over or were taken over.
    """
    gone = given.runs.keys() - spool.open_runs(connection, given.batch).keys()
    if gone:
        raise ConflictError(f"batch {given.batch}: its run of {min(gone)} is over; it was not offered to any runner")
    row = {"batch": given.batch, "places": list(given.places), "runs": dict(given.runs), "runner": "", "token": 0}
    row |= {"carrier": "", "until": 0.0, "offered_at": database.clock(connection), "detail": "", "stop": False}
    connection.execute(database.insert(connection, parcels).values(row).on_conflict_do_nothing())
    database.ring(connection, database.PARCEL)


def take(connection: Connection, runner: str, seconds: float) -> tuple[ClaimedBatch, ...]:
    """Take what a runner may carry now, for so many seconds: as many as it has slots for, the oldest first."""
    mine = select(runners).where(runners.c.id == runner, runners.c.ending.is_(False)).with_for_update()
    me = connection.execute(mine).one_or_none()
    if me is None or switches.one(connection, QUEUE) is not None:
        return ()
    now = database.clock(connection)
    free = me.slots - used(connection, now).get(runner, 0)
    wanted = _reached(connection, tuple(me.places), free, now) if free > 0 else []
    if not wanted:
        return ()
    still = select(parcels.c.batch).where(parcels.c.batch.in_(wanted), _is_free(now))
    taken = update(parcels).where(parcels.c.batch.in_(still.with_for_update(skip_locked=True)))
    taken = taken.values(runner=runner, token=parcels.c.token + 1, until=now + seconds, carrier="")
    rows = connection.execute(taken.returning(parcels)).all()
    stages = {row.id: row.stage for row in connection.execute(_stages([row.batch for row in rows]))}
    ordered = sorted(rows, key=lambda row: (row.offered_at, row.batch))
    return tuple(
        ClaimedBatch(Offer(row.batch, stages[row.batch], row.runs, tuple(row.places)), row.token) for row in ordered
    )


def used(connection: Connection, now: float) -> dict[str, int]:
    """Return how many parcels each runner has: those that it takes now, and those that are carried."""
    query = select(parcels.c.runner, func.count()).where(_OPEN, parcels.c.runner != "", parcels.c.until > now)
    rows = connection.execute(query.group_by(parcels.c.runner)).all()
    return {row[0]: row[1] for row in rows}


def start(connection: Connection, batch: str, token: int, by: tuple[str, float]) -> frozenset[str]:
    """Begin a batch, once: return the nodes whose runs are open; none where it is not this carrier's to begin.

    `by` is a carrier, and for how many seconds. The same one may ask again: whether its answer was lost, or its
    question, it cannot know.
    """
    (carrier, seconds), now = by, database.clock(connection)
    mine = (parcels.c.batch == batch, parcels.c.token == token, _OPEN, parcels.c.until > now)
    fresh = or_(parcels.c.started_at.is_(None), parcels.c.carrier == carrier)
    begun = update(parcels).where(*mine, fresh, parcels.c.stop.is_(False))
    begun = begun.values(started_at=func.coalesce(parcels.c.started_at, now), carrier=carrier, until=now + seconds)
    if connection.execute(begun).rowcount != 1:
        return frozenset()
    opened = frozenset(spool.open_runs(connection, batch))
    if not opened:
        finish(connection, batch, token, (None, "its runs were over before it began"))
    return opened


def renew(connection: Connection, batch: str, token: int, seconds: float) -> str | None:
    """Keep a parcel for so many seconds more; None where it is its carrier's no more, else why it is to end."""
    now = database.clock(connection)
    mine = (parcels.c.batch == batch, parcels.c.token == token, _OPEN, _STARTED, parcels.c.until > now)
    held = exists().where(runs.c.batch == batch, runs.c.ended_at.is_(None), nodes.c.name == runs.c.node)
    kept = update(parcels).where(*mine, held.where(nodes.c.fence == runs.c.fence)).values(until=now + seconds)
    row = connection.execute(kept.returning(parcels.c.stop, parcels.c.detail)).one_or_none()
    if row is None:
        return None
    return (row.detail or "It was stopped on request.") if row.stop else ""


def keep_taken(connection: Connection, runner: str, seconds: float) -> None:
    """Keep what a runner took, and what is about to begin, for so many seconds more: its computer may be busy."""
    now = database.clock(connection)
    mine = (parcels.c.runner == runner, _OPEN, parcels.c.started_at.is_(None), parcels.c.until > now)
    connection.execute(update(parcels).where(*mine).values(until=now + seconds))


def finish(connection: Connection, batch: str, token: int, end: tuple[int | None, str]) -> bool:
    """Say how a play ended, whatever its lease has left; False where the parcel is its carrier's no more."""
    rc, detail = end
    mine = update(parcels).where(parcels.c.batch == batch, parcels.c.token == token, _OPEN)
    told: dict[str, Any] = {
        "ended_at": database.clock(connection),
        "rc": rc,
        "detail": bounds.words(detail),
        "runs": {},
    }
    if connection.execute(mine.values(told)).rowcount != 1:
        return False
    database.ring(connection, database.ENDED)
    return True


def drop(connection: Connection, batch: str, token: int) -> None:
    """Give up a parcel whose supervisor is gone for good: it is lost at once, or free where it never began."""
    mine = update(parcels).where(parcels.c.batch == batch, parcels.c.token == token, _OPEN)
    connection.execute(mine.values(until=0.0))


def lapse(connection: Connection) -> None:
    """End the parcels whose play was started and whose lease is over: from now on nobody can renew them."""
    now = database.clock(connection)
    over = update(parcels).where(_OPEN, _STARTED, parcels.c.until <= now)
    connection.execute(over.values(ended_at=now, detail=SILENT, runs={}))
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
        token=row.token,
        offered_at=row.offered_at,
        read_at=now,
        left=max(0.0, row.until - now),
        started_at=row.started_at,
        ended_at=row.ended_at,
        rc=row.rc,
        detail=row.detail,
        stop=row.stop,
    )


def _is_free(now: float) -> ColumnElement[bool]:
    return and_(_OPEN, parcels.c.started_at.is_(None), parcels.c.until <= now, parcels.c.stop.is_(False))


def _reached(connection: Connection, reach: tuple[str, ...], most: int, now: float) -> list[str]:
    """Return free parcels whose every place a runner reaches, the oldest first."""
    found: list[str] = []
    after = (0.0, "")
    while len(found) < most:
        later = or_(
            parcels.c.offered_at > after[0],
            and_(parcels.c.offered_at == after[0], parcels.c.batch > after[1]),
        )
        page = select(parcels.c.batch, parcels.c.places, parcels.c.offered_at).where(_is_free(now), later)
        rows = connection.execute(page.order_by(parcels.c.offered_at, parcels.c.batch).limit(PAGE)).all()
        found += [row.batch for row in rows if reaches_all(reach, row.places)]
        if len(rows) < PAGE:
            break
        after = (rows[-1].offered_at, rows[-1].batch)
    return found[:most]


def _stages(names: Iterable[str]) -> Any:
    return select(batches.c.id, batches.c.stage).where(batches.c.id.in_(list(names)))
