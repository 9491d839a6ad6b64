"""What the store knows of remedies: the attempts on a node."""

from fleet_runner.adapters.store import attempts
from fleet_runner.adapters.store.database import Database
from fleet_runner.core.ladder import Attempt


class RemedyMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store."""

    _database: Database

    def attempts(self, node: str, since: float = 0.0) -> tuple[Attempt, ...]:
        """Return the attempts on a node that were begun since a moment, and one that goes on, oldest first."""
        with self._database.read() as connection:
            return attempts.of_node(connection, node, since)
