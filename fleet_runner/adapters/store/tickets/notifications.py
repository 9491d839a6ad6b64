"""What the store knows of those who are notified."""

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.reliability.bring_up import BringUpMethods
from fleet_runner.adapters.store.reliability.report import ReportMethods
from fleet_runner.adapters.store.tickets import channels
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.tickets.notifications.grouping import ChannelPosition


class NotifyingMethods(BringUpMethods, ReportMethods):
    """Methods of the Store, which extends this."""

    _database: Database

    def channel(self, name: str) -> ChannelPosition | None:
        """Return how far a channel is told; None for one that is new."""
        with self._database.read() as connection:
            return channels.one(connection, name)

    def begin_channel(self, name: str) -> None:
        """Notify a channel from now on."""
        with self._database.read() as connection:
            line = channels.settled(connection)
        with self._database.write() as connection:
            channels.begin(connection, name, line)

    def take_channel(self, name: str, holder: str, now: float, seconds: float) -> bool:
        """Take or renew the right to notify a channel; False while another process has it."""
        with self._database.write() as connection:
            return channels.take(connection, name, holder, now, seconds)

    def leave_channel(self, name: str, holder: str) -> None:
        """Let another process notify a channel."""
        with self._database.write() as connection:
            channels.give_back(connection, name, holder)

    def write_channel(self, holder: str, standing: ChannelPosition) -> None:
        """Write down how far a channel is told; ConflictError if another process has taken the right to tell it."""
        with self._database.write() as connection:
            channels.write(connection, holder, standing)

    def newest_line(self, after: int) -> int:
        """Return the journal's newest line, once no line can come before it; `after` where there is none later."""
        with self._database.read() as connection:
            if channels.newest(connection) <= after:
                return after
            return channels.settled(connection)

    def unheard(self, after: int, until: int, limit: int) -> tuple[tuple[Entry, str], ...]:
        """Return lines of the journal that may be news, in their order, each with its ticket's or alarm's remedy."""
        with self._database.read() as connection:
            found = channels.lines(connection, after, until, limit)
            remedies = channels.remedies(connection, found)
            return tuple((entry, remedies.get(entry.id, "")) for entry in found)
