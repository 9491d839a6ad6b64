"""Looking for stored results, the newest first, and for the evidence behind them."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, select, text

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.results.results import in_chunks
from fleet_runner.adapters.store.results.rows import stored as from_row
from fleet_runner.adapters.store.schema.core import NOTABLE, evidence, results
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence

PAGE = 500
"""Rows that are read at a time where some of them may be too old: ids grow with time, but not strictly."""


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """Which results are meant; what is empty narrows nothing. `since` is in epoch seconds."""

    node: str = ""
    check: str = ""
    verdict: Verdict | None = None
    since: float = 0.0


class SearchMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def find_results(self, sought: ResultFilter, *, below: int | None = None, limit: int = 50) -> tuple[Stored, ...]:
        """Return the newest `limit` results, newest first, of those with an id below `below`."""
        with self._database.read() as connection:
            return found(connection, sought, below, limit)

    def pieces(self, hashes: Iterable[str]) -> dict[str, Evidence]:
        """Return the evidence that is still there, by its hash; `node` is empty: the same text may be of several."""
        with self._database.read() as connection:
            return texts(connection, hashes)


def found(connection: Connection, sought: ResultFilter, below: int | None, limit: int) -> tuple[Stored, ...]:
    """Walk an index backwards until there are enough, or a whole page is older than asked for."""
    kept: list[Stored] = []
    size = max(PAGE, limit) if sought.since else limit
    while len(kept) < limit:
        rows = connection.execute(query(sought, below).limit(size)).all()
        within = [row for row in rows if row.at >= sought.since]
        kept += [from_row(row) for row in within[: limit - len(kept)]]
        if len(rows) < size or not within:
            break
        below = rows[-1].id
    return tuple(kept)


def query(sought: ResultFilter, below: int | None) -> Select[Any]:
    """Return the query behind `found`, without its limit: in the order of an index that holds what is asked for."""
    asked = select(results).order_by(results.c.id.desc())
    if sought.node:
        asked = asked.where(results.c.node == sought.node)
    if sought.check:
        asked = asked.where(results.c.check == sought.check)
    if sought.verdict is not None:
        asked = asked.where(results.c.verdict == sought.verdict.value)
        if sought.verdict in {Verdict.FAIL, Verdict.UNKNOWN}:
            asked = asked.where(text(f"results.{NOTABLE.text}"))
    return asked if below is None else asked.where(results.c.id < below)


def texts(connection: Connection, hashes: Iterable[str]) -> dict[str, Evidence]:
    """Return evidence by its hash; what was not kept, or is gone, is left out."""
    rows = in_chunks(connection, select(evidence), evidence.c.hash, hashes)
    return {row.hash: Evidence("", row.at, row.read, row.hash, zlib.decompress(row.body).decode()) for row in rows}
