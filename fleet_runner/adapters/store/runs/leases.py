"""Who runs, and which batches each runner carries: leases by the database's clock, with PostgreSQL alone."""

from collections.abc import Iterable

from fleet_runner.adapters.store.budgets import switches
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.engine.listen import Listener
from fleet_runner.adapters.store.runs import batches as parcels
from fleet_runner.adapters.store.runs import runners as carriers
from fleet_runner.adapters.store.runs import withdrawn
from fleet_runner.core.inventory.placement import BatchSummary, ClaimedBatch, Offer, Runner
from fleet_runner.core.inventory.switch import Switch


class CarryingMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def offer(self, given: Offer) -> None:
        """Let any runner take a batch; ConflictError where some of its runs are over."""
        with self._database.write() as connection:
            parcels.offer(connection, given)

    def take_parcels(self, runner: str, seconds: float) -> tuple[ClaimedBatch, ...]:
        """Take what a runner has slots for and reaches, for so many seconds, the oldest first."""
        with self._database.write() as connection:
            return parcels.take(connection, runner, seconds)

    def start_parcel(self, batch: str, token: int, carrier: str, seconds: float) -> frozenset[str]:
        """Begin a batch, once: return the nodes whose runs are open; none where it is not this carrier's to begin."""
        with self._database.write() as connection:
            return parcels.start(connection, batch, token, (carrier, seconds))

    def renew_parcel(self, batch: str, token: int, seconds: float) -> str | None:
        """Keep a parcel for so many seconds; None where it is not the carrier's, else why it is to end, or ""."""
        with self._database.write() as connection:
            return parcels.renew(connection, batch, token, seconds)

    def finish_parcel(self, batch: str, token: int, rc: int | None, detail: str) -> bool:
        """Say how a play ended; False where the parcel is its carrier's no more."""
        with self._database.write() as connection:
            return parcels.finish(connection, batch, token, (rc, detail))

    def drop_parcel(self, batch: str, token: int) -> None:
        """Give up a parcel whose supervisor is gone for good."""
        with self._database.write() as connection:
            parcels.drop(connection, batch, token)

    def lapse_parcels(self) -> None:
        """End the parcels whose play was started and whose lease is over."""
        with self._database.write() as connection:
            parcels.lapse(connection)

    def stop_parcel(self, batch: str, because: str) -> bool:
        """Have a batch end; False where it is over."""
        with self._database.write() as connection:
            return parcels.stop(connection, batch, because)

    def withdraw(self, batch: str, why: str, now: float) -> int:
        """Cancel the open runs of a batch that nobody has, so that nobody ever begins it; return how many."""
        with self._database.write() as connection:
            return withdrawn.withdraw(connection, batch, why, now)

    def forget_parcel(self, batch: str) -> None:
        """Remove a parcel that has ended."""
        with self._database.write() as connection:
            parcels.forget(connection, batch)

    def parcels(self, batches: Iterable[str] | None = None) -> tuple[BatchSummary, ...]:
        """Return every parcel that has not ended, the oldest first; or those of some batches."""
        with self._database.read() as connection:
            return parcels.found(connection, batches)

    def pause_queue(self, by: str, reason: str) -> None:
        """Have nothing more begin; what runs goes on: runners take nothing, or a SQLite's only one opens no run."""
        with self._database.write() as connection:
            switches.off(connection, parcels.QUEUE, by, reason)

    def resume_queue(self) -> bool:
        """Have what waits begin; False where it may already."""
        with self._database.write() as connection:
            return switches.on(connection, parcels.QUEUE)

    def queue_paused(self) -> Switch | None:
        """Return who paused the queue, and why; None where what waits may begin."""
        with self._database.read() as connection:
            return switches.one(connection, parcels.QUEUE)

    def begin_runner(self, runner: Runner) -> None:
        """Write down that a runner begins."""
        with self._database.write() as connection:
            carriers.begin(connection, runner)

    def beat_runner(self, runner: str, seconds: float) -> None:
        """Write down that a runner lives, and keep what it took and is about to begin for so many seconds more."""
        with self._database.write() as connection:
            carriers.beat(connection, runner)
            parcels.keep_taken(connection, runner, seconds)

    def end_runner(self, runner: str) -> None:
        """Write down that a runner takes nothing more, and give its turn back."""
        with self._database.write() as connection:
            carriers.end(connection, runner)

    def runners(self) -> tuple[Runner, ...]:
        """Return every runner that is not forgotten, by its id."""
        with self._database.read() as connection:
            return carriers.every(connection)

    def take_turn(self, runner: str, seconds: float) -> bool:
        """Take or keep the turn to decide for so many seconds; False while it is another's."""
        with self._database.write() as connection:
            return carriers.take_turn(connection, runner, seconds)

    def give_turn_back(self, runner: str) -> None:
        """Let another decide."""
        with self._database.write() as connection:
            carriers.give_turn_back(connection, runner)

    def deciding(self) -> str:
        """Return whose turn it is to decide, "" where it is nobody's."""
        with self._database.read() as connection:
            return carriers.deciding(connection)

    def clock(self) -> float:
        """Return the time by the database's own clock."""
        with self._database.read() as connection:
            return database.clock(connection)

    def ring(self, word: str = database.LOOK) -> None:
        """Tell all runners of this database; with SQLite there is none to tell."""
        with self._database.write() as connection:
            database.ring(connection, word)

    def ear(self) -> Listener:
        """Return what hears the words that are rung."""
        return Listener(self._database)
