"""Which of many nodes the store says anything about, and what is written of those of which nothing follows.

Both are done for hundreds of nodes at a time: one look and one change each was most of what a large fleet costs.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, TextClause, bindparam, exists, select, update

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.results.results import in_chunks
from fleet_runner.adapters.store.schema.core import intents, latest, nodes, runs, ticket_nodes, tickets
from fleet_runner.adapters.store.schema.remedies import STANDING, alarms
from fleet_runner.core.lifecycle.actions import Decision
from fleet_runner.core.lifecycle.runs import Node


class Unmentioned(NamedTuple):
    """The nodes that are known to have no run, result, unanswered request, open ticket or standing alarm."""

    runs: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    intents: frozenset[str] = frozenset()
    tickets: frozenset[str] = frozenset()
    alarms: frozenset[str] = frozenset()


def _any(found: ColumnElement[str], *more: ColumnElement[bool] | TextClause) -> ColumnElement[bool]:
    return exists().where(found == nodes.c.name, *more)


_COLUMNS: list[ColumnElement[Any]] = [
    nodes.c.name,
    _any(runs.c.node),
    _any(latest.c.node),
    _any(intents.c.node, intents.c.answered_at.is_(None)),
    _any(ticket_nodes.c.node, ticket_nodes.c.ticket == tickets.c.id, tickets.c.closed_at.is_(None)),
    _any(alarms.c.node, STANDING),
]
_MENTIONED = select(*_COLUMNS)
_VERSIONS = select(*[nodes.c.name, nodes.c.version]).with_for_update(key_share=True)
_REST = (
    update(nodes)
    .where(nodes.c.name == bindparam("_name"))
    .values(version=nodes.c.version + 1, waiting=bindparam("_waiting"), wake_at=bindparam("_wake_at"))
)


class RestMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def unmentioned(self, names: Iterable[str]) -> Unmentioned:
        """Return which of some nodes there is nothing to be read of."""
        with self._database.read() as connection:
            rows = in_chunks(connection, _MENTIONED, nodes.c.name, names)
        kinds = enumerate(Unmentioned._fields, 1)
        return Unmentioned(**{kind: frozenset(row[0] for row in rows if not row[at]) for at, kind in kinds})

    def rest(self, decided: Sequence[tuple[Node, Decision]]) -> tuple[str, ...]:
        """Keep what nodes wait for of which nothing follows now; return those that changed since they were read."""
        with self._database.write() as connection:
            return _rest(connection, decided)


def _rest(connection: Connection, decided: Sequence[tuple[Node, Decision]]) -> tuple[str, ...]:
    found = in_chunks(connection, _VERSIONS, nodes.c.name, (node.name for node, _ in decided))
    held = {row.name: row.version for row in found}
    same = [(node, decision) for node, decision in decided if held.get(node.name) == node.version]
    if same:
        rows = [{"_name": node.name, "_waiting": each.waiting, "_wake_at": each.wake_at} for node, each in same]
        connection.execute(_REST, rows)
    return tuple(node.name for node, _ in decided if held.get(node.name) != node.version)
