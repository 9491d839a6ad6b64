"""What of a decision a node's modes allow: the rest is left out, and said instead."""

from collections.abc import Iterable

from fleet_runner.core.budgets.modes import OF_REMEDIES, OF_STAGES, OF_STATES, Kind, Mode
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.actions import (
    Action,
    Answer,
    BeginAttempt,
    Decision,
    Move,
    OpenRun,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.states import SERVING, Condition, Stage, State
from fleet_runner.core.lifecycle.view import View

LEAVING = frozenset({Condition.PENDING, Condition.CORDONED, Condition.DRAINING})
"""Conditions that begin together, when a node is to leave service."""

LATER = 300.0
"""Seconds after which a node is looked at again of whose decision something was left out."""

NOTES = {Mode.OBSERVE: "observing", Mode.ADVISE: "advising"}
"""What a sentence begins with that says what would be done."""


def note(view: View, kind: Kind) -> str:
    """Return how a sentence begins about what is not done: "observing"."""
    advises = view.modes.mode(kind) is Mode.ADVISE and not view.rules.observe
    return NOTES[Mode.ADVISE if advises else Mode.OBSERVE]


def acts(view: View, remedy: Remedy) -> bool:
    """Whether a remedy may be carried out on the node."""
    return view.modes.acts(OF_REMEDIES[remedy])


def paused(view: View) -> str:
    """Say why a node in a moving state is not worked on now; "" where it is.

    A flash that is under way is looked at: whatever the mode, it must not be forgotten.
    """
    kind = OF_STATES.get(view.node.state)
    if kind is None or view.modes.acts(kind) or (view.flash is not None and not view.modes.closed):
        return ""
    return would(view, kind)


def answered(view: View, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return what a request leads to, or that it is refused where the node's modes do not allow all of it."""
    kinds = (kind for each in actions if (kind := _asks(view, each, actions)) is not None)
    kind = next((kind for kind in kinds if not view.modes.acts(kind)), None)
    if kind is None:
        return actions
    why = (
        f"Nothing is done: {view.modes.closed}."
        if view.modes.closed
        else (f"Its mode is {view.modes.mode(kind)} for {kind}: {_raise(view, kind)}, then ask again.")
    )
    return tuple(Answer(each.intent, accepted=False, sentence=why) for each in actions if isinstance(each, Answer))


def ticketed(view: View, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return what happens to tickets: none is opened about a node that is only observed."""
    told = tuple(actions)
    if not any(isinstance(each, OpenTicket) for each in told) or view.modes.highest is not Mode.OBSERVE:
        return told
    return tuple(each for each in told if not isinstance(each, OpenTicket))


def permitted(view: View, decision: Decision, now: float) -> Decision:
    """Return a decision without what the node's modes do not allow: the last door, whatever was decided before it."""
    asked = [(each, _asks(view, each, decision.actions)) for each in decision.actions]
    lost = next((kind for _, kind in asked if kind is not None and not view.modes.acts(kind)), None)
    if lost is None:
        return decision
    kept = tuple(each for each, kind in asked if kind is None or view.modes.acts(kind))
    return Decision(kept, would(view, lost), max(decision.wake_at, now + LATER))


def would(view: View, kind: Kind) -> str:
    """Say that something would be done, were it not for the node's mode, and what changes that."""
    if view.modes.closed:
        return f"observing: {view.modes.closed}"
    return f"{note(view, kind)}: {kind} would continue; {_raise(view, kind)} allows it"


def _asks(view: View, action: Action, beside: Iterable[Action]) -> Kind | None:
    """Return for what an action needs leave; None for what touches nothing."""
    match action:
        case OpenRun():
            return _run(view, action.stage, beside)
        case Move(transition=row) if row.state in SERVING | {State.REGISTERED} or row.to is State.PROVISION:
            return OF_STATES.get(row.to)
        case SetCondition(condition=condition) if condition in LEAVING:
            return _pending(view, beside)
        case BeginAttempt(remedy=remedy):
            return OF_REMEDIES.get(remedy)
        case _:
            return None


def _run(view: View, stage: Stage, beside: Iterable[Action]) -> Kind | None:
    """A flash under way is looked at, and what was drained is given back, unless the store may be a stranger's."""
    if stage is Stage.DRAIN:
        return _pending(view, beside)
    if stage is Stage.RESUME:
        return Kind.TRIAGE if view.modes.closed else None
    if stage is Stage.FIRMWARE and view.flash is not None and not view.modes.closed:
        return None
    return OF_STAGES.get(stage)


def _pending(view: View, beside: Iterable[Action]) -> Kind:
    """Return what a node is drained for: what becomes pending now, is pending, or it is worked on for."""
    for each in beside:
        if isinstance(each, SetCondition) and each.condition is Condition.PENDING:
            return OF_REMEDIES[Remedy(each.held.detail)]
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is not None:
        return OF_REMEDIES[Remedy(pending.detail)]
    return OF_STATES.get(view.node.state, Kind.TRIAGE)


def _raise(view: View, kind: Kind) -> str:
    return f"fleet-runner mode act --node {view.node.name} --for {kind} --reason …"
