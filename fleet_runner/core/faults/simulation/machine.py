"""One node in a simulated fleet: what is known of it, and what decisions and runs make of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.escalation import Attempt, going_on
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.simulation.history import Fault, Known, PastRemedy, Use
from fleet_runner.core.faults.simulation.outcomes import cure, tries, was_cured
from fleet_runner.core.lifecycle.actions import (
    Action,
    BeginAttempt,
    ClearAlarm,
    ClearCondition,
    CloseTicket,
    Decision,
    EndAttempt,
    Move,
    OpenRun,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.idle import USAGE
from fleet_runner.core.lifecycle.runs import Node, Outcome, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import View

LENGTHS = {Stage.DRAIN: 30.0, Stage.RESET: 300.0, Stage.REBOOT: 600.0, Stage.VERIFY: 300.0}
"""Assumed seconds of a run; any other stage takes `SHORT`."""

SHORT = 30.0

REPAIR = 24 * 3600.0
"""Assumed seconds until a node that people were asked about serves again, without its faults."""

SEEN = frozenset({Stage.HEALTH_PASSIVE, Stage.VERIFY})
"""Stages that see every fault there is."""


@dataclass(slots=True)
class SimulatedFault:
    """A fault in the simulation: until when it lasts if nothing is done, and what was recorded of remedies."""

    fault: Fault
    own: list[PastRemedy]
    until: float
    cleared: bool = False


@dataclass(slots=True)
class SimulatedNode:
    """A node, its past ahead of it."""

    known: Known
    node: Node
    ahead: list[Fault]
    uses: list[Use]
    tried: list[PastRemedy]
    here: list[SimulatedFault] = field(default_factory=list[SimulatedFault])
    latest: dict[str, Stored] = field(default_factory=dict[str, Stored])
    before: dict[str, Stored] = field(default_factory=dict[str, Stored])
    run: Run | None = None
    runs: list[Run] = field(default_factory=list[Run])
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    tickets: dict[str, Ticket] = field(default_factory=dict[str, Ticket])
    count: int = 0
    remedied: list[tuple[bool, bool]] = field(default_factory=list[tuple[bool, bool]])

    def number(self) -> int:
        """Return the next id."""
        self.count += 1
        return self.count

    def view(self, rules: Rules, now: float) -> View:
        """Return what is known of it."""
        return View(
            node=self.node,
            status="active",
            run=self.run,
            runs=tuple(self.runs),
            latest=tuple(self.latest.values()),
            before=tuple(self.before.values()),
            tickets=tuple(self.tickets.values()),
            alarms=tuple(
                self._alarm(each, at, now) for at, each in enumerate(self.here) if self._counts(each, rules, now)
            ),
            attempts=tuple(self.attempts),
            rules=rules,
        )

    def next_at(self) -> float:
        """Return when something happens to it by itself: a fault comes or goes, work does, its run or repair ends."""
        times = [self.ahead[0].begins if self.ahead else math.inf, *(each.until for each in self.here)]
        if self.run is not None:
            times.append(self.run.opened_at + LENGTHS.get(self.run.stage, SHORT))
        if self.node.state is State.TRIAGE:
            times.append(self.node.since + REPAIR)
        return min(times)

    def busy_until(self, now: float) -> float:
        """Return until when work runs on it; now where none does."""
        return max((use.ends for use in self.uses if use.begins <= now < use.ends), default=now)

    def is_quiet(self) -> bool:
        """Whether nothing is wrong with it and nothing is under way: no decision would follow."""
        return not self.here and self.run is None and self.node.state is State.PRODUCTION and not self.node.conditions

    def pass_time(self, now: float) -> None:
        """Let happen what is due: faults that come and go, the end of a run, the end of a repair."""
        gone = [each for each in self.here if each.until <= now]
        self.here = [each for each in self.here if each.until > now]
        begun = []
        while self.ahead and self.ahead[0].begins <= now:
            fault = self.ahead.pop(0)
            own = tries(fault, self.tried)
            until = math.inf if was_cured(own) or not fault.ends else max(fault.ends, now + 1)
            begun.append(SimulatedFault(fault, own, until))
        self.here += begun
        self._look({each.fault.check for each in (*gone, *begun)}, now)
        if self.node.state is State.TRIAGE and now >= self.node.since + REPAIR:
            self.here, self.tickets, self.attempts, self.runs, self.run = [], {}, [], [], None
            self.node = replace(self.node, state=State.PRODUCTION, since=now, conditions={})
            self.latest, self.before = {}, {}
        if self.run is not None and now >= self.run.opened_at + LENGTHS.get(self.run.stage, SHORT):
            self._end(self.run, now)

    def apply(self, decision: Decision, now: float) -> None:
        """Make a decision true, as the store would."""
        for action in decision.actions:
            self._act(action, now)
        self.node = replace(
            self.node, waiting=decision.waiting, wake_at=decision.wake_at, version=self.node.version + 1
        )

    def _act(self, action: Action, now: float) -> None:
        match action:
            case Move(transition):
                self.node, self.runs = replace(self.node, state=transition.to, since=now), []
            case SetCondition(condition, held):
                self.node = replace(self.node, conditions={**self.node.conditions, condition: held})
            case ClearCondition(condition):
                left = {key: held for key, held in self.node.conditions.items() if key != condition}
                self.node = replace(self.node, conditions=left)
            case OpenRun(stage):
                self.run = Run(self.number(), self.node.name, stage, 1, "", now)
            case OpenTicket():
                self.tickets.setdefault(action.fault, self._ticket(action, now))
            case CloseTicket(ticket):
                self.tickets = {key: each for key, each in self.tickets.items() if each.id != ticket}
            case BeginAttempt(remedy, faults, by):
                self.attempts.append(Attempt(self.number(), self.node.name, remedy, faults, by, now))
            case EndAttempt(number, helped, because):
                self.attempts = [
                    replace(each, ended_at=now, helped=helped, because=because) if each.id == number else each
                    for each in self.attempts
                ]
            case ClearAlarm(number):
                self.here[number].cleared = True
            case _:
                pass  # nobody requests anything in a simulation

    def _end(self, run: Run, now: float) -> None:
        going = going_on(self.attempts)
        if run.stage in {Stage.RESET, Stage.REBOOT} and going is not None:
            self._remedy(going.remedy)
        checks = {each.fault.check for each in self.here} | self.latest.keys() - {USAGE}
        if run.stage in SEEN:
            self._look(checks, now)
        if run.stage in {Stage.DRAIN, Stage.HEALTH_PASSIVE}:
            used = any(use.begins <= now < use.ends for use in self.uses)
            self._store(Result(USAGE, Verdict.PASS, "as recorded", observed={"in_use": used}), run.stage, now)
        sick = run.stage in SEEN and bool(self.here)
        ended = replace(run, ended_at=now, outcome=Outcome.FAILED if sick else Outcome.PASSED)
        self.run, self.runs = None, [*self.runs[-30:], ended]

    def _remedy(self, remedy: Remedy) -> None:
        cures = [(each, cure(remedy, each.own)) for each in self.here]
        self.remedied += [(found.helped, found.known) for _, found in cures]
        self.here = [each for each, found in cures if not found.helped]

    def _look(self, checks: set[str], now: float) -> None:
        for check in sorted(checks - {""}):
            found = tuple(_finding(each.fault) for each in self.here if each.fault.check == check)
            verdict = Verdict.FAIL if found else Verdict.PASS
            message = found[0].message if found else "as it should be"
            self._store(Result(check, verdict, message, found), Stage.HEALTH_PASSIVE, now)

    def _store(self, result: Result, stage: Stage, now: float) -> None:
        known = self.latest.get(result.check)
        if known is not None:
            self.before[result.check] = known
        self.latest[result.check] = Stored(self.number(), 0, self.node.name, stage, now, result)

    def _counts(self, each: SimulatedFault, rules: Rules, now: float) -> bool:
        """Whether an alarm stands: one that has to happen more than once counts once it lasted that long."""
        if each.fault.check or each.cleared:
            return False
        following = rules.of(self.known.device_type, each.fault.code)
        return now - each.fault.begins >= following.hold

    def _alarm(self, each: SimulatedFault, number: int, now: float) -> Alarm:
        fault = each.fault
        last = min(now, each.until)
        return Alarm(
            node=fault.node,
            code=fault.code,
            component=fault.component,
            fault=fault.fault,
            source=Source.KERNEL,
            message=fault.message,
            remedy=Remedy(fault.remedy),
            at_once=False,
            first_at=fault.begins,
            last_at=last,
            heard_at=last,
            raised_at=fault.begins,
            authenticated=True,
            id=number,
        )

    def _ticket(self, action: OpenTicket, now: float) -> Ticket:
        told = (action.fault, action.check, action.title, action.body, action.nodes, action.remedy)
        return Ticket(self.number(), *told, opened_at=now, last_seen_at=now)


def machine(
    known: Known, faults: Sequence[Fault], uses: Sequence[Use], tried: Sequence[PastRemedy], since: float
) -> SimulatedNode:
    """Return a node that serves, with what was recorded of it ahead."""
    node = Node(known.node, known.device_type, State.PRODUCTION, since, 1)
    return SimulatedNode(known, node, [*faults], [*uses], [*tried])


def _finding(fault: Fault) -> Finding:
    return Finding(fault.code, fault.component, fault.message, Remedy(fault.remedy), fault.fault, (fault.node,))
