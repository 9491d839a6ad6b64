"""Whose a store is: its id and its source, as it was made and as people accepted it since; the last row holds."""

from sqlalchemy import Connection, func, insert, select

from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.core import journal
from fleet_runner.adapters.store.schema.runners import ownership
from fleet_runner.core.access.store_identity import Identity, Remembered


class OwnershipMethods:
    """Methods of the Store about whose it is."""

    _database: Database

    def identity(self) -> Identity | None:
        """Return the store's identity, None where it has none yet."""
        with self._database.read() as connection:
            row = connection.execute(select(ownership).order_by(ownership.c.number.desc()).limit(1)).one_or_none()
        return Identity(row.id, row.source) if row is not None else None

    def own(self, identity: Identity, by: str, reason: str, now: float) -> None:
        """Give the store an identity, or say who accepted it and why."""
        words = {"by": bounds.words(by), "reason": bounds.words(reason)}
        with self._database.write() as connection:
            connection.execute(
                insert(ownership), [{"id": identity.id, "source": identity.source, "at": now, **words}]
            )

    def last_line(self) -> tuple[int, float]:
        """Return the number and the moment of the history's last line, 0 and 0.0 where it has none."""
        with self._database.read() as connection:
            return _last(connection)

    def line_at(self, number: int) -> float | None:
        """Return the moment of a line of the history, None where there is none."""
        with self._database.read() as connection:
            return connection.execute(select(journal.c.at).where(journal.c.id == number)).scalar_one_or_none()

    def remembered(self, identity: Identity) -> Remembered:
        """Return what a runner is to remember of this store now."""
        return Remembered(identity.id, *self.last_line())


def _last(connection: Connection) -> tuple[int, float]:
    number = connection.execute(select(func.max(journal.c.id))).scalar_one()
    if number is None:
        return 0, 0.0
    return int(number), float(connection.execute(select(journal.c.at).where(journal.c.id == number)).scalar_one())
