"""What the store knows of signals: alarms, who may push them, and how much was heard."""

from collections.abc import Callable, Collection, Iterable, Mapping

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.faults import alarms
from fleet_runner.adapters.store.faults import push_tokens as tokens
from fleet_runner.adapters.store.faults import signal_counters as heard
from fleet_runner.adapters.store.faults.alarms import Known
from fleet_runner.adapters.store.faults.signal_counters import SignalCount
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.lifecycle.runs import Node

Judge = Callable[[tuple[Known, ...]], Iterable[Alarm]]


class SignalMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store."""

    _database: Database

    def keep_alarms(self, names: Collection[str], judge: Judge, now: float) -> frozenset[str]:
        """Let `judge` say what became of the alarms of some nodes, and write that; return the nodes it woke.

        Nobody else changes these nodes from what `judge` is shown until that is written, so listeners may run beside
        each other. Names that are no nodes are left out.
        """
        with self._database.write() as connection:
            known = alarms.held(connection, names)
            return alarms.keep(connection, known, judge(known), now)

    def pressing(self, limit: int) -> tuple[Node, ...]:
        """Return some of the nodes of which alarms told since they were last decided for."""
        with self._database.read() as connection:
            return nodes.pressing(connection, limit)

    def count_heard(self, counted: Mapping[tuple[str, str], SignalCount], used: Mapping[int, float]) -> None:
        """Add to the counters of what was heard, and keep when tokens, by id, were last used."""
        with self._database.write() as connection:
            heard.count(connection, counted)
            tokens.used(connection, used)

    def alarms(self, node: str) -> tuple[Alarm, ...]:
        """Return what stands of a node, oldest first; also what does not count yet."""
        with self._database.read() as connection:
            return alarms.of(connection, node)

    def standing_alarms(self, since: float | None = None) -> tuple[Alarm, ...]:
        """Return what stands of all nodes, oldest first, also what does not count yet; and what cleared since."""
        with self._database.read() as connection:
            return alarms.standing(connection, since)

    def past_alarms(self, node: str | None = None, limit: int = 200) -> tuple[Alarm, ...]:
        """Return the newest `limit` alarms, all or a node's, standing and cleared, oldest first."""
        with self._database.read() as connection:
            return alarms.past(connection, node, limit)

    def node_types(self) -> Mapping[str, str]:
        """Return the device type of every node, by name."""
        with self._database.read() as connection:
            return alarms.types(connection)

    def heard(self) -> tuple[SignalCount, ...]:
        """Return every counter of what was heard, by source and word."""
        with self._database.read() as connection:
            return heard.every(connection)

    def tokens(self) -> tuple[Token, ...]:
        """Return every token that was ever given, without the token itself, oldest first."""
        with self._database.read() as connection:
            return tokens.every(connection)

    def add_token(self, token: Token) -> int:
        """Add a token; ConflictError where one with its name is still good."""
        with self._database.write() as connection:
            return tokens.add(connection, token)

    def revoke_token(self, name: str, now: float) -> bool:
        """End the token of a name; False where there is none to end."""
        with self._database.write() as connection:
            return tokens.revoke(connection, name, now)
