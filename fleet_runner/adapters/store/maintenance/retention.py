"""How large the store is, and what of it goes by age or size."""

from collections.abc import Sequence

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.maintenance import evidence_in_use, pruning, size
from fleet_runner.adapters.store.maintenance.size import Weighed
from fleet_runner.core.schedules.retention import Body


class RetentionMethods:
    """What the store does about it. Each method is one short transaction, so that others write in between."""

    _database: Database

    def weighed(self, since: float) -> Weighed:
        """Return the store's size and the rows of each kind, and how many of them came since a moment."""
        with self._database.read() as connection:
            return size.weigh(connection, self._database.where, since)

    def resting_evidence(self) -> frozenset[str]:
        """Return the hashes of all evidence that something rests on."""
        with self._database.read() as connection:
            return evidence_in_use.hashes(connection)

    def bytes_of_evidence(self) -> int:
        """Return how many bytes evidence has, as it is stored."""
        with self._database.read() as connection:
            return pruning.bytes_of_evidence(connection)

    def oldest_evidence(self, after: tuple[float, str], limit: int) -> tuple[Body, ...]:
        """Return the next pieces of evidence by age, after the moment and hash of one."""
        with self._database.read() as connection:
            return pruning.oldest_evidence(connection, after, limit)

    def drop_evidence(self, gone: Sequence[Body]) -> tuple[int, int]:
        """Take evidence away that was not told again meanwhile; return how many pieces, and their bytes."""
        with self._database.write() as connection:
            return pruning.drop_evidence(connection, gone)

    def unthinned(self, until: float) -> tuple[float, tuple[str, ...]] | None:
        """Return the oldest day that is over by a moment and whose sweeps are not thinned, and every node."""
        with self._database.read() as connection:
            return pruning.unthinned(connection, until)

    def thin(self, node: str, day: float, *, dry: bool = False) -> tuple[int, int]:
        """Leave one a day of what a node's sweeps said the same; return how many results and runs went."""
        with self._database.read() as connection:
            gone, empty = pruning.repeated(connection, node, day)
        if dry or not gone:
            return len(gone), len(empty)
        with self._database.write() as connection:
            return pruning.drop_sweeps(connection, gone, empty)

    def thinned_until(self, until: float) -> None:
        """Write down up to when sweeps are thinned."""
        with self._database.write() as connection:
            pruning.thinned_until(connection, until)

    def count_aged(self, what: str, before: float) -> int:
        """Return how many rows of a kind (`pruning.AGED`) are over since before a moment."""
        with self._database.read() as connection:
            return pruning.count_aged(connection, what, before)

    def drop_aged(self, what: str, before: float, limit: int) -> int:
        """Take at most so many of them away; return how many."""
        with self._database.write() as connection:
            return pruning.drop_aged(connection, what, before, limit)
