"""Taking away what `core.schedules.retention` says may go, in pieces that hold the database for a moment each.

The newest row of a table stays whatever its age: SQLite gives its number again, and others remember numbers.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, delete, exists, func, or_, select

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.maintenance import evidence_in_use
from fleet_runner.adapters.store.runs.runs import SWEEPS
from fleet_runner.adapters.store.schema.core import (
    boot_events,
    boots,
    evidence,
    journal,
    nodes,
    results,
    runs,
    tickets,
)
from fleet_runner.adapters.store.schema.firmware import firmware_leases, flashes
from fleet_runner.adapters.store.schema.jobs import job_answers
from fleet_runner.adapters.store.schema.remedies import WAITING, alarms, heard, outbox, ticket_links, ticket_photos
from fleet_runner.adapters.store.schema.runners import pruned
from fleet_runner.adapters.store.schema.trends import episodes, foresights, panels
from fleet_runner.adapters.store.schema.web import audit
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import RUNNER, Outcome
from fleet_runner.core.schedules.retention import DAY, Body, Said, thinned

SWEPT = "sweeps"
"""The row that says up to which day sweeps are thinned."""

DULL = frozenset({Outcome.PASSED, Outcome.SKIPPED, Outcome.WORKING})
"""Ends of a sweep that say nothing which its results did not."""


def bytes_of_evidence(connection: Connection) -> int:
    """Return how many bytes evidence has, as it is stored."""
    return int(connection.execute(select(func.coalesce(func.sum(evidence.c.stored), 0))).scalar_one())


def oldest_evidence(connection: Connection, after: tuple[float, str], limit: int) -> tuple[Body, ...]:
    """Return the next pieces of evidence by age, after one of them."""
    at, digest = after
    beyond = or_(evidence.c.at > at, and_(evidence.c.at == at, evidence.c.hash > digest))
    query = select(evidence.c.hash, evidence.c.at, evidence.c.stored).where(evidence.c.at >= at, beyond)
    return tuple(
        Body(*row) for row in connection.execute(query.order_by(evidence.c.at, evidence.c.hash).limit(limit))
    )


def drop_evidence(connection: Connection, gone: Sequence[Body]) -> tuple[int, int]:
    """Take pieces of evidence away that were not told again meanwhile; return how many, and their bytes."""
    ages = {each.hash: each for each in gone}
    mine = delete(evidence).where(evidence.c.hash.in_(ages), evidence.c.at <= max(each.at for each in gone))
    left = [ages[digest] for digest in connection.execute(mine.returning(evidence.c.hash)).scalars()]
    return len(left), sum(each.size for each in left)


def unthinned(connection: Connection, until: float) -> tuple[float, tuple[str, ...]] | None:
    """Return the oldest day with runs that are not thinned, and every node; None where it would not be over then."""
    known = connection.execute(select(pruned.c.until).where(pruned.c.name == SWEPT)).scalar_one_or_none() or 0.0
    oldest = select(runs.c.opened_at).where(runs.c.opened_at >= known).order_by(runs.c.id).limit(1)
    opened_at = connection.execute(oldest).scalar_one_or_none()
    day = opened_at // DAY * DAY if opened_at is not None else until
    if day + DAY > until:
        return None
    return day, tuple(connection.execute(select(nodes.c.name).order_by(nodes.c.name)).scalars())


def thinned_until(connection: Connection, until: float) -> None:
    """Write down up to when sweeps are thinned."""
    row = database.insert(connection, pruned).values(name=SWEPT, until=until)
    connection.execute(row.on_conflict_do_update(index_elements=["name"], set_={"until": until}))


def repeated(connection: Connection, node: str, day: float) -> tuple[list[int], list[int]]:
    """Return which results of a node's sweeps of a day go, and which of their runs have none then."""
    rows = connection.execute(_swept(node, day)).all()
    named = frozenset(evidence_in_use.named(connection, node, day))
    gone = set(thinned([Said(row.id, row.run, row.check, Verdict(row.verdict)) for row in rows], named))
    kept = {row.run for row in rows if row.id not in gone}
    empty = sorted({row.run for row in rows if row.outcome in DULL} - kept)
    return sorted(gone), empty


def drop_sweeps(connection: Connection, gone: Sequence[int], empty: Sequence[int]) -> tuple[int, int]:
    """Take results away, then those of some runs that nothing names; return how many of each."""
    results_gone = _delete(connection, results, results.c.id, gone)
    named = (journal.c.run, boots.c.run, flashes.c.run, firmware_leases.c.run, results.c.run)
    free = [~exists().where(column == runs.c.id).correlate(runs) for column in named]
    return results_gone, _delete(connection, runs, runs.c.id, empty, *free)


AGED: dict[str, Table] = {
    "alarms": alarms,
    "steps": boot_events,
    "news": outbox,
    "photos": ticket_photos,
    "counters": heard,
    "asked": audit,
    "days": panels,
    "episodes": episodes,
    "foreseen": foresights,
    "answers": job_answers,
}
"""What goes by its age alone, by the name that `core.schedules.retention.Pruned` has for it."""

TRENDS = ("days", "episodes", "foreseen", "answers")
"""What of it foresight and reports rest on. Which part was where stays: it grows with replacements, not with time."""


def aged(what: str, before: float) -> ColumnElement[bool]:  # noqa: PLR0911  one for each kind
    """Return what is true of rows that are over since before a moment."""
    match what:
        case "alarms":
            return and_(alarms.c.cleared_at < before, _not_newest(alarms))
        case "steps":
            over = exists().where(boots.c.id == boot_events.c.boot, boots.c.closed_at < before)
            told = and_(boot_events.c.kind == "refused", boot_events.c.last_at < before)
            return and_(boot_events.c.at < before, or_(told, over.correlate(boot_events)), _not_newest(boot_events))
        case "news":
            waits = exists().where(ticket_links.c.ticket == outbox.c.ticket, WAITING)
            of_ticket = outbox.alias()
            newest = select(func.max(of_ticket.c.id)).where(of_ticket.c.ticket == outbox.c.ticket)
            last = outbox.c.id < newest.correlate(outbox).scalar_subquery()
            return and_(outbox.c.at < before, _closed(outbox, before), ~waits.correlate(outbox), last)
        case "photos":
            return and_(ticket_photos.c.at < before, _closed(ticket_photos, before))
        case "asked":
            return and_(audit.c.at < before, _not_newest(audit))
        case "days" | "episodes" | "foreseen" | "answers":
            return _foreseen_from(what, before)
        case _:
            return heard.c.last_at < before


def _foreseen_from(what: str, before: float) -> ColumnElement[bool]:
    if what == "days":
        return panels.c.day < int(before // DAY)
    if what == "answers":
        return job_answers.c.told_at < before
    if what == "episodes":
        return and_(episodes.c.last_at < before, _not_newest(episodes))
    return and_(foresights.c.ended_at < before, _not_newest(foresights))


def count_aged(connection: Connection, what: str, before: float) -> int:
    """Return how many rows would go."""
    query = select(func.count()).select_from(AGED[what]).where(aged(what, before))
    return int(connection.execute(query).scalar_one())


def drop_aged(connection: Connection, what: str, before: float, limit: int) -> int:
    """Take at most so many rows away that are over since before a moment; return how many."""
    table = AGED[what]
    key = tuple(table.primary_key.columns)
    some = connection.execute(select(*key).where(aged(what, before)).limit(limit)).all()
    if not some:
        return 0
    these = or_(*(and_(*(column == value for column, value in zip(key, row, strict=True))) for row in some))
    if len(key) == 1:
        these = key[0].in_([row[0] for row in some])
    return connection.execute(delete(table).where(these, aged(what, before))).rowcount


def _swept(node: str, day: float) -> Select[Any]:
    """Return what asks for the results of sweeps of a node that the runner began on a day, in their order."""
    mine = (results.c.id, results.c.run, results.c.check, results.c.verdict)
    columns: list[ColumnElement[Any]] = [*mine, runs.c.outcome]
    query = select(*columns).join_from(runs, results, results.c.run == runs.c.id)
    that_day = (runs.c.node == node, runs.c.opened_at >= day, runs.c.opened_at < day + DAY)
    sweeps = (runs.c.stage.in_(sorted(SWEEPS)), runs.c.by == RUNNER, runs.c.ended_at.is_not(None))
    return query.where(*that_day, *sweeps, results.c.node == node).order_by(results.c.id)


def _delete(connection: Connection, table: Table, key: ColumnElement[Any], ids: Iterable[int], *more: Any) -> int:
    wanted = sorted(ids)
    chunks = (wanted[start : start + 500] for start in range(0, len(wanted), 500))
    return sum(connection.execute(delete(table).where(key.in_(chunk), *more)).rowcount for chunk in chunks)


def _closed(table: Table, before: float) -> ColumnElement[bool]:
    """Return what is true of rows whose ticket is closed since before a moment."""
    over = exists().where(tickets.c.id == table.c.ticket, tickets.c.closed_at < before)
    return over.correlate(table)


def _not_newest(table: Table) -> ColumnElement[bool]:
    number = table.alias().c.id
    return table.c.id < select(func.max(number)).scalar_subquery()
