"""What follows for one node, or one fabric, now: pure, from what is known about it to a decision.

The order is: people's requests, tickets, an open run, holds, then what the node's state asks for. A decision that
moves the node asks for another look at once, so that each decision stays about one thing.
"""

from collections.abc import Container, Iterable
from dataclasses import replace

from fleet_runner.core.budgets import permission
from fleet_runner.core.budgets.modes import READING
from fleet_runner.core.cabling import sweeps
from fleet_runner.core.checks import active_schedule
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults import alarm_clearing
from fleet_runner.core.faults.confirmation import speaks, weigh
from fleet_runner.core.faults.escalation import going_on
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle import intents, production, registration, stages
from fleet_runner.core.lifecycle.actions import (
    Action,
    BeginAttempt,
    CloseTicket,
    Decision,
    EndAttempt,
    Move,
    OpenRun,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.pending import clear
from fleet_runner.core.lifecycle.runs import RUNNER
from fleet_runner.core.lifecycle.stages import climb_on
from fleet_runner.core.lifecycle.states import FABRICS, MOVING, REMEDIED, STAGES, STATES, Condition, Stage, State
from fleet_runner.core.lifecycle.view import FAR, Timing, View
from fleet_runner.core.tickets import drain_tickets
from fleet_runner.core.tickets.alarm_tickets import told
from fleet_runner.core.tickets.node_tickets import follow

SOON = 300.0
"""Seconds after which a node is looked at again of which it is not settled which machine it is."""

_SILENT = frozenset({Condition.HELD, Condition.MAINTENANCE})
"""Conditions of a fabric under which its tickets stay as they are, whatever a sweep sees."""

_KEPT = {State.PRODUCTION: production.watch, State.WATCHED: sweeps.watch}
"""Who decides where schedules are kept for as long as a state lasts."""


def decide(view: View, timing: Timing, now: float) -> Decision:
    """Return what follows for one node."""
    answered = intents.answer(view, now - 2 * timing.passive.pause)
    if answered:
        answered = permission.answered(view, answered)
        return Decision((*answered, *_attempted(view, answered, now)), view.node.waiting, now)
    if view.refused is not None:
        view = replace(view, barred=view.refused.sentence)
    over = alarm_clearing.cleared(view, now)
    if over:
        view = replace(view, alarms=alarm_clearing.standing(view.alarms, over))
    tickets = permission.ticketed(view, _tickets(view, timing, now))
    decision = permission.permitted(view, _decide(view, timing, now), now)
    if view.refused is not None:
        decision = _restrained(view, decision, view.refused.sentence, now)
    after = (*_attempted(view, decision.actions, now), *_uncordon(view, decision), *_done(view, decision))
    actions = (*over, *tickets, *decision.actions, *after)
    return Decision(actions, decision.waiting, min(decision.wake_at, alarm_clearing.quiet_at(view)))


def _decide(view: View, timing: Timing, now: float) -> Decision:
    node = view.node
    if view.run is not None:
        meanwhile = production.beside(view, timing, now) if node.state is State.PRODUCTION else ()
        return Decision(meanwhile, stages.progress(view.run, view.estimate), now + FAR)
    if stopped := _stopped(view):
        return Decision((), stopped, now + FAR)
    if node.state in MOVING:
        return _go_on(view, timing, now)
    if node.state in _KEPT:
        return _KEPT[node.state](view, timing, now)
    if node.state is State.REGISTERED:
        return registration.advance(view, timing, now)
    return _rest(view, timing, now)


def _go_on(view: View, timing: Timing, now: float) -> Decision:
    if why := permission.paused(view):
        return Decision((), why, now + FAR)
    return active_schedule.ended_first(view, stages.advance(view, timing, now), now)


def _restrained(view: View, decision: Decision, why: str, now: float) -> Decision:
    """Return what is left of a decision about a node of which it is not settled which machine it is.

    It is looked at while the source has it; nothing moves it, nothing acts on it.
    """
    reads = READING if view.status is not None else frozenset[Stage]()
    if any(_acts(action, reads) for action in decision.actions):
        return Decision((), why, now + SOON)
    return replace(decision, waiting=decision.waiting if view.run is not None else why)


def _acts(action: Action, reads: Container[Stage]) -> bool:
    if isinstance(action, OpenRun):
        return action.stage not in reads
    return isinstance(action, Move | BeginAttempt | SetCondition)


def _stopped(view: View) -> str:
    """Say why nothing is decided of a node; "" where something is. What runs at that moment comes to its end."""
    node = view.node
    held, planned = (node.conditions.get(each) for each in (Condition.HELD, Condition.MAINTENANCE))
    if held is not None:
        return f"held by {held.by}: {held.reason or 'no reason given'}{_unticketed(view)}"
    if planned is not None and node.state in MOVING:
        return f"in maintenance by {planned.by}: {planned.reason or 'no reason given'}"
    if node.management is Management.CUSTOMER and node.state in REMEDIED:
        return f"its customer manages it: no {node.state} goes on; it is its customer's, or a person retires it"
    return ""


def _attempted(view: View, actions: Iterable[Action], now: float) -> tuple[Action, ...]:
    """What came of the remedy for which a node left service is known when it leaves the remedy's state."""
    going = going_on(view.attempts)
    moved = next((each for each in actions if isinstance(each, Move)), None)
    if going is None or moved is None:
        return ()
    to = moved.transition.to
    because = moved.because or moved.transition.sentence
    helped = True if to is State.PRODUCTION else False if to in {State.REBOOT, State.TRIAGE} else None
    ended = EndAttempt(going.id, helped, because)
    if to is not State.REBOOT:
        return (ended,)
    return (ended, BeginAttempt(climb_on(view, going, now).remedy, going.faults, moved.by))


def _rest(view: View, timing: Timing, now: float) -> Decision:
    """Gather once what is known of a node in triage; look at tests that a person asked for. That is all by itself."""
    quiet = Condition.MAINTENANCE in view.node.conditions  # a look would begin again what gave way
    if _is_to_collect(view):
        return Decision((OpenRun(Stage.COLLECT, STAGES[Stage.COLLECT].meaning),), "", now)
    again = None if quiet else active_schedule.look_again(view, timing)
    if again is not None and now >= again:
        return Decision((OpenRun(Stage.HEALTH_ACTIVE, "its tests run"),), "", now)
    return Decision((), _resting(view), now + FAR if again is None else again)


def _is_to_collect(view: View) -> bool:
    """Whether what is known of a node in triage is still to be gathered: once a stay, whatever comes of it."""
    node = view.node
    kept_away = node.management is Management.CUSTOMER or Condition.MAINTENANCE in node.conditions
    asked = any(run.stage is Stage.COLLECT and run.fence > stages.BY_HAND for run in view.runs)
    return node.state is State.TRIAGE and not kept_away and not asked


def _tickets(view: View, timing: Timing, now: float) -> tuple[Action, ...]:
    """A node on hold says what is wrong with it all the same; on a fabric's hold nothing follows from its sweeps."""
    silent = _SILENT if view.node.state in FABRICS else {Condition.MAINTENANCE}
    if silent & view.node.conditions.keys():
        return ()
    return (*follow(view), *told(view), *drain_tickets.told(view, timing, now))


def _unticketed(view: View) -> str:
    """Say how many faults a fabric's newest sweep saw that lead to no ticket now."""
    if view.node.state not in FABRICS:
        return ""
    seen = {
        finding.fault
        for stored in view.latest
        if speaks(stored.result)
        for finding, _ in weigh(view, stored)
        if finding.remedy is not Remedy.RECORD
    }
    faults = "1 fault" if len(seen) == 1 else f"{len(seen)} faults"
    return f"; {faults} seen, no ticket while it is held" if seen else ""


def _uncordon(view: View, decision: Decision) -> tuple[Action, ...]:
    """Returning to service ends whatever kept work away; it asks for no budget."""
    if not any(isinstance(action, Move) and action.transition.to is State.PRODUCTION for action in decision.actions):
        return ()
    return clear(view, RUNNER, "The node serves again.")


def _done(view: View, decision: Decision) -> tuple[Action, ...]:
    """A node that has earned production anew has nothing left that its own tickets could be about."""
    earned = any(isinstance(each, Move) and each.transition.state is State.BURN_IN for each in decision.actions)
    if not earned or not any(
        isinstance(each, Move) and each.transition.to is State.PRODUCTION for each in decision.actions
    ):
        return ()
    return tuple(
        CloseTicket(ticket.id, f"{view.node.name} earned production again: every stage passed")
        for ticket in view.tickets
        if set(ticket.nodes) == {view.node.name}
    )


def _resting(view: View) -> str:
    """What a node that waits for a person waits for."""
    words = [STATES[view.node.state].meaning]
    if view.tickets:
        words.append(f"Open tickets: {', '.join(f'#{ticket.id}' for ticket in view.tickets)}.")
    if (flash := view.flash) is not None:
        where = f"at {flash.phase}: fleet-runner firmware show {flash.node}"
        words.append(f"Flash {flash.id} ({flash.component}) is open still, {where}")
    return " ".join(words)


def withhold(decision: Decision, why: str, wake_at: float) -> Decision:
    """Return what is left of a decision that may not take its node out of service now: its tickets."""
    tickets = tuple(action for action in decision.actions if isinstance(action, OpenTicket | CloseTicket))
    return Decision(tickets, f"waits: {why}", wake_at)
