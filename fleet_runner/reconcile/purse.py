"""What a tick may still spend: nodes out of service, and slots for firmware updates. Measured when first asked for.

A decision that would spend what is not there is withheld, with its reason; what a person asked for by name is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core import budget
from fleet_runner.core.actions import Action, Decision, Move, OpenRun
from fleet_runner.core.firmware import slots
from fleet_runner.core.firmware.rollout import number, refusal
from fleet_runner.core.lifecycle import SERVING, Condition, Stage, State
from fleet_runner.core.policy import withhold
from fleet_runner.core.records import Fleet, rack_key
from fleet_runner.core.runs import Node
from fleet_runner.core.view import RUNNER, View
from fleet_runner.reconcile.world import World


@dataclass(slots=True)
class Purse:
    """The disruption budget and the slots for firmware, during one tick.

    A rollout counts what other automation has out; other automation does not count a rollout's nodes, so that no
    update keeps a fault from being healed.
    """

    world: World
    fleet: Fleet
    usage: budget.Usage | None = None
    rolled: tuple[str, ...] | None = None
    load: slots.Load | None = None

    def spend(self, view: View, decision: Decision, now: float) -> Decision:
        """Return the decision, or what is left of it where it may not be carried out now."""
        why = self._leaving(view.node, decision, now) or self._beginning(view, decision, now)
        return withhold(decision, why, now + self.world.settings.retry_seconds) if why else decision

    def _leaving(self, node: Node, decision: Decision, now: float) -> str:
        """Say why a node may not leave service now; what a person asked for is not held back."""
        pending = node.conditions.get(Condition.PENDING)
        rolled = pending is not None and number(pending.by) is not None
        asked = pending is not None and pending.by != RUNNER and not rolled
        if asked or not _leaves_service(decision.actions):
            return ""
        return (self._rolled_out(node, now) if rolled else "") or self._budget(node, now, rolled=rolled)

    def _budget(self, node: Node, now: float, *, rolled: bool) -> str:
        settings = self.world.settings
        self.usage = self.usage or self._measured(now)
        if self.rolled is None:
            self.rolled = tuple(_rack(self.fleet, name) for name in self.world.store.rolled_out())
        usage = budget.beside(self.usage, self.rolled) if rolled else self.usage
        limits = budget.Limits(settings.max_out_share, settings.max_out_rack, settings.small_fleet)
        rack = _rack(self.fleet, node.name)
        granted = budget.grant(usage, rack, limits)
        if granted.allowed and rolled:
            self.rolled = (*self.rolled, rack)
        elif granted.allowed:
            self.usage = budget.take(self.usage, rack)
        return granted.sentence

    def _measured(self, now: float) -> budget.Usage:
        store = self.world.store
        triaged = store.count_moves(State.PRODUCTION, State.TRIAGE, now - budget.RECENT)
        return budget.measure(((_rack(self.fleet, node.name), node.state) for node in store.nodes()), triaged)

    def _rolled_out(self, node: Node, now: float) -> str:
        """Say why a rollout's node may not leave production: it would only wait in `firmware` then."""
        rollout = self.world.store.asking(node.name)
        held = refusal(rollout, begun=False) if rollout is not None else ""
        if held:
            return held
        there = self._load((each.name for each in self.world.store.nodes() if each.state is State.FIRMWARE), now)
        return self._slot(there, node)

    def _beginning(self, view: View, decision: Decision, now: float) -> str:
        """Say why the runner may not begin, or go on with, a node's firmware now."""
        opens = any(
            isinstance(action, OpenRun) and action.stage is Stage.FIRMWARE and action.by == RUNNER
            for action in decision.actions
        )
        if not opens:
            return ""
        store, node, begun = self.world.store, view.node, view.began_at is not None
        rollout = store.asking(node.name)
        held = refusal(rollout, begun=begun) if rollout is not None else ""
        if held and store.open_flash(node.name) is None:
            return held
        if begun:
            return ""
        self.load = self.load or self._load(store.begun(State.FIRMWARE, Stage.FIRMWARE), now)
        why = self._slot(self.load, node)
        if not why:
            self.load = slots.take(self.load, self._place(node.name), self._watts(node))
        return why

    def _slot(self, load: slots.Load, node: Node) -> str:
        settings = self.world.settings
        limits = slots.Limits(settings.firmware_at_once, settings.firmware_at_once_rack, settings.firmware_rack_watts)
        return slots.refusal(load, self._place(node.name), self._watts(node), limits)

    def _load(self, names: Iterable[str], now: float) -> slots.Load:
        """Measure some nodes, and those with an open flash that goes on: in `firmware`, or with somebody at it.

        One that was left open elsewhere goes on with a person's next play, who may not come.
        """
        store = self.world.store
        open_at = store.some({flash.node for flash in store.open_flashes()})
        going = {row.name for row in open_at if row.state is State.FIRMWARE or store.firmware_holder(row.name, now)}
        rows = store.some(going.union(names))
        return slots.measure((self._place(row.name), self._watts(row)) for row in rows)

    def _watts(self, node: Node) -> float:
        limited = self.world.settings.firmware_rack_watts > 0
        return self.world.catalogues.watts(self.world.settings, node.device_type) if limited else 0.0

    def _place(self, name: str) -> str:
        """Return a node's rack with its site: two sites may both have a rack A03."""
        device = self.fleet.devices.get(name)
        return rack_key(device.site, device.rack) if device is not None and device.rack else ""


def _leaves_service(actions: Iterable[Action]) -> bool:
    return any(
        isinstance(action, Move) and action.transition.state in SERVING and action.transition.to is not State.RETIRED
        for action in actions
    )


def _rack(fleet: Fleet, node: str) -> str:
    device = fleet.devices.get(node)
    return device.rack or "" if device else ""
