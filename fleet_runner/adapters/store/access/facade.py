"""What the store knows of those who look at it through pages and the API."""

from collections.abc import Mapping, Sequence

from fleet_runner.adapters.store.access import audit, sessions
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.faults import push_tokens
from fleet_runner.adapters.store.tickets.notifications import NotifyingMethods
from fleet_runner.core.access.roles import AuditLine, Session
from fleet_runner.core.faults.signals.tokens import Token


class WebMethods(NotifyingMethods):
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

    def sessions(self, now: float) -> tuple[Session, ...]:
        """Return every session that is good now, the oldest first."""
        with self._database.read() as connection:
            return sessions.every(connection, now)

    def end_sessions(self, name: str) -> int:
        """Log somebody out wherever they have logged in; return of how many sessions."""
        with self._database.write() as connection:
            return sessions.end_of(connection, name)

    def rotate_token(self, token: Token, until: float) -> int:
        """Put a token in the place of those of its name, which are good until then at most; return its id."""
        with self._database.write() as connection:
            return push_tokens.rotate(connection, token, until)

    def note_asked(self, asked: Sequence[AuditLine], used: Mapping[int, float]) -> None:
        """Write who asked what, and keep when tokens, by id, were last used."""
        with self._database.write() as connection:
            audit.note(connection, asked)
            push_tokens.used(connection, used)

    def asked(self, name: str | None = None, before: int | None = None, limit: int = 100) -> tuple[AuditLine, ...]:
        """Return the newest lines of the audit log, newest first: all or a name's, and those before one by its id."""
        with self._database.read() as connection:
            return audit.newest(connection, name, before, limit)
