"""One request and what became of it, by its number, or by who asked."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, select, update

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.lifecycle import history, intents
from fleet_runner.adapters.store.schema import core
from fleet_runner.core.access.api import NodeRequest
from fleet_runner.core.lifecycle.intents import WITHDRAWN
from fleet_runner.core.lifecycle.runs import RUNNER, Entry, Intent, IntentKind

CHUNK = 500


class IntentMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def find_intent(self, number: int) -> NodeRequest | None:
        """Return a request with its answer, or None where there is none of this number."""
        with self._database.read() as connection:
            row = connection.execute(select(core.intents).where(core.intents.c.id == number)).one_or_none()
        return _request(row) if row is not None else None

    def asked_by(self, names: Iterable[str]) -> dict[str, NodeRequest]:
        """Return the first request of each of those who asked, whatever they asked to cancel aside."""
        there, wanted = core.intents.c, sorted(set(names))
        found: dict[str, NodeRequest] = {}
        with self._database.read() as connection:
            for start in range(0, len(wanted), CHUNK):
                mine = (there.by.in_(wanted[start : start + CHUNK]), there.kind != IntentKind.CANCEL.value)
                for row in connection.execute(select(core.intents).where(*mine).order_by(there.id)).all():
                    found.setdefault(row.by, _request(row))
        return found

    def unanswered(self, prefix: str) -> tuple[NodeRequest, ...]:
        """Return what is asked, and not answered yet, by those whose name begins so, but to cancel; oldest first."""
        there = core.intents.c
        mine = (
            there.answered_at.is_(None),
            there.kind != IntentKind.CANCEL.value,
            there.by.startswith(prefix, autoescape=True),
        )
        with self._database.read() as connection:
            rows = connection.execute(select(core.intents).where(*mine).order_by(there.id)).all()
        return tuple(_request(row) for row in rows)

    def leave_once(self, intent: Intent) -> bool:
        """Leave a request, unless whoever asks has left one, or for a cancel a cancel; say whether it was left."""
        there = core.intents.c
        cancels = there.kind == IntentKind.CANCEL.value
        alike = cancels if intent.kind is IntentKind.CANCEL else ~cancels
        same = select(there.id).where(there.by == intent.by, alike)
        with self._database.write() as connection:
            if connection.execute(same.limit(1)).first() is not None:
                return False
            intents.leave(connection, intent)
            return True

    def withdraw_request(self, request: NodeRequest, why: str, now: float) -> bool:
        """Take back a request: at once where nobody has answered it, else what it made pending is to be cancelled.

        Say whether anything was left to be done.
        """
        there = core.intents.c
        said = {"answered_at": now, "accepted": False, "answer": why}
        mine = update(core.intents).where(there.id == request.id, there.answered_at.is_(None))
        with self._database.write() as connection:
            if connection.execute(mine.values(said)).rowcount == 1:
                history.add(connection, [Entry(0, request.node, now, "intent", why, RUNNER)])
                return True
        return self.leave_once(Intent(0, request.node, IntentKind.CANCEL, request.by, now, why, WITHDRAWN))


def _request(row: Row[Any]) -> NodeRequest:
    accepted = bool(row.accepted) if row.answered_at is not None else None
    kind = IntentKind(row.kind)
    return NodeRequest(row.id, row.node, kind, row.by, row.at, row.reason, row.detail, accepted, row.answer or "")
