"""What the store knows of how much automation may do: what is out of service, the circuit breaker, modes."""

from collections.abc import Callable

from fleet_runner.adapters.store.budgets import circuit_breaker, modes
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.faults import simulation
from fleet_runner.adapters.store.lifecycle import decisions, history
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.core.budgets.circuit_breaker import Disruption, Want
from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.budgets.modes import Setting
from fleet_runner.core.faults.simulation.history import Line
from fleet_runner.core.lifecycle.actions import Decision
from fleet_runner.core.lifecycle.runs import Node, Run


class LimitMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store."""

    _database: Database

    @property
    def shared(self) -> bool:
        """Whether other machines may write it too; processes of one machine tick one at a time."""
        return self._database.engine.dialect.name == "postgresql"

    def apply_within(self, node: Node, decision: Decision, now: float, refused: Callable[[], str]) -> tuple[Run, ...]:
        """Carry out a decision that takes of a budget, which nobody else does meanwhile.

        `refused` says why it is not there any more; it reads only. A ConflictError says so too.
        """
        with self._database.write() as connection:
            database.hold_breaker(connection)
            if why := refused():
                raise ConflictError(f"node {node.name}: {why}; nothing was changed; decide again")
            return decisions.apply(connection, node, decision, now)

    def triaged(self, since: float) -> dict[str, float]:
        """Return which nodes left service for triage since a moment, straight or by way of a remedy, and when."""
        with self._database.read() as connection:
            return history.triaged(connection, since)

    def past(self, since: float) -> list[Line]:
        """Return the faults, uses and remedies since a moment, as a simulation replays them."""
        with self._database.read() as connection:
            return simulation.lines(connection, since)

    def breaker(self) -> Breaker | None:
        """Return the circuit breaker; None while it is closed."""
        with self._database.read() as connection:
            return circuit_breaker.one(connection)

    def ask_breaker(self, want: Want, asked: Disruption, limits: Limits, now: float) -> tuple[str, Breaker | None]:
        """Return why a node may not leave service, "" where it may; and the breaker as it is then."""
        with self._database.write() as connection:
            return circuit_breaker.ask(connection, want, asked, limits, now)

    def judge_breaker(self, limits: Limits, now: float) -> Breaker | None:
        """Return the breaker after a look at its trial: it stays, opens for longer, or closes (None)."""
        with self._database.write() as connection:
            return circuit_breaker.judge(connection, limits, now)

    def reset_breaker(self, by: str, reason: str, now: float) -> bool:
        """Close the breaker in a person's name; False where it is not open."""
        with self._database.write() as connection:
            return circuit_breaker.reset(connection, by, reason, now)

    def modes(self) -> tuple[Setting, ...]:
        """Return all that people ever said of how far automation may go, the oldest first."""
        with self._database.read() as connection:
            return modes.every(connection)

    def set_mode(self, setting: Setting) -> None:
        """Keep what somebody said of it; every node is looked at next."""
        with self._database.write() as connection:
            modes.add(connection, setting)

    def begun_lately(self, since: float) -> int:
        """Return how many nodes began Day 0 by themselves since a moment."""
        with self._database.read() as connection:
            return history.begun(connection, since)
