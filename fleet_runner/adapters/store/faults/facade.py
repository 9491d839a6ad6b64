"""What the store knows of remedies: the attempts on a node, and its cases at vendors."""

from collections.abc import Iterable

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.faults import attempts
from fleet_runner.adapters.store.lifecycle import intents
from fleet_runner.adapters.store.netbox import serials
from fleet_runner.adapters.store.tickets import rma_cases as cases
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.inventory.netbox.mirror.serials import Due
from fleet_runner.core.lifecycle.runs import Intent, IntentKind
from fleet_runner.core.tickets.rma_cases import Case


class RemedyMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store."""

    _database: Database

    def attempts(self, node: str, since: float = 0.0) -> tuple[Attempt, ...]:
        """Return the attempts on a node that were begun since a moment, and one that goes on, oldest first."""
        with self._database.read() as connection:
            return attempts.of_node(connection, node, since)

    def cases(self, node: str | None = None, *, open_only: bool = False) -> tuple[Case, ...]:
        """Return cases at vendors, oldest first: all, or those of a node."""
        with self._database.read() as connection:
            return cases.found(connection, node, open_only=open_only)

    def open_case(self, case: Case) -> int:
        """Open a case, say so in the node's history, and return its id; ConflictError where it is open already."""
        with self._database.write() as connection:
            return cases.begin(connection, case)

    def send_back(self, case: Case, reason: str) -> int:
        """Open a case and leave the request that sends its node to the vendor; return the request's id.

        Both or nothing: ConflictError where the case is open already.
        """
        with self._database.write() as connection:
            cases.begin(connection, case)
            return intents.leave(connection, Intent(0, case.node, IntentKind.RMA, case.by, case.opened_at, reason))

    def exchange_parts(self, case: Case, by: str, now: float, due: Iterable[Due] = ()) -> None:
        """Keep which parts of a case went out and came in, and which serial numbers a NetBox is due.

        ConflictError where the case is not open any more.
        """
        with self._database.write() as connection:
            cases.exchange(connection, case, by, now)
            serials.queue(connection, due)

    def end_case(self, case: Case, because: str, by: str, now: float) -> None:
        """End a case; ConflictError where somebody did already."""
        with self._database.write() as connection:
            cases.end(connection, case, because, by, now)
