"""What the store tells of nodes for lemons: what became of them, and who held them, row by row."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.reliability.report import fixes, stories
from fleet_runner.adapters.store.schema.core import journal
from fleet_runner.adapters.store.schema.remedies import attempts, cases
from fleet_runner.core.reliability.lemons.signals import Ended, NodeHistory
from fleet_runner.core.reliability.report.rows import Hold, PastRemedy, Span

HELD = "Held: "
"""How a line of a hold begins; planned work begins otherwise, and says nothing of the node."""


class LemonMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def past_of_nodes(self, since: float, until: float, progress: Callable[[str], None]) -> NodeHistory:
        """Return what happened to nodes in a span; faults, parts and jobs are read elsewhere."""
        with self._database.one_moment(), self._database.read() as connection:
            progress("transitions")
            told = tuple(stories(connection, until))
            progress("tickets, remedies, holds and cases")
            middle = (since + until) / 2  # a report reads a span and the one before it
            return NodeHistory(
                stories=told,
                fixes=tuple(fixes(connection, Span(middle, until))),
                ended=tuple(_ended(connection, since)),
                holds=tuple(_holds(connection, since)),
                cases=_cases(connection, since),
            )


def _ended(connection: Connection, since: float) -> Iterator[Ended]:
    mine = select(attempts).where(attempts.c.at >= since, attempts.c.ended_at.is_not(None)).order_by(attempts.c.id)
    for row in connection.execute(mine):
        yield Ended(PastRemedy(row.node, row.remedy, row.at, row.helped), row.ended_at)


def _holds(connection: Connection, since: float) -> Iterator[Hold]:
    mine = select(journal.c.node, journal.c.at, journal.c.by, journal.c.sentence).where(
        journal.c.kind == "condition", journal.c.at >= since, journal.c.sentence.startswith(HELD, autoescape=True)
    )
    for row in connection.execute(mine.order_by(journal.c.id)):
        yield Hold(row.node, row.at, row.by, row.sentence.removeprefix(HELD), begins=True)


def _cases(connection: Connection, since: float) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    mine = select(cases.c.node, cases.c.opened_at).where(cases.c.opened_at >= since).order_by(cases.c.id)
    for row in connection.execute(mine):
        found[row.node].append(row.opened_at)
    return dict(found)
