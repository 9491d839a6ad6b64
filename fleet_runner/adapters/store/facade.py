"""The Store: every method is one transaction of one database."""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Self

from fleet_runner.adapters.store.boot import batch as telling
from fleet_runner.adapters.store.boot import boots, discovered
from fleet_runner.adapters.store.boot import events as boot_events
from fleet_runner.adapters.store.boot import heartbeats as beats
from fleet_runner.adapters.store.budgets.facade import LimitMethods
from fleet_runner.adapters.store.engine.database import PATIENCE, Database, connect
from fleet_runner.adapters.store.faults.facade import RemedyMethods
from fleet_runner.adapters.store.faults.signals import SignalMethods
from fleet_runner.adapters.store.firmware.facade import FirmwareMethods
from fleet_runner.adapters.store.lifecycle import decisions, history, intents, nodes, wipes
from fleet_runner.adapters.store.maintenance.revision import check
from fleet_runner.adapters.store.results import results as result_records
from fleet_runner.adapters.store.results.search import ResultFilter, SearchMethods
from fleet_runner.adapters.store.runs import runs as run_records
from fleet_runner.adapters.store.runs import spool
from fleet_runner.adapters.store.runs.facade import RunningMethods
from fleet_runner.adapters.store.tickets import tickets as ticket_records
from fleet_runner.adapters.store.tickets.facade import TrackingMethods
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.boots import Boot, BootEvent, Discovered, Identity, Told
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision
from fleet_runner.core.lifecycle.runs import Entry, Intent, IntentKind, Node, Outcome, Run, Stored, Ticket
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Line
from fleet_runner.core.lifecycle.states import Stage, State

__all__ = ["ResultFilter", "Store"]


class Store(
    FirmwareMethods, SearchMethods, SignalMethods, RemedyMethods, LimitMethods, TrackingMethods, RunningMethods
):
    """One connected store. Every method is one transaction; every failure is a StoreError, nothing half-written.

    Methods that raise ConflictError found that somebody else was first: read again and decide again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, *, patience: float = PATIENCE, reading: bool = False) -> Self:
        """Open a store that exists; `patience` is how many seconds to wait for another writer's lock.

        With `reading`, one whose disk takes no writes is opened all the same, and refuses to be written as if it
        had not been; `refusal` says why.

        Raises:
            StoreError: there is none, or it has another schema; it says what to do.
        """
        database = connect(url, patience=patience)
        try:
            check(database)
        except StoreError as error:
            database.close()
            if not reading:
                raise
            from fleet_runner.adapters.store.engine import read_only  # noqa: PLC0415  a full disk is rare

            database = read_only.reading(url, error, patience)
        return cls(database)

    @classmethod
    def create(cls, url: str, *, patience: float = PATIENCE) -> Self:
        """Create a store, or migrate an older one that is this machine's alone, and open it."""
        from fleet_runner.adapters.store.maintenance.migrate import create  # noqa: PLC0415  Alembic is slow to load, rarely used

        database = connect(url, patience=patience, create=True)
        try:
            create(database)
        finally:
            database.close()
        return cls.open(url, patience=patience)

    @property
    def refusal(self) -> str:
        """Return why this store takes no writes, "" where it takes them."""
        return self._database.refusal

    def close(self) -> None:
        """Let go of every connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def one_moment(self) -> AbstractContextManager[None]:
        """Have all that this thread reads meanwhile be read in one transaction: it costs less."""
        return self._database.one_moment()

    def nodes(self) -> tuple[Node, ...]:
        """Return every node, by name."""
        with self._database.read() as connection:
            return nodes.every(connection)

    def fabrics(self) -> tuple[Node, ...]:
        """Return every fabric, by name."""
        with self._database.read() as connection:
            return nodes.every(connection, fabrics=True)

    def node(self, name: str) -> Node | None:
        """Return a node or a fabric, or None."""
        with self._database.read() as connection:
            return nodes.one(connection, name)

    def due(self, now: float) -> tuple[Node, ...]:
        """Return the nodes and fabrics to look at now, the longest waiting first; retired ones never."""
        with self._database.read() as connection:
            return nodes.due(connection, now)

    def waiting_with(self, words: str) -> tuple[Node, ...]:
        """Return the nodes and fabrics whose wait ends with some words, as they are to be looked at."""
        with self._database.read() as connection:
            return nodes.waiting_with(connection, words)

    def register(self, devices: Iterable[Device], now: float, unsure: Container[str] = ()) -> tuple[str, ...]:
        """Add the nodes and fabrics that are missing, update what is told of the others; return the names added.

        What the source says of the machines of `unsure` ones is not kept: it is not known to be right.
        """
        with self._database.write() as connection:
            return nodes.register(connection, tuple(devices), now, unsure)

    def apply(self, node: Node, decision: Decision, now: float) -> tuple[Run, ...]:
        """Carry a decision out as a whole, if the node is still as it was read; return the runs it opened."""
        with self._database.write() as connection:
            return decisions.apply(connection, node, decision, now)

    def leave_intent(  # noqa: PLR0913  a request has this many parts, and people leave it from several places
        self, node: str, intent: IntentKind, by: str, *, reason: str = "", detail: str = "", now: float
    ) -> int:
        """Leave a request about a node for the reconciler and wake the node; return the request's id."""
        with self._database.write() as connection:
            return intents.leave(connection, Intent(0, node, intent, by, now, reason, detail))

    def intents(self, node: str) -> tuple[Intent, ...]:
        """Return the unanswered requests about a node, oldest first."""
        with self._database.read() as connection:
            return intents.pending(connection, node)

    def intend_wipe(
        self, node: str, orders: Sequence[str], *, by: str, run: tuple[int, int] | None, now: float
    ) -> None:
        """Write down what is about to be erased, or, without anything, only ask if it still may be.

        `run` is a run and its fence, None by hand. A ConflictError says why nothing may be erased.
        """
        with self._database.write() as connection:
            wipes.intend(connection, node, orders, (by, run, now))

    def answer(self, intent: int) -> tuple[bool, str] | None:
        """Return whether a request was accepted and the sentence that answered it; None while nobody has."""
        with self._database.read() as connection:
            return intents.answered(connection, intent)

    def released_at(self, node: str) -> float:
        """Return when a hold on a node last ended; 0.0 if it was never held."""
        with self._database.read() as connection:
            return intents.released_at(connection, node)

    def open_runs(self, names: Iterable[str] | None = None) -> tuple[Run, ...]:
        """Return every open run, oldest first; or those of some nodes."""
        with self._database.read() as connection:
            return run_records.opened(connection, names)

    def run(self, run: int) -> Run | None:
        """Return a run, or None."""
        with self._database.read() as connection:
            return run_records.one(connection, run)

    def runs(self, node: str, *, since: float = 0.0, limit: int = 200) -> tuple[Run, ...]:
        """Return the newest `limit` runs of a node opened since a moment, oldest first."""
        with self._database.read() as connection:
            return run_records.of_node(connection, node, since, limit)

    def runs_of(
        self, node: str, stage: Stage, limit: int, outcomes: Iterable[Outcome] | None = None
    ) -> tuple[Run, ...]:
        """Return the newest `limit` runs of a stage on a node, all or those with some outcomes, oldest first."""
        with self._database.read() as connection:
            return run_records.of_stage(connection, node, stage, limit, outcomes)

    def ended(self, run: int) -> Ended | None:
        """Return how the play ended for a run's node as its spool told, or None where it has not."""
        with self._database.read() as connection:
            return run_records.ended(connection, run)

    def durations(self, stage: Stage, limit: int = 50) -> tuple[float, ...]:
        """Return the seconds that the newest runs of a stage took to a verdict, newest first."""
        with self._database.read() as connection:
            return run_records.durations(connection, stage, limit)

    def offset(self, batch: str) -> int:
        """Return how many bytes of a batch's spool are in the store."""
        with self._database.read() as connection:
            return spool.offset(connection, batch)

    def ingest(self, batch: str, before: int, after: int, lines: Sequence[Line]) -> None:
        """Store what the spool's bytes from `before` to `after` told about the batch's open runs.

        A stretch that is in already changes nothing. ConflictError if it does not follow what is in, or if no run
        of the batch is open any more.
        """
        packed = result_records.pack(self._unknown_evidence(lines))
        with self._database.write() as connection:
            spool.ingest(connection, spool.Stretch(batch, before, after), lines, packed)

    def close_run(self, run: Run, outcome: Outcome, detail: str, now: float) -> None:
        """End a run and wake its node; ConflictError if its fence is old or it has ended already."""
        with self._database.write() as connection:
            run_records.close(connection, run, outcome, (detail, now))

    def record_by_hand(self, stage: Stage, by: str, lines: Sequence[Line], now: float) -> tuple[str, ...]:
        """Store a play that somebody started by hand as ended runs; return the names that are not nodes."""
        packed = result_records.pack(self._unknown_evidence(lines))
        with self._database.write() as connection:
            return spool.record_by_hand(connection, spool.ByHand(stage, by, now), lines, packed)

    def results(self, run: int) -> tuple[Stored, ...]:
        """Return a run's results in the order they came."""
        with self._database.read() as connection:
            return result_records.of_run(connection, run)

    def latest_results(self, node: str) -> tuple[Stored, ...]:
        """Return the newest result of each check on a node, by check."""
        with self._database.read() as connection:
            return result_records.latest_of(connection, node)

    def before(self, given: Iterable[Stored]) -> tuple[Stored, ...]:
        """Return, for each result, the newest earlier one that spoke, by the same check in the same stage."""
        with self._database.read() as connection:
            return result_records.before(connection, given)

    def stored(self, ids: Iterable[int]) -> tuple[Stored, ...]:
        """Return results by id, in the order of their ids; unknown ones are left out."""
        with self._database.read() as connection:
            return result_records.some(connection, ids)

    def evidence(self, digest: str) -> str | None:
        """Return the text a hash names, or None where it was not kept."""
        with self._database.read() as connection:
            return result_records.text(connection, digest)

    def tickets(self, *, node: str | None = None, open_only: bool = True) -> tuple[Ticket, ...]:
        """Return tickets, oldest first; all of them, or those that name a node."""
        with self._database.read() as connection:
            return ticket_records.found(connection, node, open_only=open_only)

    def history(self, node: str, limit: int = 200, kind: str | None = None) -> tuple[Entry, ...]:
        """Return the newest `limit` entries of a node's history, all or those of a kind, oldest first."""
        with self._database.read() as connection:
            return history.of_node(connection, node, limit, kind)

    def left(self, names: Iterable[str], states: Iterable[State], since: float) -> dict[str, float]:
        """Return when each of some nodes last left any of some states, if it did since a moment."""
        with self._database.read() as connection:
            return history.left(connection, names, states, since)

    def arm(  # noqa: PLR0913  an arming has this many parts, and the play and the lab both give them
        self, node: str, expected: Identity, *, run: int | None, now: float, seconds: float, nonce_hash: str = ""
    ) -> Boot:
        """Expect a node to boot over the network for so many seconds; its open boot is closed ("armed anew")."""
        with self._database.write() as connection:
            return boots.arm(connection, node, expected, boots.Arming(run, now, seconds, nonce_hash))

    def close_boot(self, boot: int, because: str, now: float) -> bool:
        """Close a boot: nothing is given to it any more; False where it was not open."""
        with self._database.write() as connection:
            return boots.close(connection, boot, because, now)

    def boot(self, boot: int) -> Boot | None:
        """Return a boot, or None."""
        with self._database.read() as connection:
            return boots.one(connection, boot)

    def open_boots(self) -> tuple[Boot, ...]:
        """Return every open boot, oldest first."""
        with self._database.read() as connection:
            return boots.opened(connection)

    def boots(self, node: str, limit: int = 20) -> tuple[Boot, ...]:
        """Return the newest `limit` boots of a node, oldest first."""
        with self._database.read() as connection:
            return boots.of_node(connection, node, limit)

    def boots_after(self, line: int | None, own: Container[tuple[int, str]] = ()) -> tuple[int, tuple[Boot, ...]]:
        """Return the newest line of what happened, and the boots that took a step after another line.

        Without a line these are all open ones. Boots whose only steps are the caller's `own` are left out.
        """
        with self._database.read() as connection:
            if line is None:
                return boot_events.last(connection), boots.opened(connection)
            steps = boot_events.steps_after(connection, line)
            others = {boot for _, boot, kind in steps if (boot, kind) not in own}
            return (steps[-1][0] if steps else line), boots.some(connection, others)

    def tell(self, told: Sequence[Told]) -> tuple[bool, ...]:
        """Store what the boot service tells in one transaction; return of each whether it was news.

        A Claim is news once: to whoever is told True, and to nobody else, the document with secrets may be given.
        Steps of boots that are closed or never were, and claims of expired ones, are not news and change nothing.
        """
        with self._database.write() as connection:
            return telling.tell(connection, told)

    def boot_events(self, node: str | None = None, limit: int = 200) -> tuple[BootEvent, ...]:
        """Return the newest `limit` lines of what happened at the boot service, all or a node's, oldest first."""
        with self._database.read() as connection:
            return boot_events.told(connection, node, limit)

    def discovered(self) -> tuple[Discovered, ...]:
        """Return the machines that nobody knows, the one heard of last at first."""
        with self._database.read() as connection:
            return discovered.every(connection)

    def forget(self, mac: str) -> bool:
        """Forget a machine that nobody knew; False where there is none with this MAC address."""
        with self._database.write() as connection:
            return discovered.forget(connection, mac)

    def beats(self) -> Mapping[str, float]:
        """Return when each part of the boot path was last heard of."""
        with self._database.read() as connection:
            return beats.every(connection)

    def _unknown_evidence(self, lines: Sequence[Line]) -> tuple[Evidence, ...]:
        told = tuple(line for line in lines if isinstance(line, Evidence))
        if not told:
            return ()
        with self._database.read() as connection:
            known = result_records.known_evidence(connection, (line.hash for line in told))
        return tuple(line for line in told if line.hash not in known)
