"""What the store knows of those who look at it through pages and the API."""

from fleet_runner.adapters.store import sessions
from fleet_runner.adapters.store.database import Database
from fleet_runner.core.access import Session


class WebMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def begin_session(self, session: Session) -> None:
        """Keep somebody who has logged in."""
        with self._database.write() as connection:
            sessions.begin(connection, session)

    def session(self, digest: str, now: float) -> Session | None:
        """Return the session whose secret has this SHA-256, if it is good now."""
        with self._database.read() as connection:
            return sessions.found(connection, digest, now)

    def end_session(self, digest: str) -> None:
        """Log somebody out."""
        with self._database.write() as connection:
            sessions.end(connection, digest)
