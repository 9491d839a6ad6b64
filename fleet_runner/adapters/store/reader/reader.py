"""The reader: what short commands ask of a SQLite store, answered through Python's own sqlite3.

Whatever else is asked, the Store answers, which is opened then. So is it where anything is unusual: no file, another
schema, a full disk, a lock, a file that is damaged. It says what is wrong, or reads all the same.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from fleet_runner.adapters.store.reader.queries import QUERIES, REVISION

if TYPE_CHECKING:
    from fleet_runner.adapters.store.facade import Store

PATIENCE = 10.0
"""Seconds to wait for a lock; the Store's own."""

SQLITE = "sqlite:///"


class AskStoreError(Exception):
    """The reader has no query for what is asked; the Store has."""


class Connection:
    """A store that is read."""

    def __init__(self, made: sqlite3.Connection) -> None:
        self.made = made

    def lines(self, query: str, **given: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query as they are."""
        return self.made.execute(QUERIES[query].sql, given).fetchall()

    def rows(self, query: str, **given: object) -> list[SimpleNamespace]:
        """Return the rows of a query by the names of their columns, JSON read."""
        wanted = QUERIES[query]
        cursor = self.made.execute(wanted.sql, given)
        names = [column[0] for column in cursor.description]
        found = [SimpleNamespace(**dict(zip(names, line, strict=True))) for line in cursor]
        for columns, read in ((wanted.json, json.loads), (wanted.booleans, bool)):
            for row in found if columns else ():
                vars(row).update({name: read(value) for name in columns if (value := getattr(row, name)) is not None})
        return found

    def row(self, query: str, **given: object) -> SimpleNamespace | None:
        """Return the one row that there is, if there is one."""
        return next(iter(self.rows(query, **given)), None)


class Reader:
    """A SQLite store that is only read; it answers as the Store does."""

    shared = False
    refusal = ""

    def __init__(self, url: str, made: sqlite3.Connection) -> None:
        self._url = url
        self._connection = Connection(made)
        self._store: Store | None = None

    def __getattr__(self, name: str) -> Any:
        """Return the method of a name: a query of the reader's own, or the Store's, which answers from then on."""
        own = name in READS and self._store is None
        return partial(self._read, name) if own else getattr(self._opened(), name)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.made.close()
        if self._store is not None:
            self._store.close()

    def _read(self, name: str, *given: Any, **named: Any) -> Any:
        try:
            return READS[name](self._connection, *given, **named)
        except (AskStoreError, sqlite3.Error):
            return getattr(self._opened(), name)(*given, **named)

    def _opened(self) -> "Store":
        if self._store is None:
            self._store = _store(self._url)
        return self._store


def opened(url: str) -> "Store":
    """Open a store that exists, to read it.

    Raises:
        StoreError: there is none, or it has another schema; it says what to do.
    """
    made = _sqlite(Path(url.removeprefix(SQLITE)).absolute()) if url.startswith(SQLITE) else None
    return cast("Store", Reader(url, made)) if made is not None else _store(url)


def _store(url: str) -> "Store":
    from fleet_runner.adapters.store.facade import Store  # noqa: PLC0415  what the reader is there to spare

    return Store.open(url, reading=True)


def _sqlite(path: Path) -> sqlite3.Connection | None:
    """Return a connection that cannot write to a store of this schema; None where the Store has to say what is up."""
    if not path.is_file():
        return None
    try:
        made = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=0.0, isolation_level=None)
    except sqlite3.Error:
        return None
    try:
        made.execute("PRAGMA query_only = ON")
        found = made.execute("SELECT version_num FROM alembic_version").fetchone()
        made.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
    except sqlite3.Error:
        found = None
    if found == (REVISION,):
        return made
    made.close()
    return None


def _rows(family: str) -> Any:
    """Return the module that makes values of a family's rows: each command needs those of a few."""
    return import_module(f"fleet_runner.adapters.store.{family}.rows")


def _node(ask: Connection, name: str) -> Any:
    return next(iter(_rows("lifecycle").nodes(ask.lines("node", node=name))), None)


def _open_runs(ask: Connection, names: Iterable[str] | None = None) -> Any:
    if names is not None:
        raise AskStoreError
    return tuple(sorted(map(_rows("runs").run, ask.rows("open_runs")), key=lambda run: run.id))


def _durations(ask: Connection, stage: str, limit: int = 50) -> Any:
    return tuple(line[0] for line in ask.lines("durations", stage=str(stage), limit=limit))


def _waiting_since(ask: Connection, latest: float) -> float | None:
    found = (ask.lines(query, latest=latest)[0][0] for query in ("waiting", "waiting_1"))
    return min((float(at) for at in found if at is not None), default=None)


def _queue_paused(ask: Connection) -> Any:
    row = ask.row("queue_paused")
    return _rows("budgets").switch(row) if row is not None else None


def _schedules(ask: Connection) -> Any:
    return time.time(), *_rows("schedules").schedules(ask.lines("schedules"), ask.rows("schedules_1"))


def _breaker(ask: Connection) -> Any:
    row = ask.row("breaker")
    return _rows("budgets").breaker(row) if row is not None else None


def _line_at(ask: Connection, number: int) -> float | None:
    return next((line[0] for line in ask.lines("line_at", number=number)), None)


def _identity(ask: Connection) -> Any:
    from fleet_runner.core.access.store_identity import Identity  # noqa: PLC0415  as the rows'

    row = ask.row("identity")
    return Identity(row.id, row.source) if row is not None else None


def _flashes(ask: Connection, query: str, **given: object) -> Any:
    return tuple(sorted(map(_rows("firmware").flash, ask.rows(query, **given)), key=lambda flash: flash.id))


def _alarms(ask: Connection, query: str, **given: object) -> Any:
    return tuple(_rows("faults").alarm(vars(row)) for row in ask.rows(query, **given))


def _standing_alarms(ask: Connection, since: float | None = None) -> Any:
    if since is not None:
        raise AskStoreError
    return _alarms(ask, "standing_alarms")


def _attempts(ask: Connection, node: str, since: float = 0.0) -> Any:
    return tuple(map(_rows("faults").attempt, ask.rows("attempts", node=node, since=since)))


def _boots(ask: Connection, query: str, **given: object) -> Any:
    """Return boots with their steps, both of one moment."""
    ask.made.execute("BEGIN")
    try:
        return _rows("boot").boots(ask.rows(query, **given), ask.lines(f"{query}_1", **given))
    finally:
        ask.made.execute("ROLLBACK")


def _latest_results(ask: Connection, node: str) -> Any:
    return tuple(map(_rows("results").stored, ask.rows("latest_results", node=node)))


def _tickets(ask: Connection, *, node: str | None = None, open_only: bool = True) -> Any:
    query = f"{'' if open_only else 'all_'}tickets{'' if node is None else '_of'}"
    return _rows("tickets").tickets(ask.rows(query, node=node))


def _analysis(ask: Connection, name: str) -> Any:
    from fleet_runner.core.reliability.forecasts import Analysis  # noqa: PLC0415  as the rows'

    row = ask.row("analysis", analysis=name)
    return Analysis(**vars(row)) if row is not None else None


def _foresights(ask: Connection, *, node: str = "", standing: bool = True, limit: int = 1000) -> Any:
    if not node or not standing:
        raise AskStoreError
    rows = ask.rows("foresights", node=node, limit=limit)
    return tuple(_rows("reliability").forecast(row, row.ended_at) for row in rows)


READS: Mapping[str, Callable[..., Any]] = {
    "nodes": lambda ask: _rows("lifecycle").nodes(ask.lines("nodes")),
    "fabrics": lambda ask: _rows("lifecycle").nodes(ask.lines("fabrics")),
    "node": _node,
    "open_runs": _open_runs,
    "durations": _durations,
    "waiting_since": _waiting_since,
    "queue_paused": _queue_paused,
    "schedules": _schedules,
    "beats": lambda ask: {row.who: row.at for row in ask.rows("beats")},
    "breaker": _breaker,
    "line_at": _line_at,
    "identity": _identity,
    "modes": lambda ask: tuple(map(_rows("budgets").setting, ask.rows("modes"))),
    "open_flashes": lambda ask: _flashes(ask, "open_flashes"),
    "open_flash": lambda ask, node: next(iter(_flashes(ask, "open_flash", node=node)), None),
    "standing_alarms": _standing_alarms,
    "alarms": lambda ask, node: _alarms(ask, "alarms", node=node),
    "attempts": _attempts,
    "open_boots": lambda ask: _boots(ask, "open_boots"),
    "boots": lambda ask, node, limit=20: _boots(ask, "boots", node=node, limit=limit),
    "latest_results": _latest_results,
    "tickets": _tickets,
    "analysis": _analysis,
    "foresights": _foresights,
}
"""The Store's methods that the reader answers itself."""
