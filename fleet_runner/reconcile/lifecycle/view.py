"""What a decision is made from, gathered for one node or fabric at a time; what many need is read once a tick."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fleet_runner.adapters.store.lifecycle.mentions import Unmentioned
from fleet_runner.core.budgets import modes
from fleet_runner.core.budgets.modes import Modes, Setting
from fleet_runner.core.cabling.exempt import excused
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.cabling.observers import observers
from fleet_runner.core.checks import active_schedule
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.xid import OF_APPLICATIONS
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, number
from fleet_runner.core.firmware.turns import NAMED
from fleet_runner.core.inventory.identity import Refused
from fleet_runner.core.inventory.placement import place
from fleet_runner.core.inventory.records import NODE_ROLES, Fleet, Management, Termination
from fleet_runner.core.lifecycle.runs import Node, Outcome, Run, Ticket
from fleet_runner.core.lifecycle.stages import BY_HAND
from fleet_runner.core.lifecycle.states import FABRICS, MOVING, REMEDIED, SERVING, Condition, Stage, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.core.tickets.node_tickets import EYES
from fleet_runner.reconcile.lifecycle.domains_view import DomainsView
from fleet_runner.reconcile.lifecycle.second_looks import needs_two, touched_by
from fleet_runner.reconcile.loop.context import TickContext

FLASHED = frozenset({State.FIRMWARE, State.FIRMWARE_FAILED})
"""States in which a flash may be open."""

LOOKED_BACK = 20
"""Drains of a node among which the newest of the runner's is: a person's, by hand, is the person's to undo."""


@dataclass(slots=True)
class FleetView:
    """The world as one tick sees it. Every node is read only where a fabric is due, or a node's cabling is wrong."""

    world: TickContext
    fleet: Fleet
    known: Mapping[str, Node] | None = None
    tested: dict[str, bool] = field(default_factory=dict[str, bool])
    ruled: Rules | None = None
    said: tuple[Setting, ...] | None = None
    crashed: tuple[Alarm, ...] | None = None
    domains: DomainsView = field(init=False)
    unmentioned: Unmentioned = field(default_factory=Unmentioned)

    def __post_init__(self) -> None:
        """Look at NVLink domains apart."""
        self.domains = DomainsView(self.world, self.rows)

    def rows(self) -> Mapping[str, Node]:
        """Return every node, by name, as it was when the tick first asked."""
        if self.known is None:
            self.known = {node.name: node for node in self.world.store.nodes()}
        return self.known

    def ask(self, names: Iterable[str]) -> None:
        """Ask at once what there is to be read of nodes that are due, and anew what people said of modes."""
        self.unmentioned, self.said = self.world.store.unmentioned(names), None

    def where(self, name: str) -> str:
        """Return in which place a node is, or the site of a fabric."""
        return place(self.fleet, self.world.fabrics, name)

    def observers(self, fabric: str) -> tuple[Termination, ...]:
        """Return the ports through which a fabric can be read, the best first."""
        found = self.world.fabrics.get(fabric)
        return observers(found, self.fleet, self.rows()) if found is not None else ()

    def view(self, node: Node, run: Run | None, now: float) -> View:
        """Return what is known about a node or a fabric."""
        with self.world.store.one_moment():
            return self._view(node, run, now)

    def _view(self, node: Node, run: Run | None, now: float) -> View:
        store = self.world.store
        durations = store.durations(run.stage) if run else ()
        none = self.unmentioned
        latest = () if node.name in none.results else store.latest_results(node.name)
        past = () if node.name in none.runs else store.runs(node.name, since=node.since)
        twice = needs_two(node, latest)
        touched = touched_by(twice)
        view = View(
            node=node,
            status=self._status(node),
            place=self._place(node),
            run=run,
            runs=tuple(each for each in past if each.ended_at is not None),
            latest=latest,
            intents=() if node.name in none.intents else store.intents(node.name),
            tickets=self._tickets(node),
            released_at=store.released_at(node.name) if node.state in MOVING else 0.0,
            estimate=sorted(durations)[len(durations) // 2] if durations else None,
            before=store.before(twice) if twice else (),
            excused=excused(touched, self.fleet, self.rows()) if touched else {},
            observers=self.observers(node.name) if node.state in FABRICS else (),
            began_at=store.began(node.name, Stage.FIRMWARE) if node.state is State.FIRMWARE else None,
            waited_until=self._waited(node, now),
            called_off=self._called_off(node),
            flash=store.open_flash(node.name) if node.state in FLASHED else None,
            tested=node.state in SERVING and self._tested(node.device_type),
            alarms=(alarms := () if node.name in none.alarms else store.alarms(node.name)),
            alike=self._alike(node.name, alarms),
            attempts=self._attempts(node, now),
            rules=self.rules(),
            scheduled=self._scheduled(),
            wishes=self.world.settings.scheduler == "kubernetes",
            drained=node.state in SERVING and self._drained(node),
            modes=self.modes(node.name),
            refused=self._refused(node),
            domain_fault=self.domains.fault(node, latest),
            suspected_at=self.domains.suspected_at(node.name),
            domain_leak=self.domains.leak(node),
            domain_out=self.domains.out(node),
            domain_turn=self.world.domain_turns.get(node.name, ""),
        )
        return replace(view, rounds=self._rounds(node)) if active_schedule.gave_way(view) else view

    def _alike(self, name: str, mine: Iterable[Alarm]) -> tuple[Alarm, ...]:
        """Return alarms of applications' Xids on other nodes of a node's tenant, where it has one itself.

        Those of the fleet are read once a tick. A node that the source does not know has no tenant, and no others.
        """
        device = self.fleet.devices.get(name)
        if device is None or not any(each.code in OF_APPLICATIONS for each in mine):
            return ()
        if self.crashed is None:
            stand = self.world.store.standing_alarms()
            self.crashed = tuple(each for each in stand if each.code in OF_APPLICATIONS)
        devices = self.fleet.devices
        return tuple(
            each for each in self.crashed
            if each.node != name and each.node in devices and devices[each.node].tenant == device.tenant
        )  # fmt: skip

    def _refused(self, node: Node) -> Refused | None:
        """Say why a node is not touched; a person may have confirmed its machine since the source was read."""
        found = self.world.refused.get(node.name)
        if found is None or found.machine is None:
            return found
        return None if self.world.store.machine(node.name).serial == found.machine.serial else found

    def _rounds(self, node: Node) -> tuple[Run, ...]:
        """Return the newest rounds of a node's tests; asked only of one whose last round gave way."""
        found = self.world.store.runs_of(
            node.name, Stage.HEALTH_ACTIVE, active_schedule.ROUNDS, active_schedule.ROUND
        )
        return tuple(run for run in found if run.opened_at >= node.since)

    def rules(self) -> Rules:
        """Return what follows from which fault, as the policy file has it; read once a tick."""
        if self.ruled is None:
            self.ruled = self.world.policy.rules(self.world.settings)
        return self.ruled

    def modes(self, name: str) -> Modes:
        """Return how far automation may go at a node, or at a fabric; what people said is read once for many."""
        self.said = self.world.store.modes() if self.said is None else self.said
        found = modes.modes(self.said, self.world.where(name))
        return replace(found, closed=self.world.unaccepted) if self.world.unaccepted else found

    def _attempts(self, node: Node, now: float) -> tuple[Attempt, ...]:
        """Return the remedies that are remembered of a node; with its repair, what was tried before is forgotten.

        What goes on is never forgotten; on a node that serves nothing does, whatever a clock that was set back says.
        """
        if node.state not in SERVING | REMEDIED:
            return ()
        found = self.world.store.attempts(node.name, now - self.rules().remembered())
        earned = self.world.store.left([node.name], [State.BURN_IN], 0.0) if found else {}
        since = earned.get(node.name, 0.0)
        if node.state in REMEDIED:
            return tuple(each for each in found if each.ended_at is None or each.at >= since)
        over = (replace(each, ended_at=node.since) if each.ended_at is None else each for each in found)
        return tuple(each for each in over if each.at >= since)

    def _scheduled(self) -> bool:
        return self.world.settings.scheduler != "none"

    def _drained(self, node: Node) -> bool:
        """Whether a drain of the runner's is not known to be undone at its scheduler, whatever came after it."""
        if not self._scheduled():
            return False
        drains = [run for run in self.world.store.runs_of(node.name, Stage.DRAIN, LOOKED_BACK) if run.fence > BY_HAND]
        undone = self.world.store.runs_of(node.name, Stage.RESUME, 1, (Outcome.PASSED,))
        return bool(drains) and (not undone or undone[0].id < drains[-1].id)

    def _tested(self, device_type: str) -> bool:
        """Whether the profile of a device type asks for active tests in service; read once a tick."""
        if device_type not in self.tested:
            world = self.world
            asked = not world.settings.schedule("active").is_off and world.active.asked(world.settings, device_type)
            self.tested[device_type] = asked
        return self.tested[device_type]

    def _waited(self, node: Node, now: float) -> float:
        """Return until when the rollout that brought a node to `firmware` was paused, or is."""
        rollout = self.world.store.asking(node.name) if node.state is State.FIRMWARE else None
        match rollout.standing if rollout is not None else None:
            case RolloutStatus.PAUSED:
                return now
            case RolloutStatus.RUNNING if rollout is not None:
                return rollout.changed_at
            case _:
                return 0.0

    def _called_off(self, node: Node) -> str:
        """Say why the rollout in whose name a remedy is pending no longer asks for it; "" where it does."""
        pending = node.conditions.get(Condition.PENDING)
        named = number(pending.by) if pending is not None else None
        if named is None:
            return ""
        asking = self.world.store.asking(node.name)
        if asking is not None and asking.id == named:
            return self._disowned(node, asking)
        rollout = self.world.store.rollout(named)
        if rollout is not None and rollout.standing is RolloutStatus.STOPPED:
            return f"{rollout.name} is {rollout.detail}"
        return f"rollout {named} no longer asks for it"

    def _disowned(self, node: Node, rollout: Rollout) -> str:
        """Say that a node became its customer's after a rollout asked it; "" where it did not, or is named."""
        if node.management is not Management.CUSTOMER:
            return ""
        members = self.world.store.rollout_members(rollout.id)
        named = any(each.node == node.name and each.detail == NAMED for each in members)
        return "" if named else f"Its customer manages it now, and {rollout.name} does not name it"

    def _status(self, node: Node) -> str | None:
        if node.state in FABRICS:
            return "active" if node.name in self.world.fabrics else None
        device = self.fleet.devices.get(node.name)
        return device.status if device else None

    def _place(self, node: Node) -> str:
        found = self.world.fabrics.get(node.name)
        if found is None:
            return self.fleet.place(node.name)
        return found.size

    def _tickets(self, node: Node) -> tuple[Ticket, ...]:
        """Return the open tickets that name a node; of a fabric, also those of cables that end at its switches alone.

        Fabrics share servers: what names only them may be about another one's cables, of which this one sees nothing.
        """
        found = self.world.fabrics.get(node.name)
        if found is None:
            return () if node.name in self.unmentioned.tickets else self.world.store.tickets(node=node.name)
        return tuple(
            ticket
            for ticket in self.world.store.tickets()
            if node.name in ticket.nodes or (ticket.check in EYES[found.kind] and self._within(ticket, found))
        )

    def _within(self, ticket: Ticket, fabric: Fabric) -> bool:
        devices = [self.fleet.devices[name] for name in ticket.nodes if name in self.fleet.devices]
        switches = {device.name for device in devices if device.role not in NODE_ROLES}
        return bool(switches) and switches <= fabric.switches
