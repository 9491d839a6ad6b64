"""What a report is made of, read row by row: what is held at once grows with the fleet, not with its past."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Executable, Row, and_, or_, select, text

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.core import journal, nodes, results, ticket_nodes, tickets
from fleet_runner.adapters.store.schema.remedies import COUNTED, alarms, attempts
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.report.figures import Found
from fleet_runner.core.reliability.report.rows import Fault, Fix, Hold, PastRemedy, Span, Step, Unread
from fleet_runner.core.reliability.report.stories import Story, story

PIECE = 2_000
"""Rows that are fetched at a time."""

MOST = 200_000
"""Faults, and answers that say nothing, that are counted of a span: a fleet with more has other worries."""

CHUNK = 500

HOLDS = ("Held: ", "Maintenance: ")

Progress = Callable[[str], None]


class ReportMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def report_rows(self, span: Span, progress: Progress) -> Found:
        """Read what a report of a span needs, and of the span before it; `progress` is told what is read."""
        return self.reports_rows((span,), span.until, progress)[0]

    def reports_rows(self, spans: Sequence[Span], until: float, progress: Progress) -> tuple[Found, ...]:
        """Read what reports of several spans need, at one moment; the stories of nodes once, up to `until`."""
        with self._database.one_moment(), self._database.read() as connection:
            progress("transitions")
            every = list(stories(connection, until))
            return tuple(_found(connection, span, every, progress) for span in spans)


def _found(connection: Connection, span: Span, every: list[Story], progress: Progress) -> Found:
    """Read what the report of a span needs beside the stories."""
    found = Found(stories=every)
    progress("faults")
    _faults(connection, found, span)
    progress("tickets, remedies and holds")
    found.fixes = fixes(connection, span)
    found.tried = _tried(connection, span)
    found.holds = list(holds(connection, span))
    progress("what took nodes out")
    found.codes = _codes(connection, _wanted(found.stories, span))
    return found


def _rows(connection: Connection, query: Executable) -> Iterator[Row[Any]]:
    """Read rows without holding all of them."""
    with connection.execution_options(yield_per=PIECE).execute(query) as answer:
        yield from answer


def told(connection: Connection, until: float, names: Sequence[str] | None = None) -> Iterator[Story]:
    """Tell each node's story from its transitions; or those of some nodes."""
    columns = (journal.c.node, journal.c.at, journal.c.state, journal.c.event, journal.c.to, journal.c.by)
    moved = select(*columns, journal.c.results).where(journal.c.kind == "transition", journal.c.at < until)
    moved = moved if names is None else moved.where(journal.c.node.in_(names))
    ordered = _rows(connection, moved.order_by(journal.c.node, journal.c.id))
    for node, rows in groupby(ordered, key=lambda row: row.node):
        yield story(node, map(_step, rows))


def stories(connection: Connection, until: float) -> Iterator[Story]:
    """Tell each node's story from its transitions, and of a node that has none from where it is."""
    moved: set[str] = set()
    for each in told(connection, until):
        moved.add(each.node)
        yield each
    here = select(nodes.c.name, nodes.c.since).where(
        nodes.c.state == State.PRODUCTION.value, nodes.c.device_type.not_in(FABRIC_TYPES), nodes.c.since < until
    )
    for row in connection.execute(here).all():
        if row.name not in moved:
            yield Story(row.name, served=((row.since, None),))


def _step(row: Row[Any]) -> Step:
    ends = (State(row.state), Event(row.event), State(row.to))
    return Step(row.node, row.at, *ends, row.by, tuple(row.results))


def _faults(connection: Connection, found: Found, span: Span) -> None:
    """Count each fault once a node, however often it was seen."""
    seen: dict[str, set[str]] = {"this": set(), "before": set()}  # a bad week before takes no room from this one
    untold = Counter[str]()
    columns = (results.c.node, results.c.check, results.c.verdict, results.c.at, results.c.findings)
    notable = text("results.verdict IN ('FAIL', 'UNKNOWN')")
    query = select(*columns).where(notable, *_both(results.c.at, span)).order_by(results.c.id)
    for row in _rows(connection, query):
        which = "this" if span.holds(row.at) else "before"
        if row.verdict == Verdict.UNKNOWN.value:
            untold[which] += 1
            if untold[which] <= MOST:
                found.unread.append(Unread(row.node, row.check, row.at))
            continue
        for finding in row.findings:
            key = f"{row.node} {finding['fault']}"
            if key not in seen[which] and len(seen[which]) < MOST:
                seen[which].add(key)
                found.faults.append(Fault(row.node, finding["code"], finding["fault"], row.at))
    raised = select(alarms).where(COUNTED, alarms.c.raised_at < span.until)
    recent = raised.where(or_(alarms.c.cleared_at.is_(None), alarms.c.cleared_at >= span.before().since))
    for row in _rows(connection, recent.order_by(alarms.c.id).limit(MOST)):
        alarm = Fault(row.node, row.code, row.fault, row.raised_at, row.cleared_at)
        found.faults.append(alarm)
        found.alarms.setdefault(row.node, []).append(alarm)


def fixes(connection: Connection, span: Span) -> list[Fix]:
    """Return the tickets that stood at any time of a span, or of the one before it."""
    since = span.before().since
    mine = and_(tickets.c.opened_at < span.until, or_(tickets.c.closed_at.is_(None), tickets.c.closed_at >= since))
    named: dict[int, list[str]] = {}
    both = select(ticket_nodes).join(tickets, tickets.c.id == ticket_nodes.c.ticket).where(mine)
    for row in _rows(connection, both.order_by(ticket_nodes.c.ticket, ticket_nodes.c.node)):
        named.setdefault(row.ticket, []).append(row.node)
    columns = (tickets.c.id, tickets.c.title, tickets.c.remedy, tickets.c.opened_at, tickets.c.closed_at)
    return [
        Fix(row.id, row.title, row.remedy, tuple(named.get(row.id, ())), row.opened_at, row.closed_at)
        for row in _rows(connection, select(*columns).where(mine).order_by(tickets.c.id))
    ]


def _tried(connection: Connection, span: Span) -> list[PastRemedy]:
    query = select(attempts.c.node, attempts.c.remedy, attempts.c.at, attempts.c.helped)
    rows = _rows(connection, query.where(*_both(attempts.c.at, span)).order_by(attempts.c.id))
    return [PastRemedy(row.node, row.remedy, row.at, row.helped) for row in rows]


def holds(connection: Connection, span: Span, names: Sequence[str] | None = None) -> Iterator[Hold]:
    """Read who held what; one that began earlier and lasts is told of by the store's lines from before, too."""
    query = select(journal.c.node, journal.c.at, journal.c.by, journal.c.sentence).where(
        journal.c.kind == "condition",
        journal.c.at < span.until,
        or_(*(journal.c.sentence.startswith(word, autoescape=True) for word in (*HOLDS, "Released"))),
    )
    query = query if names is None else query.where(journal.c.node.in_(names))
    for row in _rows(connection, query.order_by(journal.c.id)):
        begins = row.sentence.startswith(HOLDS)
        yield Hold(row.node, row.at, row.by, row.sentence.partition(": ")[2] if begins else "", begins)


def _wanted(stories: Iterable[Story], span: Span) -> list[int]:
    """Return the results from which it was decided to take nodes out."""
    since = span.before().since
    every = (each for told in stories for each in told.exclusions if each.begins < span.until)
    return sorted(
        {number for each in every if each.ends is None or each.ends >= since for number in each.step.results}
    )


def _codes(connection: Connection, wanted: list[int]) -> dict[int, str]:
    """Return the first finding's code of results."""
    found: dict[int, str] = {}
    for start in range(0, len(wanted), CHUNK):
        query = select(results.c.id, results.c.findings).where(results.c.id.in_(wanted[start : start + CHUNK]))
        found |= {row.id: row.findings[0]["code"] for row in connection.execute(query) if row.findings}
    return found


def _both(column: Any, span: Span) -> tuple[Any, Any]:
    """Return what holds of moments in a span and in the one before it."""
    return column >= span.before().since, column < span.until
