"""Hearing what is rung on PostgreSQL, on a connection of its own that is opened anew once it broke."""

from contextlib import suppress
from typing import Any

from fleet_runner.adapters.store.engine.database import CHANNEL, Database
from fleet_runner.core.base.errors import StoreError

DEAF = "deaf"
"""Said after a time in which words may have been missed: whoever listens looks for himself."""


class Listener:
    """Hears every word that is rung while it listens."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._own: Any = None

    def wait(self, seconds: float) -> frozenset[str]:
        """Return the words that come within so many seconds, as soon as there is one.

        Raises:
            StoreError: the connection broke, or there is none to be had; the next call tries again.
        """
        try:
            if self._own is None:
                self._own = self._opened()
                return frozenset({DEAF})
            heard = [note.payload for note in self._own.notifies(timeout=max(0.0, seconds), stop_after=1)]
            heard += [note.payload for note in self._own.notifies(timeout=0.0)] if heard else []
        except Exception as error:
            self.close()
            raise StoreError(f"store {self._database.where}: notifications stopped ({error})") from error
        return frozenset(heard)

    def close(self) -> None:
        """Hear nothing any more."""
        own, self._own = self._own, None
        if own is not None:
            with suppress(Exception):
                own.close()

    def _opened(self) -> Any:
        pooled = self._database.engine.raw_connection()
        own: Any = pooled.driver_connection
        pooled.detach()
        own.rollback()
        own.autocommit = True
        own.execute(f"LISTEN {CHANNEL}")
        return own
