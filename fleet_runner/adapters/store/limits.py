"""What the store knows of how much automation may do: what is out of service, the circuit breaker, modes."""

from collections.abc import Callable

from fleet_runner.adapters.store import breakers, database, decisions, history, modes, pasts
from fleet_runner.adapters.store.database import Database
from fleet_runner.core.actions import Decision
from fleet_runner.core.breaker import Asked, Breaker, Want
from fleet_runner.core.errors import ConflictError
from fleet_runner.core.modes import Setting
from fleet_runner.core.runs import Node, Run
from fleet_runner.core.simulation.past import Line
from fleet_runner.core.tripping import Limits


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
            return pasts.lines(connection, since)

    def breaker(self) -> Breaker | None:
        """Return the circuit breaker; None while it is closed."""
        with self._database.read() as connection:
            return breakers.one(connection)

    def ask_breaker(self, want: Want, asked: Asked, limits: Limits, now: float) -> tuple[str, Breaker | None]:
        """Return why a node may not leave service, "" where it may; and the breaker as it is then."""
        with self._database.write() as connection:
            return breakers.ask(connection, want, asked, limits, now)

    def judge_breaker(self, limits: Limits, now: float) -> Breaker | None:
        """Return the breaker after a look at its trial: it stays, opens for longer, or closes (None)."""
        with self._database.write() as connection:
            return breakers.judge(connection, limits, now)

    def reset_breaker(self, by: str, reason: str, now: float) -> bool:
        """Close the breaker in a person's name; False where it is not open."""
        with self._database.write() as connection:
            return breakers.reset(connection, by, reason, now)

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
