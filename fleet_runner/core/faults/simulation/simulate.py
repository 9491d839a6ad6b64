"""A fleet in virtual time under one policy: the real decisions, budgets and breaker; everything else is a model."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import NamedTuple

from fleet_runner.core.budgets import circuit_breaker, disruption_budget
from fleet_runner.core.budgets.breaker import Breaker, refusal
from fleet_runner.core.budgets.circuit_breaker import Want
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import LADDER, Rules
from fleet_runner.core.faults.simulation.history import FleetHistory
from fleet_runner.core.faults.simulation.machine import SimulatedNode, machine
from fleet_runner.core.lifecycle.actions import BeginAttempt, Decision, Move, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.states import REMEDIED, SERVING, STATES, Condition, State
from fleet_runner.core.lifecycle.view import Timing, View
from fleet_runner.core.schedules.known import parsed
from fleet_runner.core.schedules.sweep import Sweep, SweepHistory

TIMING = Timing(
    drain=300.0,
    passive=Sweep(parsed("passive", "every 1h")),
    cabling=Sweep(parsed("cabling", "every 4h"), SweepHistory(paused="not simulated")),
)
"""Coarser than a live fleet's: a node in use is asked every 5 min, swept every hour; cables are not looked at."""

AFTER = 2 * 86_400.0
"""Seconds that are simulated after the last fault."""

RETRY = 300.0


class Said(NamedTuple):
    """A decision of the simulated runner: when, what in one word, and its sentence."""

    at: float
    what: str
    sentence: str


@dataclass(slots=True)
class NodeCounts:
    """What became of one node, simulated."""

    remedies: Counter[str] = field(default_factory=Counter[str])
    triages: int = 0
    tickets: int = 0
    pending: float = 0.0
    waits: int = 0
    stopped: int = 0
    advised: int = 0
    said: list[Said] = field(default_factory=list[Said])


@dataclass(slots=True)
class Outcome:
    """What a policy would have done, by node; `assumed` of `cures` rest on no record; `trips` of the breaker."""

    nodes: dict[str, NodeCounts] = field(default_factory=dict[str, NodeCounts])
    cures: int = 0
    assumed: int = 0
    trips: int = 0


@dataclass(slots=True)
class Simulation:
    """A history, a policy, and the state of a fleet under it."""

    past: FleetHistory
    rules: Rules
    limits: disruption_budget.Limits
    machines: dict[str, SimulatedNode] = field(default_factory=dict[str, SimulatedNode])
    serving: Counter[tuple[disruption_budget.Scope, str]] = field(
        default_factory=Counter[tuple[disruption_budget.Scope, str]]
    )
    triaged: dict[str, float] = field(default_factory=dict[str, float])
    wants: dict[str, tuple[Want, float]] = field(default_factory=dict[str, tuple[Want, float]])
    tripped: Breaker | None = None
    outcome: Outcome = field(default_factory=Outcome)

    def run(self, progress: Callable[[float], None]) -> Outcome:
        """Go through the history once; `progress` is told how far it is, from 0 to 1."""
        begins, ends = self.past.span()
        ends += AFTER
        self._prepare(begins)
        queue: list[tuple[float, str]] = []
        for name, each in self.machines.items():
            heappush(queue, (each.next_at(), name))
        while queue and queue[0][0] <= ends:
            now, name = heappop(queue)
            each = self.machines[name]
            each.pass_time(now)
            self._decide(each, now)
            heappush(queue, (max(self._due(each, now), now + 1), name))
            progress((now - begins) / (ends - begins))
        for each in self.machines.values():
            self.outcome.cures += len(each.remedied)
            self.outcome.assumed += sum(not known for _, known in each.remedied)
        return self.outcome

    def _prepare(self, begins: float) -> None:
        for name, known in self.past.nodes.items():
            faults = [fault for fault in self.past.faults if fault.node == name]
            self.serving.update(disruption_budget.scopes(known.place))
            if faults:
                uses = [use for use in self.past.uses if use.node == name]
                tried = [each for each in self.past.tried if each.node == name]
                self.machines[name] = machine(known, faults, uses, tried, begins - 1)
                self.outcome.nodes[name] = NodeCounts()

    def _decide(self, each: SimulatedNode, now: float) -> None:
        if each.run is not None or (each.is_quiet() and each.node.wake_at > now):
            return
        view = each.view(self.rules, now)
        decision = decide(view, TIMING, now)
        why, what = self._refused(each, view, decision, now)
        if why:
            decision = decide(replace(view, barred=why), TIMING, now)
            decision = replace(decision, wake_at=min(decision.wake_at, now + RETRY))
        self._note(each, decision, (what, why), now)
        each.apply(decision, now)

    def _due(self, each: SimulatedNode, now: float) -> float:
        """Return when something may follow for a node: nothing while a run goes on, or a drain waits for work."""
        due = each.next_at()
        if each.run is not None or each.is_quiet():
            return due
        pending = each.node.conditions.get(Condition.PENDING)
        if pending is None or each.node.wake_at <= now or each.node.waiting.startswith("waits: "):
            return min(due, each.node.wake_at)
        late = pending.since + (TIMING.drain_deadline if self.rules.deadline is None else self.rules.deadline)
        free = each.busy_until(now)
        return min(due, max(each.node.wake_at, min(free, late + 1) if now <= late else free))

    def _refused(self, each: SimulatedNode, view: View, decision: Decision, now: float) -> tuple[str, str]:
        """Return why a decision may not be carried out, and which of the two says so."""
        spent = ""
        if circuit_breaker.leaves(decision.actions):
            spent = disruption_budget.grant(self._usage(now), each.known.place, self.limits).sentence
        elif circuit_breaker.cordons(view, decision.actions):
            spent = disruption_budget.cordons(self._usage(now), each.known.place, self.limits).sentence
        asked = circuit_breaker.asked(view, decision.actions)
        if asked is not None:
            asked = asked._replace(may_try=asked.may_try and not spent)
            why = self._stopped(circuit_breaker.wanted(view, now), asked, now)
            if why:
                return why, "stopped"
        return spent, "waits"

    def _stopped(self, want: Want, asked: circuit_breaker.Disruption, now: float) -> str:
        limits = self.rules.breaker
        if self.tripped is not None and self.tripped.trial:
            self.tripped = circuit_breaker.judged(self.tripped, self.machines[self.tripped.trial].node, now, limits)
            if self.tripped is None:
                self.wants = {name: (each, now) for name, (each, _) in self.wants.items()}
        if self.tripped is not None:
            recent = [each for each, _ in self.wants.values() if each.at > now - limits.within]
            if circuit_breaker.is_over(
                self.tripped, recent, self.serving[disruption_budget.Scope.FLEET, ""], limits, now
            ):
                self.tripped, self.wants = None, {name: (each, now) for name, (each, _) in self.wants.items()}
        if asked.anew:
            before, until = self.wants.get(want.node, (None, 0.0))
            anew = before is None or before.at < now - limits.within
            self.wants[want.node] = want, now + limits.within if anew else until
        if self.tripped is None and asked.anew:
            found = [each for each, until in self.wants.values() if until > now and each.at > now - limits.within]
            because = circuit_breaker.trips(found, self.serving[disruption_budget.Scope.FLEET, ""], limits)
            if because:
                self.tripped, self.outcome.trips = Breaker(now, because, limits.pause), self.outcome.trips + 1
        if self.tripped is None:
            return ""
        if not circuit_breaker.lets(self.tripped, want.node, now, may_try=asked.may_try):
            return refusal(self.tripped)
        self.tripped = circuit_breaker.trying(self.tripped, want.node, now)
        return ""

    def _usage(self, now: float) -> disruption_budget.Usage:
        out = []
        for name, each in self.machines.items():
            left = self.triaged.get(name, 0.0)
            if each.node.state in REMEDIED:
                until = each.node.since + (STATES[each.node.state].deadline or 0.0)
                out.append(disruption_budget.Out(name, each.known.place, each.node.state, until))
            elif each.node.state not in SERVING and left > now - disruption_budget.RECENT:
                out.append(
                    disruption_budget.Out(name, each.known.place, each.node.state, left + disruption_budget.RECENT)
                )
        gone = [each.known.place for each in self.machines.values() if each.node.state not in SERVING]
        serving = self.serving - Counter(scope for place in gone for scope in disruption_budget.scopes(place))
        pending = [
            out
            for each in self.machines.values()
            if each.node.state in SERVING
            for out in disruption_budget.waiting(each.node, each.known.place)
        ]
        return disruption_budget.Usage(serving, tuple(out), tuple(pending))

    def _note(self, each: SimulatedNode, decision: Decision, refused: tuple[str, str], now: float) -> None:
        """Count what a decision does, and keep what a person would compare."""
        tally = self.outcome.nodes[each.known.node]
        what, why = refused
        if why and not each.node.waiting.startswith("waits: "):
            tally.waits, tally.stopped = tally.waits + (what == "waits"), tally.stopped + (what == "stopped")
            tally.said.append(Said(now, what, why))
        pending = each.node.conditions.get(Condition.PENDING)
        for action in decision.actions:
            match action:
                case Move(transition):
                    if pending is not None and transition.state in SERVING:
                        tally.pending += now - pending.since
                    if transition.to is State.TRIAGE:
                        tally.triages += 1
                        self.triaged[each.known.node] = now
                    tally.said.append(Said(now, transition.to, f"{transition.sentence} {action.because}".rstrip()))
                case SetCondition(Condition.PENDING, held):
                    tally.said.append(Said(now, f"{held.detail} pending", held.reason))
                case SetCondition(Condition.ADVISED, held):
                    tally.advised += 1
                    tally.said.append(Said(now, f"{held.detail.splitlines()[0]} advised", held.reason))
                case BeginAttempt(remedy):
                    tally.remedies[remedy] += 1
                case OpenTicket(fault) if fault not in each.tickets:
                    tally.tickets += 1
                    tally.said.append(Said(now, "ticket", action.title))
                case _:
                    pass


class Figure(NamedTuple):
    """One figure under the policy in force and under the new one."""

    name: str
    old: float
    new: float


class Difference(NamedTuple):
    """The first decision about a node that is another one; None where there is none."""

    node: str
    old: Said | None
    new: Said | None


def figures(old: Mapping[str, NodeCounts], new: Mapping[str, NodeCounts]) -> tuple[Figure, ...]:
    """Return what some nodes come to, under each policy."""
    counted: dict[str, Callable[[NodeCounts], float]] = {
        **{remedy.value: _tried(remedy) for remedy in LADDER},
        "triages": lambda tally: tally.triages,
        "tickets": lambda tally: tally.tickets,
        "pending hours": lambda tally: tally.pending / 3600,
        "budget waits": lambda tally: tally.waits,
        "stopped by the breaker": lambda tally: tally.stopped,
        "advised only": lambda tally: tally.advised,
    }
    return tuple(Figure(name, sum(map(of, old.values())), sum(map(of, new.values()))) for name, of in counted.items())


def differences(old: Mapping[str, NodeCounts], new: Mapping[str, NodeCounts]) -> tuple[Difference, ...]:
    """Return the first decision that differs, of each node of which one does."""
    found = []
    for name in sorted(old):
        before, after = old[name].said, new[name].said
        at = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
        if at is None and len(before) == len(after):
            continue
        at = min(len(before), len(after)) if at is None else at
        found.append(Difference(name, dict(enumerate(before)).get(at), dict(enumerate(after)).get(at)))
    return tuple(found)


def _tried(remedy: Remedy) -> Callable[[NodeCounts], float]:
    return lambda tally: tally.remedies[remedy]
