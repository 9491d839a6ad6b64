"""What follows for one node, or one fabric, now: pure, from what is known about it to a decision.

The order is: people's wishes, tickets, an open run, holds, then what the node's state asks for. A decision that
moves the node asks for another look at once, so that each decision stays about one thing.
"""

from dataclasses import replace

from fleet_runner.core import production, stages, testing, watching, wishes
from fleet_runner.core.actions import Action, CloseTicket, Decision, Move, OpenRun, OpenTicket
from fleet_runner.core.excuses import READY
from fleet_runner.core.lifecycle import FABRICS, MOVING, STATES, Condition, Event, Stage, State
from fleet_runner.core.sightings import speaks, weigh
from fleet_runner.core.tickets import follow
from fleet_runner.core.verdicts import Remedy
from fleet_runner.core.view import FAR, RUNNER, Timing, View, move

SOON = 300.0
"""Seconds after which a node that the source of truth does not offer yet is looked at again."""

_SILENT = frozenset({Condition.HELD, Condition.MAINTENANCE})
"""Conditions of a fabric under which its tickets stay as they are, whatever a sweep sees."""

_KEPT = {State.PRODUCTION: production.watch, State.WATCHED: watching.watch}
"""Who decides where schedules are kept for as long as a state lasts."""


def decide(view: View, timing: Timing, now: float) -> Decision:
    """Return what follows for one node."""
    answered = wishes.answer(view, now - 2 * timing.passive)
    if answered:
        return Decision(answered, view.node.waiting, now)
    tickets = _tickets(view)
    decision = _decide(view, timing, now)
    return replace(
        decision, actions=(*tickets, *decision.actions, *_uncordon(view, decision), *_done(view, decision))
    )


def _decide(view: View, timing: Timing, now: float) -> Decision:
    node = view.node
    if view.run is not None:
        return Decision((), stages.progress(view.run, view.estimate), now + FAR)
    if Condition.HELD in node.conditions:
        held = node.conditions[Condition.HELD]
        words = f"held by {held.by}: {held.reason or 'no reason given'}"
        return Decision((), f"{words}{_unticketed(view)}", now + FAR)
    if node.state in MOVING:
        return testing.ended_first(view, stages.advance(view, timing, now), now)
    if node.state in _KEPT:
        return _KEPT[node.state](view, timing, now)
    if node.state is State.REGISTERED:
        return _start(view, now)
    return _rest(view, timing, now)


def _rest(view: View, timing: Timing, now: float) -> Decision:
    """Tests that a person asked for are looked at until they have ended; nothing else happens by itself."""
    quiet = Condition.MAINTENANCE in view.node.conditions  # a look would begin again what gave way
    again = None if quiet else testing.look_again(view, timing)
    if again is not None and now >= again:
        return Decision((OpenRun(Stage.HEALTH_ACTIVE, "its tests run"),), "", now)
    return Decision((), _resting(view), now + FAR if again is None else again)


def _tickets(view: View) -> tuple[Action, ...]:
    """A node on hold says what is wrong with it all the same; on a fabric's hold nothing follows from its sweeps."""
    silent = _SILENT if view.node.state in FABRICS else {Condition.MAINTENANCE}
    return () if silent & view.node.conditions.keys() else follow(view)


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
    return production.clear(view, RUNNER, "The node serves again.")


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


def _start(view: View, now: float) -> Decision:
    if view.status in READY:
        return Decision((move(view, Event.START),), "", now)
    found = f"is {view.status!r} there" if view.status else "is not in it any more"
    return Decision((), f"the source of truth must call it active or staged; it {found}", now + SOON)


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
