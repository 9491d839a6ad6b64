"""What the store has of some nodes in a time, for the question why a job of theirs ended.

Everything is read by an index and bounded; what was too much is said. A week of 1,000 nodes may hold millions of
results: see `looks`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select, bindparam, or_, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.faults import rows as fault_rows
from fleet_runner.adapters.store.firmware import rows as flash_rows
from fleet_runner.adapters.store.jobs import looks, measured
from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.runs import rows as run_rows
from fleet_runner.adapters.store.schema.core import journal, runs
from fleet_runner.adapters.store.schema.firmware import flashes
from fleet_runner.adapters.store.schema.remedies import alarms, attempts
from fleet_runner.adapters.store.tickets import tickets as ticket_records
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.jobs.known import OURS, Known
from fleet_runner.core.jobs.node_measures import Measured
from fleet_runner.core.schedules.retention import DAY

CHUNK = 500
"""Nodes that are asked for at a time."""

MOST = 20_000
"""Rows of each kind that are read, the newest ones."""

AFTER = 7_200.0
"""Seconds after a job's end in which what is found then may tell of its time."""

LONGEST_RUN = DAY
"""Seconds before a job's begin from which on a run of ours may still go on."""

Value = TypeVar("Value")


class KnownMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def known_of_job(self, names: Iterable[str], since: float, until: float) -> Known:
        """Return what happened to some nodes from when a job began until it ended, or until now, oldest first.

        Names that are no nodes here are left out, and said.
        """
        wanted = sorted(set(names))
        with self._database.one_moment(), self._database.read() as connection:
            there = nodes.some(connection, wanted)
            mine = [node.name for node in there]
            seen, booted, left_out = looks.found(connection, mine, (since, until, until + AFTER))
            pieces = _Pieces(connection, mine, left_out)
            if len(mine) < len(wanted):
                strange = [name for name in wanted if name not in set(mine)]
                left_out.append(f"{len(strange)} of its nodes are not known here, like {strange[0]:.80}.")
            return Known(
                since, until, there,
                pieces.read("signals", _ALARMS, _alarm, since, until),
                tuple(seen), tuple(booted),
                pieces.read("moves", _entries("transition"), history.entry, since, until),
                pieces.read("conditions", _entries("condition"), history.entry, since, until),
                pieces.read("runs", _RUNS, run_rows.run, since, until),
                pieces.read("flashes", _FLASHES, flash_rows.flash, since, until),
                pieces.read("attempts", _ATTEMPTS, fault_rows.attempt, since, until),
                ticket_records.of_nodes(connection, mine, since),
                tuple(left_out),
            )  # fmt: skip

    def measured_of_job(
        self, names: Iterable[str], since: float, until: float
    ) -> tuple[tuple[Measured, ...], dict[str, str]]:
        """Return what sweeps measured of some nodes in a time, and the nodes' device types.

        That is most of what the store has of a job, and only one that nothing ended needs it.
        """
        with self._database.one_moment(), self._database.read() as connection:
            types = {node.name: node.device_type for node in nodes.some(connection, sorted(set(names)))}
            return measured.read(connection, list(types), since, until), types


def _alarm(row: Row[Any]) -> Alarm:
    return fault_rows.alarm(row._mapping)  # noqa: SLF001  SQLAlchemy's own name for it, public by its documentation


class _Pieces:
    """Reads of some nodes, so many at a time."""

    def __init__(self, connection: Connection, names: Sequence[str], left_out: list[str]) -> None:
        self._connection = connection
        self._names = names
        self._left_out = left_out

    def read(
        self, what: str, query: Select[Any], value: Callable[[Row[Any]], Value], since: float, until: float
    ) -> tuple[Value, ...]:
        """Return rows as values, oldest first; the newest of them where they are too many."""
        found: list[Row[Any]] = []
        given = {"since": since, "until": until + AFTER, "begun": since - LONGEST_RUN}
        for start in range(0, len(self._names), CHUNK):
            piece = self._names[start : start + CHUNK]
            rows = self._connection.execute(query.limit(MOST), given | {"names": piece}).all()
            if len(rows) == MOST:
                self._left_out.append(f"Of the {what} of {len(piece)} nodes only the newest {MOST} were read.")
            found += rows
        return tuple(value(row) for row in sorted(found, key=lambda row: row.id))


def _of(table: Any, *conditions: Any) -> Select[Any]:
    wanted = table.c.node.in_(bindparam("names", expanding=True))
    return select(table).where(wanted, *conditions).order_by(table.c.id.desc())


_SINCE: Any = bindparam("since")
_UNTIL: Any = bindparam("until")

_ALARMS = _of(
    alarms,
    alarms.c.first_at <= _UNTIL,
    or_(alarms.c.cleared_at.is_(None), alarms.c.cleared_at >= _SINCE, alarms.c.last_at >= _SINCE),
)
_RUNS = _of(
    runs,
    runs.c.opened_at.between(bindparam("begun"), _UNTIL),
    or_(runs.c.ended_at.is_(None), runs.c.ended_at >= _SINCE),
    runs.c.stage.in_([stage.value for stage in OURS]),
)
_FLASHES = _of(
    flashes,
    flashes.c.intended_at <= _UNTIL,
    or_(flashes.c.ended_at.is_(None), flashes.c.ended_at >= _SINCE),
)
_ATTEMPTS = _of(attempts, attempts.c.at >= _SINCE)
"""What was tried after a job's end was tried for it, too, mostly."""


def _entries(kind: str) -> Select[Any]:
    return _of(journal, journal.c.at.between(_SINCE, _UNTIL), journal.c.kind == kind)
