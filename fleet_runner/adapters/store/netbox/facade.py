"""What the store knows of a NetBox that is told: of nodes' fields, their history, and serial numbers of parts."""

from collections.abc import Collection, Iterable, Mapping

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.netbox import fields, serials
from fleet_runner.adapters.store.tickets import trackers
from fleet_runner.core.inventory.netbox.mirror.serials import Due
from fleet_runner.core.inventory.netbox.mirror.standing import JournalPosition, Written
from fleet_runner.core.lifecycle.runs import Entry


class MirrorMethods:
    """Methods of the Store, which extends this. Who may tell it is held as with trackers (`take_tracker`)."""

    _database: Database

    def scan_mirror(self, url: str) -> None:
        """Note what every node's newest line is that a NetBox is to be told of; the first time, from now on."""
        with self._database.read() as connection:
            if not fields.behind(connection, url):
                return
            until = fields.bound(connection)
        with self._database.write() as connection:
            fields.begin(connection, url, until)
            fields.scan(connection, url, until)

    def mirrored_fields(self, url: str, names: Collection[str] | None = None) -> tuple[Written, ...]:
        """Return the fields of every node, or of some, by name."""
        with self._database.read() as connection:
            return fields.written(connection, url, names)

    def unwritten_fields(self, url: str, before: float = 0.0) -> tuple[Written, ...]:
        """Return the fields that are not as they should be, or were seen so before a moment."""
        with self._database.read() as connection:
            return fields.unwritten(connection, url, before)

    def begin_fields(
        self, name: str, holder: str, span: tuple[float, float], url: str, given: Iterable[Written]
    ) -> None:
        """Note what is about to be sent; ConflictError if another process has taken the right to send it."""
        with self._database.write() as connection:
            trackers.hold(connection, name, holder, *span)
            fields.asking(connection, url, given)

    def fields_written(self, name: str, url: str, given: Iterable[Written], now: float) -> None:
        """Note that fields are as they were wanted."""
        with self._database.write() as connection:
            trackers.heard(connection, name, now)
            fields.wrote(connection, url, given, now)

    def fields_conflict(self, url: str, each: Written, conflict: str, moments: tuple[float, float]) -> bool:
        """Note what is in the way, and when it is looked at again; say so in the history, once."""
        with self._database.write() as connection:
            return fields.conflicting(connection, url, each, conflict, moments)

    def fields_not_written(self, url: str, each: Written, why: str, due_at: float) -> None:
        """Note why fields are not written, and when that is tried again."""
        with self._database.write() as connection:
            fields.not_written(connection, url, each, why, due_at)

    def untold_lines(self, url: str) -> tuple[JournalPosition, ...]:
        """Return the nodes whose history is not told in full; first what was tried least, then the oldest line."""
        with self._database.read() as connection:
            return fields.untold(connection, url)

    def lines(self, told: JournalPosition, limit: int) -> tuple[Entry, ...]:
        """Return the next lines of a node that are to be told, oldest first."""
        with self._database.read() as connection:
            return fields.lines(connection, told, limit)

    def lines_waiting(self, url: str) -> int:
        """Return how many lines are not told."""
        with self._database.read() as connection:
            return fields.waiting(connection, url)

    def begin_lines(
        self, name: str, holder: str, span: tuple[float, float], url: str, until: Mapping[str, int]
    ) -> None:
        """Note up to which line of each node is about to be sent; ConflictError as in `begin_fields`."""
        with self._database.write() as connection:
            trackers.hold(connection, name, holder, *span)
            fields.telling(connection, url, until, span[0])

    def lines_told(self, name: str, url: str, until: Mapping[str, int], now: float) -> None:
        """Note up to which line each node's history is told."""
        with self._database.write() as connection:
            trackers.heard(connection, name, now)
            fields.told(connection, url, until)

    def lines_not_told(self, url: str, each: JournalPosition, why: str, due_at: float) -> None:
        """Note why a node's history is not told, and when that is tried again."""
        with self._database.write() as connection:
            fields.not_told(connection, url, each, why, due_at)

    def lines_not_taken(self, url: str, given: Iterable[JournalPosition]) -> None:
        """Note that it is certain that nothing of what was sent was taken."""
        with self._database.write() as connection:
            fields.not_taken(connection, url, given)

    def serials_due(self, node: str | None = None) -> tuple[Due, ...]:
        """Return the serial numbers that are not written, all or a node's."""
        with self._database.read() as connection:
            return serials.waiting(connection, node)

    def serials_written(self, name: str, given: Iterable[Due], now: float) -> None:
        """Forget serial numbers that stand there now."""
        with self._database.write() as connection:
            trackers.heard(connection, name, now)
            serials.written(connection, given)

    def serial_not_written(self, due: Due, why: str, due_at: float) -> None:
        """Note why a serial number is not written, and when that is tried again."""
        with self._database.write() as connection:
            serials.not_written(connection, due, why, due_at)

    def serial_conflict(self, due: Due, there: str, now: float, due_at: float) -> bool:
        """Note which serial number is in the way; say so in the history, once."""
        with self._database.write() as connection:
            return serials.conflicting(connection, due, there, now, due_at)

    def hurry_mirror(self, url: str) -> None:
        """Have everything that waits for a NetBox tried at once."""
        with self._database.write() as connection:
            fields.hurry(connection, url)
            serials.hurry(connection)
