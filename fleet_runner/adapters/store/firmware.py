"""What the store knows of firmware: flashes, the leases of those who drive them, and leaves to switch power."""

from fleet_runner.adapters.store import allowances, flashes, leases
from fleet_runner.adapters.store.database import Database
from fleet_runner.core.firmware.flash import End, Flash


class FirmwareMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store.

    Each raises ConflictError where another drives the node, or was first, and nothing is changed.
    """

    _database: Database

    def lease(self, node: str, holder: str, *, run: tuple[int, int] | None, now: float, seconds: float) -> None:
        """Take or renew the right to drive a node's firmware; `run` is the runner's run by id and fence."""
        with self._database.write() as connection:
            leases.take(connection, node, holder, run, (now, seconds))

    def unlease(self, node: str, holder: str) -> None:
        """Let go of the right to drive a node's firmware, if it is the holder's."""
        with self._database.write() as connection:
            leases.give_back(connection, node, holder)

    def intend(self, flash: Flash, holder: str, *, now: float) -> Flash:
        """Write down that an image is about to be sent; return the open flash with its id."""
        with self._database.write() as connection:
            return flashes.intend(connection, flash, holder, now)

    def note_flash(self, flash: Flash, holder: str, *, now: float) -> Flash:
        """Write down how far an open flash has come."""
        with self._database.write() as connection:
            return flashes.note(connection, flash, holder, now)

    def end_flash(self, flash_id: int, holder: str, end: End, detail: str, now: float) -> Flash:
        """End an open flash for good."""
        with self._database.write() as connection:
            return flashes.end(connection, flash_id, holder, (end, detail), now)

    def settle_flash(self, node: str, by: str, reason: str, now: float) -> bool:
        """End a node's open flash on a person's word; False where none is open.

        ConflictError while somebody holds the lease: a process is at it.
        """
        with self._database.write() as connection:
            return flashes.settle(connection, node, by, reason, now)

    def flash(self, flash_id: int) -> Flash | None:
        """Return a flash, or None."""
        with self._database.read() as connection:
            return flashes.one(connection, flash_id)

    def open_flash(self, node: str) -> Flash | None:
        """Return the flash of a node whose end is not certain yet, or None."""
        with self._database.read() as connection:
            return next(iter(flashes.opened(connection, node)), None)

    def open_flashes(self) -> tuple[Flash, ...]:
        """Return every open flash, oldest first."""
        with self._database.read() as connection:
            return flashes.opened(connection)

    def flashes(self, node: str, *, since: float = 0.0, limit: int = 50) -> tuple[Flash, ...]:
        """Return a node's newest `limit` flashes intended since a moment, and an open one, oldest first."""
        with self._database.read() as connection:
            return flashes.of_node(connection, node, since, limit)

    def allow_power(self, node: str, by: str, reason: str, now: float, seconds: float) -> None:
        """Let a person allow power actions on a node for a while, whatever its firmware is at."""
        with self._database.write() as connection:
            allowances.give(connection, node, allowances.Leave(by, reason, now, seconds))

    def power_allowed(self, node: str, now: float) -> str:
        """Return who allows power actions on a node now, and why; "" where nobody does."""
        with self._database.read() as connection:
            return allowances.standing(connection, node, now)
