"""Who runs, and which batches each runner carries: leases by the database's clock, with PostgreSQL alone."""

from collections.abc import Iterable

from fleet_runner.adapters.store.budgets import switches
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.runs import batches as parcels
from fleet_runner.adapters.store.runs import jobs, withdrawn
from fleet_runner.adapters.store.runs import runners as carriers
from fleet_runner.core.inventory.placement import BatchSummary, Offer, Runner
from fleet_runner.core.inventory.switch import Switch


class CarryingMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def offer(self, given: Offer) -> None:
        """Have the engine give a batch to a runner; ConflictError where some of its runs are over."""
        with self._database.write() as connection:
            parcels.offer(connection, given)

    def reached(self, runner: str) -> tuple[str, ...]:
        """Return the queues that a runner may take batches of now."""
        with self._database.read() as connection:
            return parcels.reached(connection, runner)

    def claim_parcel(self, batch: str, runner: str, seconds: float) -> Offer | None:
        """Have a runner begin a batch within so many seconds, the only one that ever may; None where it may not."""
        with self._database.write() as connection:
            return parcels.claim(connection, batch, runner, seconds)

    def start_parcel(self, batch: str, carrier: str, seconds: float) -> frozenset[str]:
        """Begin a batch, once: return the nodes whose runs are open; none where it is not this carrier's to begin."""
        with self._database.write() as connection:
            return parcels.start(connection, batch, carrier, seconds)

    def renew_parcel(self, batch: str, seconds: float) -> str | None:
        """Keep a parcel for so many seconds; None where it is not the carrier's, else why it is to end, or ""."""
        with self._database.write() as connection:
            return parcels.renew(connection, batch, seconds)

    def finish_parcel(self, batch: str, rc: int | None, detail: str) -> bool:
        """Say how a play ended; False where the parcel is its carrier's no more."""
        with self._database.write() as connection:
            return parcels.finish(connection, batch, rc, detail)

    def drop_parcel(self, batch: str) -> None:
        """Give up a parcel whose supervisor is gone for good, or never came."""
        with self._database.write() as connection:
            parcels.drop(connection, batch)

    def lapse_parcels(self) -> None:
        """End the parcels whose lease is over, and those that nobody will begin."""
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

    def beat_runner(self, runner: str) -> None:
        """Write down that a runner lives."""
        with self._database.write() as connection:
            carriers.beat(connection, runner)

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

    def ring(self) -> None:
        """Have whoever decides look now; with SQLite there is nobody else to tell."""
        with self._database.write() as connection:
            jobs.ring(connection)

    def is_rung(self) -> bool:
        """Whether somebody has whoever decides look, and nobody does yet."""
        with self._database.read() as connection:
            return jobs.is_rung(connection)
