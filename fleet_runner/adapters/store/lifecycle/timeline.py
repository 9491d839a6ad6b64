"""What happened to a node, read backwards from a moment: lines of its history, and of its results what failed."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, not_, or_, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.results.rows import stored as from_row
from fleet_runner.adapters.store.schema.core import journal, results
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.timeline import (
    FINDINGS,
    HISTORY,
    MACHINES,
    PAGE,
    Cursor,
    Filter,
    Line,
    of_entry,
    of_result,
)

LOOKED_AT = 20_000
"""Results of a node that are looked through for those that failed, the newest before the moment."""


class TimelineMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def timeline(self, node: str, wanted: Filter, before: Cursor | None = None) -> tuple[Line, ...]:
        """Return more lines than a page has of what a filter wants, where there are as many, in no order."""
        with self._database.read() as connection:
            failed = _failed(connection, node, before) if wanted.findings else []
            return (*_told(connection, node, wanted, before), *failed)


def _told(connection: Connection, node: str, wanted: Filter, before: Cursor | None) -> list[Line]:
    mine = [journal.c.node == node, *_older(journal, HISTORY, before)]
    if wanted.kinds:
        mine.append(journal.c.kind.in_(wanted.kinds))
    if wanted.people:
        mine.append(not_(or_(journal.c.by.in_(sorted(MACHINES)), journal.c.by.startswith("signals:"))))
    query = select(journal).where(*mine).order_by(journal.c.at.desc(), journal.c.id.desc()).limit(PAGE + 1)
    return [of_entry(history.entry(row)) for row in connection.execute(query).all()]


def _failed(connection: Connection, node: str, before: Cursor | None) -> list[Line]:
    """Return what failed; not all of a node's results are read, for of some there are a million."""
    recent = select(results.c.id).where(results.c.node == node, *_older(results, FINDINGS, before))
    within = recent.order_by(results.c.id.desc()).limit(LOOKED_AT).subquery()
    failed = select(results).join(within, within.c.id == results.c.id).where(results.c.verdict == Verdict.FAIL.value)
    query = failed.order_by(results.c.at.desc(), results.c.id.desc()).limit(PAGE + 1)
    return [of_result(from_row(row)) for row in connection.execute(query).all()]


def _older(table: Any, source: int, before: Cursor | None) -> list[ColumnElement[bool]]:
    if before is None:
        return []
    below = before.below(source)
    then = table.c.at == before.at
    return [or_(table.c.at < before.at, then if below is None else and_(then, table.c.id < below))]
