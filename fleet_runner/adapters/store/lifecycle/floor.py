"""What pages of the whole fleet ask the store: what changed, what moved last, and how nodes moved over days."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Integer, Row, Select, bindparam, cast, func, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.lifecycle import nodes as node_rows
from fleet_runner.adapters.store.schema.core import LIVE, intents, journal, nodes, runs, tickets
from fleet_runner.adapters.store.schema.remedies import STANDING, alarms
from fleet_runner.core.lifecycle.days import Moved
from fleet_runner.core.lifecycle.runs import Entry, Node
from fleet_runner.core.lifecycle.service_time import Passage
from fleet_runner.core.lifecycle.states import SERVING, State
from fleet_runner.core.schedules.retention import DAY

LINES = 20_000
"""Lines of the journal that are searched for what moved last."""

MOST = 1_000_000
"""Lines of the journal that days are counted from; older ones are left out, and the days begin later."""

CHUNK = 500

Mark = tuple[float, ...]
"""Differs whenever a node, an open run, a ticket or an alarm does."""


class FloorMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def mark(self) -> Mark:
        """Return what differs once anything does that a page of the whole fleet shows."""
        with self._database.read() as connection:
            return tuple(float(value or 0) for query in _MARK for value in connection.execute(query).one())

    def some_nodes(self, names: Iterable[str]) -> tuple[Node, ...]:
        """Return nodes by their names; unknown ones are left out."""
        with self._database.read() as connection:
            return node_rows.some(connection, names)

    def recent_moves(self, limit: int) -> tuple[Entry, ...]:
        """Return the newest `limit` transitions of all nodes, the newest first."""
        with self._database.read() as connection:
            last = connection.execute(select(func.max(journal.c.id))).scalar_one() or 0
            mine = select(journal).where(journal.c.id > last - LINES, journal.c.kind == "transition")
            rows = connection.execute(mine.order_by(journal.c.id.desc()).limit(limit)).all()
            return tuple(map(history.entry, rows))

    def moved(self, since: float) -> tuple[float, tuple[Moved, ...]]:
        """Return how many nodes went from which state to which on each day since a moment.

        First comes the moment from which on that is whole: where more was written since than can be counted, it is
        so many days later.
        """
        with self._database.read() as connection:
            last = connection.execute(select(func.max(journal.c.id))).scalar_one() or 0
            first = max(_first(connection, since, last), last - MOST)
            at = connection.execute(select(journal.c.at).where(journal.c.id <= first).order_by(journal.c.id.desc()))
            before = at.scalars().first() or 0.0
            late = max(0, -int((since - before) // DAY)) if before > since else 0
            began = since + late * DAY
            rows = connection.execute(_moved(), {"first": first, "began": began, "begins": int(began)}).all()
            return began, tuple(_counted(row) for row in rows)

    def passages(self, since: float) -> tuple[Passage, ...]:
        """Return the transitions of all nodes since a moment, in the order in which they were written."""
        columns = (journal.c.node, journal.c.at, journal.c.state, journal.c.to)
        with self._database.read() as connection:
            last = connection.execute(select(func.max(journal.c.id))).scalar_one() or 0
            mine = (journal.c.id > _first(connection, since, last), journal.c.kind == "transition")
            query = select(*columns).where(*mine, journal.c.at >= since).order_by(journal.c.id)
            return tuple(
                Passage(node, at, _STATES[state], _STATES[to]) for node, at, state, to in connection.execute(query)
            )

    def moves(self, names: Iterable[str], since: float) -> tuple[Entry, ...]:
        """Return the transitions of some nodes since a moment, oldest first."""
        with self._database.read() as connection:
            found = [each for some in _chunks(names) for each in history.moves(connection, some, since)]
        return tuple(sorted(found, key=lambda each: (each.at, each.id)))

    def served_first(self, names: Iterable[str]) -> dict[str, float]:
        """Return when each of some nodes came to serve for the first time; those that never did are left out."""
        with self._database.read() as connection:
            rows = [row for some in _chunks(names) for row in connection.execute(_SERVED, {"names": some})]
        return {node: float(at) for node, at in rows}

    def waiting_since(self, latest: float) -> float | None:
        """Return the earliest moment up to another for which a node is due; None where none is.

        A node that was woken, not scheduled, is due since the request that woke it was left.
        """
        with self._database.read() as connection:
            found = [connection.execute(query, {"latest": latest}).scalar_one() for query in _WAITING]
        return min((float(at) for at in found if at is not None), default=None)


_STATES = {state.value: state for state in State}
"""States by their words: of thousands of lines, an enumeration's own look costs as much as the reading."""

_MARK = (
    # Each gives a row of numbers.
    select(func.count(), func.sum(nodes.c.version)),
    select(func.max(journal.c.id)),
    select(func.count(), func.max(runs.c.id), func.sum(runs.c.done)).where(runs.c.ended_at.is_(None)),
    select(func.count(), func.max(tickets.c.id)).where(tickets.c.closed_at.is_(None)),
    select(func.count(), func.max(alarms.c.id)).where(STANDING),
)

_SERVED = (
    select(journal.c.node, func.min(journal.c.at))
    .where(
        journal.c.node.in_(bindparam("names", expanding=True)),
        journal.c.to.in_([state.value for state in SERVING]),
        journal.c.kind == "transition",
    )
    .group_by(journal.c.node)
)

_WAITING: tuple[Select[Any], ...] = (
    select(func.min(nodes.c.wake_at)).where(nodes.c.wake_at > 0, nodes.c.wake_at <= bindparam("latest"), LIVE),
    select(func.min(intents.c.at))
    .join_from(intents, nodes, nodes.c.name == intents.c.node)
    .where(intents.c.answered_at.is_(None), intents.c.at <= bindparam("latest"), nodes.c.wake_at <= 0, LIVE),
)


def _moved() -> Select[Any, Any, Any, Any]:
    """Days are told apart by whole seconds: the two databases round halves in different ways."""
    day = (cast(journal.c.at, Integer) - bindparam("begins", type_=Integer)) / int(DAY)
    mine = (
        journal.c.id > bindparam("first"),
        journal.c.kind == "transition",
        journal.c.at >= bindparam("began"),
    )
    of_day = cast(func.floor(day), Integer).label("day")
    columns = (journal.c.state, journal.c.to, func.count().label("number"))
    return select(of_day, *columns).where(*mine).group_by(of_day, journal.c.state, journal.c.to)


def _first(connection: Connection, since: float, last: int) -> int:
    """Return a line before the first since a moment, found by halving: lines come in the order of time, nearly."""
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        next_one = select(journal.c.at).where(journal.c.id >= middle).order_by(journal.c.id).limit(1)
        at = connection.execute(next_one).scalar_one()
        low, high = (middle, high) if at < since else (low, middle)
    return max(0, low - CHUNK)


def _counted(row: Row[Any, Any, Any, Any]) -> Moved:
    return Moved(int(row.day), State(row.state), State(row.to), int(row.number))


def _chunks(names: Iterable[str]) -> Iterable[list[str]]:
    wanted = sorted(set(names))
    return (wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK))
