"""Which evidence something still rests on: retention leaves it alone, however old it is."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, Select, select, type_coerce

from fleet_runner.adapters.store.engine.columns import Words
from fleet_runner.adapters.store.results.results import in_chunks
from fleet_runner.adapters.store.schema.core import NOTABLE, journal, latest, nodes, results, runs, tickets
from fleet_runner.adapters.store.schema.remedies import STANDING, alarms, cases
from fleet_runner.core.checks.verdicts import Verdict

BEFORE = 7 * 86_400.0
"""Seconds before a case was opened, or an alarm was raised, within which faults of the node count as its grounds."""

AFTER = 3600.0
"""Seconds after which nothing that was said was a ground for it; a ticket's are as near before it."""

_EVIDENCE = select(results.c.evidence)


def hashes(connection: Connection) -> frozenset[str]:
    """Return the hashes of all evidence that must stay.

    It is that of results among the newest, of open runs, of open tickets, open cases and standing alarms, and of
    what brought each node to where it is.
    """
    asked = (
        _EVIDENCE.join_from(latest, results, results.c.id == latest.c.result),
        _EVIDENCE.join_from(latest, results, results.c.id == latest.c.spoke),
        _EVIDENCE.join_from(runs, results, results.c.run == runs.c.id).where(runs.c.ended_at.is_(None)),
        *(_of_ticket(row) for row in connection.execute(select(tickets).where(tickets.c.closed_at.is_(None))).all()),
        *(_of_node(row.node, row.opened_at) for row in connection.execute(_OPEN_CASES).all()),
        *(_of_node(row.node, row.raised_at) for row in connection.execute(_RAISED).all()),
    )
    found = (digest for query in asked for row in connection.execute(query) for digest in row.evidence)
    moved = in_chunks(connection, _EVIDENCE.add_columns(results.c.id), results.c.id, stays(connection))
    return frozenset((*found, *(digest for row in moved for digest in row.evidence)))


def stays(connection: Connection) -> frozenset[int]:
    """Return the results that brought each node to its state, and what was decided there."""
    mine = select(journal.c.results).join_from(nodes, journal, journal.c.node == nodes.c.name)
    named = connection.execute(mine.where(journal.c.at >= nodes.c.since, journal.c.results != [])).scalars()
    return frozenset(number for numbers in named for number in numbers)


def named(connection: Connection, node: str, since: float) -> Iterable[int]:
    """Return the results of a node that its history has named since a moment, and the newest of each check."""
    mine = select(journal.c.results).where(journal.c.node == node, journal.c.at >= since, journal.c.results != [])
    yield from (number for numbers in connection.execute(mine).scalars() for number in numbers)
    for row in connection.execute(select(latest.c.result, latest.c.spoke).where(latest.c.node == node)):
        yield from (number for number in (row.result, row.spoke) if number is not None)


_OPEN_CASES = select(cases.c.node, cases.c.opened_at).where(cases.c.ended_at.is_(None))
_RAISED = select(alarms.c.node, alarms.c.raised_at).where(STANDING, alarms.c.raised_at.is_not(None))
_FAILED = (results.c.verdict == Verdict.FAIL.value, NOTABLE)


def _of_ticket(ticket: Row[Any]) -> Select[Any]:
    """Return what asks for the evidence in which a ticket's fault was seen when it was opened."""
    fault = json.dumps(ticket.fault)
    when = results.c.at.between(ticket.opened_at - AFTER, ticket.opened_at + AFTER)
    seen = type_coerce(results.c.findings, Words).contains(fault, autoescape=True)
    return _EVIDENCE.where(*_FAILED, results.c.check == ticket.check, when, seen)


def _of_node(node: str, opened_at: float) -> Select[Any]:
    """Return what asks for the evidence of a node's faults before a moment."""
    when = results.c.at.between(opened_at - BEFORE, opened_at + AFTER)
    return _EVIDENCE.where(*_FAILED, results.c.node == node, when)
