"""What a tick may still spend: nodes out of service, slots for firmware, plays. Measured when first asked for.

A decision that would spend what is not there is withheld, with its reason; what a person asked for by name is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from typing import Any

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.plural import counted
from fleet_runner.core.budgets import circuit_breaker, disruption_budget
from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.firmware import slots
from fleet_runner.core.firmware.rollout import number, refusal
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.inventory.switch import stopped
from fleet_runner.core.lifecycle.actions import Action, Decision, Move, OpenRun
from fleet_runner.core.lifecycle.decisions import decide, withhold
from fleet_runner.core.lifecycle.pending import is_automatic
from fleet_runner.core.lifecycle.runs import RUNNER, IntentKind, Node, Run
from fleet_runner.core.lifecycle.states import HOUR, REMEDIED, STATES, Condition, Event, Stage, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.reconcile.lifecycle.batches import AGAIN, NO_ROOM, Batches
from fleet_runner.reconcile.loop.context import TickContext, timing
from fleet_runner.settings import Settings

log = structlog.get_logger()


class Cost(Enum):
    """What a decision costs of the disruption budget."""

    NOTHING = 0
    CORDON = 1
    LEAVE = 2
    ROLLED = 3
    """A rollout's node leaves."""


@dataclass(slots=True)
class Allowance:
    """The disruption budget, the slots for firmware and the plays that may begin, during one tick.

    A rollout counts what other automation has out; other automation does not count a rollout's nodes, so that no
    update keeps a fault from being healed.
    """

    world: TickContext
    fleet: Fleet
    usage: disruption_budget.Usage | None = None
    rolled: tuple[disruption_budget.Out, ...] | None = None
    load: slots.Load | None = None
    tripped: Breaker | None = None
    paused: str = ""
    opened: Batches | None = None
    begun: int | None = None

    @property
    def limits(self) -> disruption_budget.Limits:
        """Return the limits in use: those of the settings, and of the policy where it names them."""
        return limits(self.world.settings, self.world.policy.rules(self.world.settings))

    def open(self, now: float) -> None:
        """Look at the circuit breaker and the queue before anything is decided; where all is well that is two reads.

        Where runners share the store, a queue that is paused keeps them from taking; runs are opened all the same.
        """
        switch = None if self.world.store.shared else self.world.store.queue_paused()
        self.paused = stopped(switch) if switch is not None else ""
        self.tripped = self.world.store.breaker()
        if self.tripped is not None:
            rules = self.world.policy.rules(self.world.settings)
            self.tripped = self.world.store.judge_breaker(rules.breaker, now)
            if self.tripped is None:
                log.warning("the circuit breaker is closed again: its trial helped, or few nodes are about to leave")

    @property
    def batches(self) -> Batches:
        """Return what this tick opens."""
        if self.opened is None:
            settings, store = self.world.settings, self.world.store
            self.opened = Batches(settings.batch_nodes)
            if not store.shared:
                self.opened.room = settings.batches_at_once - len({run.batch for run in store.open_runs()})
        return self.opened

    def in_line(self) -> dict[str, None]:
        """Return the nodes that waited longest for a play, as many as there is room for, the first one first."""
        line = self.world.line
        if not line or self.paused or self.batches.room < 1:
            return {}
        return dict.fromkeys(islice(line, int(self.batches.room) * self.batches.most))

    def leave_line(self, name: str, decision: Decision, now: float) -> None:
        """Take a node out of the line that was decided for, unless it waits on or is looked at again at once."""
        if decision.wake_at > now and not (self.paused or decision.waiting.endswith(NO_ROOM)):
            self.world.line.pop(name, None)

    def spend(self, view: View, decision: Decision, now: float) -> Decision:
        """Return the decision, or what is left of it where it may not be carried out now.

        A node that may not leave service is looked at on: what is wrong with it may be gone before it may.
        """
        retry = now + self.world.settings.retry_seconds
        held, asked = self._held(decision), any(each.kind is IntentKind.RUN for each in view.intents)
        if held:  # a request for a run waits, and those that came after it do not
            view = replace(view, intents=tuple(each for each in view.intents if each.kind is not IntentKind.RUN))
            decision = decide(view, timing(self.world.settings, self.world.standings), now)
        if crowded := self._crowded(decision, now):
            return withhold(decision, crowded, retry)
        rolled = self._rolled_out(view.node, now) if _cost(view, decision) is Cost.ROLLED else ""
        spent = rolled or self._spent(view, decision, now)
        why = self._stopped(view, decision, now, may_try=not spent) or spent
        if why:
            decision = decide(replace(view, barred=why), timing(self.world.settings, self.world.standings), now)
            decision = replace(decision, wake_at=min(decision.wake_at, retry))
        held = held or self._held(decision)
        if held:
            if not self.paused:
                self._line_up(view.node.name, first=asked)
            return _unopened(decision, held, retry if self.paused else now + AGAIN)
        slot = self._beginning(view, decision, now)
        return withhold(decision, slot, retry) if slot else decision

    def apply(self, view: View, decision: Decision, now: float) -> tuple[Run, ...]:
        """Carry a decision out; where another machine may have taken of the budget too, it is measured anew.

        Raises:
            ConflictError: it has, or the node has changed.
        """
        if _cost(view, decision) is Cost.NOTHING:
            return self.world.store.apply(view.node, decision, now)
        if self.world.store.shared:
            self.usage = self.rolled = None
            runs = self.world.store.apply_within(view.node, decision, now, lambda: self._spent(view, decision, now))
        else:
            runs = self.world.store.apply(view.node, decision, now)
        self._take(view, decision, now)
        return runs

    def _crowded(self, decision: Decision, now: float) -> str:
        """Say why a node may not begin Day 0 now; what a person asked for is not held back, and not counted."""
        if not any(_starts(action) for action in decision.actions):
            return ""
        most = self.world.settings.provision_per_hour
        self.begun = self.world.store.begun_lately(now - HOUR) if self.begun is None else self.begun
        if self.begun >= most:
            return f"{counted(most, 'node has', 'nodes have')} begun Day 0 within an hour (provision_per_hour)"
        self.begun += 1
        return ""

    def _line_up(self, name: str, *, first: bool) -> None:
        """Have a node wait for room: behind all others, or before them where a person waits for it."""
        if first:
            self.world.line = {name: None} | self.world.line
        else:
            self.world.line.setdefault(name)

    def _held(self, decision: Decision) -> str:
        """Say why a decision's run may not be opened now: the queue is paused, or all plays run that may at once."""
        stages = [action.stage for action in decision.actions if isinstance(action, OpenRun)]
        if not stages or self.paused:
            return self.paused if stages else ""
        if all(self.batches.takes(stage) for stage in stages):
            return ""
        most = self.world.settings.batches_at_once
        return f"{counted(most, 'play runs', 'plays run')}, {NO_ROOM}"

    def _stopped(self, view: View, decision: Decision, now: float, *, may_try: bool) -> str:
        """Say why the circuit breaker lets a node not leave service, nor be told to take no work.

        What has to wait for the budget is counted too, and is no trial.
        """
        asked = circuit_breaker.asked(view, decision.actions)
        if asked is None:
            return ""
        if self.tripped is None and not asked.anew:
            return ""
        before = self.tripped
        asked = asked._replace(may_try=asked.may_try and may_try)
        why, self.tripped = self.world.store.ask_breaker(
            circuit_breaker.wanted(view, now), asked, view.rules.breaker, now
        )
        if self.tripped is not None and before is None:
            log.error("the circuit breaker opens: automation takes no node out", why=self.tripped.because)
        return why

    def _spent(self, view: View, decision: Decision, now: float) -> str:
        """Say why a node may not leave service, or be cordoned, now; what a person asked for is not held back."""
        where = disruption_budget.place(self.fleet, view.node.name)
        match _cost(view, decision):
            case Cost.CORDON:
                return disruption_budget.cordons(self._usage(now), where, self.limits).sentence
            case Cost.LEAVE:
                return disruption_budget.grant(self._usage(now), where, self.limits).sentence
            case Cost.ROLLED:
                usage = disruption_budget.beside(self._usage(now), self._rolled())
                return disruption_budget.grant(usage, where, self.limits).sentence
            case Cost.NOTHING:
                return ""

    def _take(self, view: View, decision: Decision, now: float) -> None:
        """Count what a decision takes, for those that are decided after it."""
        name, where = view.node.name, disruption_budget.place(self.fleet, view.node.name)
        match _cost(view, decision):
            case Cost.CORDON:
                out = disruption_budget.Out(name, where, "cordoned now", None)
                self.usage = replace(self._usage(now), pending=(*self._usage(now).pending, out))
            case Cost.LEAVE:
                until = now + max(STATES[state].deadline or 0.0 for state in REMEDIED)
                self.usage = disruption_budget.take(
                    self._usage(now), disruption_budget.Out(name, where, "leaves now", until)
                )
            case Cost.ROLLED:
                self.rolled = (*self._rolled(), self._rolling(name))
            case Cost.NOTHING:
                pass

    def _usage(self, now: float) -> disruption_budget.Usage:
        self.usage = self.usage or measured(self.world.store, self.fleet, now)
        return self.usage

    def _rolled(self) -> tuple[disruption_budget.Out, ...]:
        if self.rolled is None:
            self.rolled = tuple(self._rolling(name) for name in self.world.store.rolled_out())
        return self.rolled

    def _rolling(self, name: str) -> disruption_budget.Out:
        return disruption_budget.Out(name, disruption_budget.place(self.fleet, name), "a rollout", None)

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
        return disruption_budget.place(self.fleet, name).rack


def _starts(action: Action) -> bool:
    return isinstance(action, Move) and action.transition.event is Event.START and action.by == RUNNER


def _opens(decision: Decision) -> bool:
    return any(isinstance(action, OpenRun) for action in decision.actions)


def _unopened(decision: Decision, why: str, wake_at: float) -> Decision:
    """Return a decision without the runs that it opens: they are asked for again later."""
    actions = tuple(action for action in decision.actions if not isinstance(action, OpenRun))
    at = wake_at if _opens(decision) else min(decision.wake_at, wake_at)
    return Decision(actions, f"waits: {why}", at)


def _cost(view: View, decision: Decision) -> Cost:
    """Return what a decision costs: nothing where a person asked for it."""
    if circuit_breaker.cordons(view, decision.actions):
        return Cost.CORDON
    pending = view.node.conditions.get(Condition.PENDING)
    if not circuit_breaker.leaves(decision.actions) or (pending is not None and not is_automatic(pending)):
        return Cost.NOTHING
    return Cost.ROLLED if pending is not None and number(pending.by) is not None else Cost.LEAVE


def measured(store: Store, fleet: Fleet, now: float) -> disruption_budget.Usage:
    """Return what serves and what is out now. Every node is read."""
    triaged = store.triaged(now - disruption_budget.RECENT)
    return disruption_budget.measure(store.nodes(), triaged, store.placed(fleet))


def limits(settings: Settings, rules: Rules) -> disruption_budget.Limits:
    """Return the limits of the disruption budget: the settings', and the policy's where it names them."""
    usual: dict[str, Any] = {
        "share": settings.max_out_share,
        "rack": settings.max_out_rack,
        "nvlink": settings.max_out_nvlink,
        "domain": settings.max_out_domain,
        "tenant": settings.max_out_tenant,
        "small": settings.small_fleet,
    }
    said: dict[str, Any] = dict(rules.budget)
    return disruption_budget.Limits(**(usual | said))
