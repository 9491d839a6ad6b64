"""One request and what became of it, by its number."""

from sqlalchemy import select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.core import intents
from fleet_runner.core.access.api import NodeRequest
from fleet_runner.core.lifecycle.runs import IntentKind


class IntentMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def find_intent(self, number: int) -> NodeRequest | None:
        """Return a request with its answer, or None where there is none of this number."""
        with self._database.read() as connection:
            row = connection.execute(select(intents).where(intents.c.id == number)).one_or_none()
        if row is None:
            return None
        accepted = bool(row.accepted) if row.answered_at is not None else None
        return NodeRequest(
            row.id, row.node, IntentKind(row.kind), row.by, row.at, row.reason, row.detail, accepted, row.answer or ""
        )
