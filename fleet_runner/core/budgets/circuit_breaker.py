"""The circuit breaker: where automation wants too many nodes out of service, it takes out none, and people look.

Faults of hardware come one by one. Many nodes that fail together, or in the same way, have something in common: a
driver, a service, power, or a check that is wrong. Then a remedy on every node is the damage.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.needs import calls, waived
from fleet_runner.core.faults.rules.rules import LADDER
from fleet_runner.core.firmware.rollout import number
from fleet_runner.core.lifecycle.actions import Action, Move, OpenRun, SetCondition
from fleet_runner.core.lifecycle.pending import is_automatic
from fleet_runner.core.lifecycle.runs import RUNNER, Node, is_of_cluster
from fleet_runner.core.lifecycle.states import ENDED, MOVING, SERVING, Condition, Stage, State
from fleet_runner.core.lifecycle.view import View

FEW = 5
"""Nodes that the reason names; the rest is counted."""


BEFORE = "; it opened because "
"""What stands between the newest trial and the reason at the very beginning: one that stays open does not grow."""


class Want(NamedTuple):
    """That automation wants a node out of service, when it last did, and because of which kinds of faults."""

    node: str
    at: float
    codes: tuple[str, ...]


class Disruption(NamedTuple):
    """What automation is about to do to a serving node: `anew` where it was not pending before.

    `may_try` says that its remedy can show whether it helps, so that it may be the trial.
    """

    anew: bool
    may_try: bool


def asked(view: View, actions: Collection[Action]) -> Disruption | None:
    """Return what a decision's actions do to take a serving node out by themselves; None where they do not.

    What a person asked for passes; so does everything that brings a node back. What a cluster asks for waits while
    the breaker is open, and does not open it.
    """
    begun = next((each for each in actions if isinstance(each, SetCondition) and _is_automatic(each)), None)
    if begun is not None:
        anew = view.node.conditions.get(Condition.PENDING) is None and begun.held.by == RUNNER
        return Disruption(anew, Remedy(begun.held.detail) in LADDER)
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is None or not is_automatic(pending) or not (leaves(actions) or _drains(view, actions)):
        return None
    return Disruption(anew=False, may_try=number(pending.by) is None and Remedy(pending.detail) in LADDER)


def leaves(actions: Iterable[Action]) -> bool:
    """Whether actions take a node out of service; one that leaves the fleet for good asks nobody."""
    return any(
        isinstance(each, Move) and each.transition.state in SERVING and each.transition.to is not State.RETIRED
        for each in actions
    )


def cordons(view: View, actions: Collection[Action]) -> bool:
    """Whether actions have a node take no new work by themselves, while no fault has ended its work anyway."""
    if any(
        isinstance(each, SetCondition) and _is_automatic(each) and is_of_cluster(each.held.by) for each in actions
    ):
        return True
    found = asked(view, actions)
    ended = (call.at_once for call in calls(view) if call.fault not in waived(view))
    return found is not None and found.anew and not any(ended)


def wanted(view: View, now: float) -> Want:
    """Return the want of a node, with the codes of all faults that call for a remedy."""
    faults = {call.fault for call in calls(view)}
    seen = {each.code for stored in view.latest for each in stored.result.findings if each.fault in faults}
    told = {alarm.code for alarm in view.alarms if alarm.fault in faults}
    return Want(view.node.name, now, tuple(sorted(seen | told)))


def trips(wants: Collection[Want], serving: int, limits: Limits) -> str:
    """Say why the breaker opens; "" where it does not. `wants` are those of the window, one a node at most.

    `serving` counts the nodes that serve, and those that automation has out.
    """
    most = max(limits.least, int(limits.share * serving))
    if len(wants) > most:
        return (
            f"{len(wants)} of {serving} nodes were about to leave service within {limits.within / 60:g} min, "
            f"more than {most}: {_some(want.node for want in wants)}"
        )
    codes = Counter(code for want in wants for code in set(want.codes))
    alike = max(limits.least, int(limits.same * serving))
    code, count = max(codes.items(), key=lambda each: (each[1], each[0]), default=("", 0))
    if count > alike:
        return (
            f"{count} of {serving} nodes had {code} within {limits.within / 60:g} min, more than {alike}: "
            f"{_some(want.node for want in wants if code in want.codes)}"
        )
    return ""


def lets(breaker: Breaker, node: str, now: float, *, may_try: bool) -> bool:
    """Whether an open breaker lets a node through: as its trial, which it is from then on."""
    if breaker.trial:
        return breaker.trial == node
    return may_try and now >= breaker.half_open_at


def trying(breaker: Breaker, node: str, now: float) -> Breaker:
    """Return the breaker once it has let a node through."""
    return breaker if breaker.trial == node else replace(breaker, trial=node, tried_at=now)


def judged(breaker: Breaker, node: Node | None, now: float, limits: Limits) -> Breaker | None:
    """Return what follows from the trial's node as it is now: None where it is healed, and the breaker closes.

    One that has not left service within a pause gives its place to another, which may be idle sooner.
    """
    if not breaker.trial:
        return breaker
    if node is None or node.state in ENDED:
        return replace(breaker, trial="", tried_at=0.0)
    if node.state in SERVING:
        if node.since >= breaker.tried_at:
            return None
        late = now - breaker.tried_at > breaker.pause
        return replace(breaker, trial="", tried_at=0.0) if late else breaker
    if node.state in MOVING:
        return breaker
    first = breaker.because.rpartition(BEFORE)[2]
    because = f"the trial on {node.name} did not help, it is in {node.state}{BEFORE}{first}"
    return Breaker(now, because, min(2 * breaker.pause, max(limits.longest, limits.pause)))


def is_over(breaker: Breaker, wants: Collection[Want], serving: int, limits: Limits, now: float) -> bool:
    """Whether nobody could be the trial for a window, and what was wanted within it would not open it any more."""
    untried = not breaker.trial and now >= breaker.half_open_at + limits.within
    return untried and not trips(wants, serving, limits)


def _is_automatic(action: SetCondition) -> bool:
    """Whether a remedy becomes pending for the runner, or for a cluster."""
    return action.condition is Condition.PENDING and (action.held.by == RUNNER or is_of_cluster(action.held.by))


def _drains(view: View, actions: Iterable[Action]) -> bool:
    serves = view.node.state in SERVING
    return serves and any(isinstance(each, OpenRun) and each.stage is Stage.DRAIN for each in actions)


def _some(names: Iterable[str]) -> str:
    known = sorted(names)
    more = f" and {len(known) - FEW} more" if len(known) > FEW else ""
    return f"{', '.join(known[:FEW])}{more}"
