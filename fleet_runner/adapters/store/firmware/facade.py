"""What the store knows of firmware: flashes, who drives them, who may switch power, rollouts and their nodes."""

from collections.abc import Iterable, Mapping, Sequence

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.firmware import bios_tries, flashes, leases, power_permits, rollouts
from fleet_runner.adapters.store.firmware.power_permits import Leave
from fleet_runner.adapters.store.firmware.rollouts import News
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.adapters.store.results import results
from fleet_runner.adapters.store.runs import runs
from fleet_runner.core.firmware.bios_steps import Try
from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.core.firmware.rollout import Rollout
from fleet_runner.core.firmware.turns import Member
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.core.lifecycle.states import Stage, State


class FirmwareMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store.

    Each raises ConflictError where another drives the node, or was first, and nothing is changed.
    """

    _database: Database

    def lease(  # noqa: PLR0913  whoever drives says all of this
        self, node: str, holder: str, *, run: tuple[int, int] | None, now: float, seconds: float, bmc: str = ""
    ) -> None:
        """Take or renew the right to drive a node's firmware; `run` is the runner's run by id and fence.

        With the address of its BMC also against drivers and open flashes of other nodes that have the same one.
        """
        with self._database.write() as connection:
            leases.take(connection, node, leases.Claim(holder, run, bmc), (now, seconds))

    def unlease(self, node: str, holder: str) -> None:
        """Let go of the right to drive a node's firmware, if it is the holder's."""
        with self._database.write() as connection:
            leases.give_back(connection, node, holder)

    def firmware_holder(self, node: str, now: float) -> tuple[str, float] | None:
        """Return who drives a node's firmware now, and until when (epoch seconds) at least."""
        with self._database.read() as connection:
            return leases.holder(connection, node, now)

    def intend(self, flash: Flash, holder: str, *, now: float) -> Flash:
        """Write down that an image is about to be sent; return the open flash with its id."""
        with self._database.write() as connection:
            power_permits.none_stands(connection, flash.node, now)
            return flashes.intend(connection, flash, holder, now)

    def note_flash(self, flash: Flash, holder: str, *, now: float) -> Flash:
        """Write down how far an open flash has come, or that it is about to be sent again."""
        with self._database.write() as connection:
            before = flashes.one(connection, flash.id)
            if before is not None and before.intended_at != flash.intended_at:
                power_permits.none_stands(connection, flash.node, now)
            return flashes.note(connection, flash, holder, now)

    def end_flash(self, flash_id: int, holder: str, end: End, detail: str, now: float) -> Flash:
        """End an open flash for good, and wake its node."""
        with self._database.write() as connection:
            ended = flashes.end(connection, flash_id, holder, (end, detail), now)
            nodes.wake(connection, [ended.node])
            return ended

    def settle_flash(self, node: str, by: str, reason: str, now: float) -> bool:
        """End a node's open flash on a person's word; False where none is open.

        ConflictError while somebody holds the lease: a process is at it.
        """
        with self._database.write() as connection:
            if settled := flashes.settle(connection, node, by, reason, now):
                nodes.wake(connection, [node])
            return settled

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
            power_permits.give(connection, node, power_permits.Leave(by, reason, now, seconds))

    def power_allowed(self, node: str, now: float) -> str:
        """Return who allows power actions on a node now, and why; "" where nobody does."""
        leave = self.power_leave(node, now)
        return f"{leave.by}: {leave.reason}" if leave is not None else ""

    def power_leave(self, node: str, now: float) -> Leave | None:
        """Return the leave that a person gave to switch a node's power, as long as it stands."""
        with self._database.read() as connection:
            return power_permits.standing(connection, node, now)

    def note_bios(self, node: str, tried: Try, who: tuple[str, str], *, now: float) -> None:
        """Write down which BIOS settings a BMC took; `who` holds the node's lease, and in whose name."""
        with self._database.write() as connection:
            bios_tries.note(connection, node, tried, who, now)

    def bios_try(self, node: str, since: float) -> Try | None:
        """Return the newest try of a node's BIOS settings that was made since a moment, or None."""
        with self._database.read() as connection:
            return bios_tries.one(connection, node, since)

    def start_rollout(self, rollout: Rollout, members: Iterable[Member]) -> Rollout:
        """Store a new rollout with its nodes; return it with its id."""
        with self._database.write() as connection:
            return rollouts.start(connection, rollout, members)

    def change_rollout(self, rollout: Rollout, changed: Rollout, turns: Sequence[Member], *, now: float) -> Rollout:
        """Bring a rollout, as it was read, to what it is now; leave a request for each node that is asked."""
        with self._database.write() as connection:
            return rollouts.change(connection, rollout, changed, turns, now)

    def rollout(self, number: int) -> Rollout | None:
        """Return a rollout, or None."""
        with self._database.read() as connection:
            return rollouts.one(connection, number)

    def rollouts(self, limit: int = 50) -> tuple[Rollout, ...]:
        """Return the newest `limit` rollouts, oldest first."""
        with self._database.read() as connection:
            return rollouts.every(connection, limit)

    def live_rollouts(self) -> tuple[Rollout, ...]:
        """Return the rollouts that may still ask, or that have nodes under way, oldest first."""
        with self._database.read() as connection:
            return rollouts.live(connection)

    def rollout_members(self, number: int) -> tuple[Member, ...]:
        """Return every node of a rollout, in the order of their turns."""
        with self._database.read() as connection:
            return rollouts.members(connection, number)

    def asking(self, node: str) -> Rollout | None:
        """Return the rollout in which it is a node's turn; None where there is none."""
        with self._database.read() as connection:
            return rollouts.asking(connection, node)

    def rolled_out(self) -> tuple[str, ...]:
        """Return the nodes that rollouts have out of service now, by name."""
        with self._database.read() as connection:
            return rollouts.out(connection)

    def news(self, asked: Sequence[Member]) -> Mapping[str, News]:
        """Return what happened to each of a rollout's nodes since it was asked."""
        with self._database.read() as connection:
            return rollouts.news(connection, asked)

    def some(self, names: Iterable[str]) -> tuple[Node, ...]:
        """Return nodes by their names; unknown ones are left out."""
        with self._database.read() as connection:
            return nodes.some(connection, names)

    def newest(self, check: str, names: Iterable[str]) -> Mapping[str, Stored]:
        """Return the newest result of one check on each of some nodes that it ran on."""
        with self._database.read() as connection:
            return results.newest(connection, check, names)

    def began(self, node: str, stage: Stage) -> float | None:
        """Return when the first run of a stage was opened since a node came to its state; None where none was."""
        with self._database.read() as connection:
            return runs.began(connection, node, stage)

    def begun(self, state: State, stage: Stage) -> tuple[str, ...]:
        """Return the nodes in a state that have had a run of a stage since they came to it."""
        with self._database.read() as connection:
            return runs.begun(connection, state, stage)
