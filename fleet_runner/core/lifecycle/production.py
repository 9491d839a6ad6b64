"""What a serving node needs: its schedules kept, and from a fault the smallest safe remedy at the right moment."""

import math
from dataclasses import replace

from fleet_runner.core.budgets import permission
from fleet_runner.core.budgets.modes import OF_REMEDIES
from fleet_runner.core.checks import active_schedule
from fleet_runner.core.checks.progress import standing
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults import leak_looks, unauthenticated
from fleet_runner.core.faults.confirmation import is_slow, seen_once
from fleet_runner.core.faults.escalation import recurring
from fleet_runner.core.faults.needs import ORDER, Need, needed, waived
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle import idle
from fleet_runner.core.lifecycle.actions import Action, ClearCondition, Decision, EndAttempt, OpenRun, SetCondition
from fleet_runner.core.lifecycle.pending import (
    against_which,
    carry_out,
    clear,
    is_automatic,
    is_unsure,
    pend_need,
    unwaive,
)
from fleet_runner.core.lifecycle.runs import RUNNER, Held, Outcome, Run, is_of_cluster
from fleet_runner.core.lifecycle.stages import NO_VERDICT, again_at
from fleet_runner.core.lifecycle.states import Condition, Stage
from fleet_runner.core.lifecycle.view import FAR, Timing, View
from fleet_runner.core.schedules.sweep import Sweep
from fleet_runner.core.tickets.drain_tickets import unresumed

_KEPT_AWAY = frozenset({Condition.CORDONED, Condition.MAINTENANCE})
"""Conditions under which no scheduler is told to give the node work."""


def watch(view: View, timing: Timing, now: float) -> Decision:
    """Decide for a node in production."""
    noted = (*idle.note_usage(view), *unwaive(view))
    decision = _watch(view, timing, now)
    return replace(decision, actions=(*noted, *decision.actions))


def beside(view: View, timing: Timing, now: float) -> tuple[Action, ...]:
    """Return what is decided of a serving node while something runs on it: conditions, so that no new work comes."""
    if Condition.HELD in view.node.conditions:
        return ()
    actions = watch(view, timing, now).actions
    return actions if all(isinstance(each, SetCondition | ClearCondition | EndAttempt) for each in actions) else ()


def _watch(view: View, timing: Timing, now: float) -> Decision:
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is not None and view.called_off:
        return Decision(clear(view, RUNNER, f"{view.called_off}; the node stays in service."), "", now)
    customers = view.node.management is Management.CUSTOMER
    if pending is not None and customers and pending.by == RUNNER:
        return Decision(clear(view, RUNNER, "Its customer manages the node; the node stays in service."), "", now)
    if Condition.MAINTENANCE in view.node.conditions or view.status is None:
        return _keep_schedules(view, timing, now)
    need = None if customers else _needed(view, now)
    theirs = pending is not None and pending.by != RUNNER
    if pending is not None and theirs and not permission.acts(view, Remedy(pending.detail)):
        waiting = permission.would(view, OF_REMEDIES[Remedy(pending.detail)])
        return replace(_keep_schedules(view, timing, now), waiting=waiting)
    if _only_observes(view, pending, need):
        if not theirs:
            return _observe(view, need, timing, now)
        need = None  # what a person, or a rollout of theirs, asked for is done
    back = (*_not_advised(view, RUNNER), *_recurred(view, need, now))
    decision = _remedied(view, pending, need, timing, now)
    return replace(decision, actions=(*back, *decision.actions))


def _only_observes(view: View, pending: Held | None, need: Need | None) -> bool:
    """Whether nothing follows by itself from the node's faults: by the policy, or by the mode of what would."""
    asked = [Remedy(pending.detail)] if pending is not None and pending.by == RUNNER else []
    asked += [need.remedy] if need is not None else []
    return view.rules.observe or not all(permission.acts(view, each) for each in asked)


def _remedied(view: View, pending: Held | None, need: Need | None, timing: Timing, now: float) -> Decision:
    if pending is not None and pending.by == RUNNER and need is None:
        return _unneeded(view, pending, timing, now)
    if view.barred:
        return replace(_keep_schedules(view, timing, now), waiting=f"waits: {view.barred}")
    if need is not None and (pending is None or _gives_way(view, pending, need)):
        return Decision(pend_need(view, need, now), "", now)
    if pending is None:
        return _keep_schedules(view, timing, now)
    carried = carry_out(view, pending, need, timing, now)
    if carried.actions:
        return carried
    meanwhile = _keep_schedules(view, timing, now)
    return replace(meanwhile, waiting=carried.waiting, wake_at=min(carried.wake_at, meanwhile.wake_at))


def _unneeded(view: View, pending: Held, timing: Timing, now: float) -> Decision:
    """A remedy for which nothing asks any more is dropped; it only waits while its fault may still be there."""
    if not is_unsure(view, against_which(view), pending.since):
        return Decision(clear(view, RUNNER, "The fault is no longer reported; the node stays in service."), "", now)
    words = f"{pending.detail} pending, whether its fault is still there is unknown: {pending.reason}"
    return replace(_keep_schedules(view, timing, now), waiting=words)


def _gives_way(view: View, pending: Held, need: Need) -> bool:
    """Whether what is pending gives way to what is needed now, or is to be remembered against more faults.

    What a person or a cluster asked for waits for work to end; it gives way to what is no milder, and need not wait.
    """
    if not is_automatic(pending) or is_of_cluster(pending.by):
        return need.at_once and ORDER.index(need.remedy) >= ORDER.index(Remedy(pending.detail))
    known = against_which(view)
    return pending.detail != need.remedy or bool(known and set(need.faults) - known)


def _needed(view: View, now: float) -> Need | None:
    """Return what the node needs; a test that was slow once asks for nothing yet."""
    once = frozenset(finding.fault for stored, finding in seen_once(view) if is_slow(stored, finding))
    return needed(view, now, waived(view) | once)


def _recurred(view: View, need: Need | None, now: float) -> tuple[Action, ...]:
    """What seemed to help, and is back while that is remembered, was not healed."""
    found = recurring(need.faults, view.attempts, view.rules, now) if need is not None else ()
    return tuple(EndAttempt(each.id, helped=False, because="the fault is back.") for each in found)


def _observe(view: View, need: Need | None, timing: Timing, now: float) -> Decision:
    """Say what would be done, and do nothing of it."""
    advised = view.node.conditions.get(Condition.ADVISED)
    why = "The policy says" if view.rules.observe else "Its mode says"
    dropped = clear(view, RUNNER, f"{why} to observe only; the node stays in service.")
    meanwhile = _keep_schedules(view, timing, now)
    if need is None:
        unsure = advised is not None and is_unsure(view, advised.detail.splitlines()[1:], advised.since)
        gone = () if unsure else _not_advised(view, RUNNER)
        return replace(meanwhile, actions=(*dropped, *gone, *meanwhile.actions))
    when = "at once if its work is lost, else when it is idle" if need.at_once else "when it is idle"
    words = f"{permission.note(view, OF_REMEDIES[need.remedy])}: would {need.remedy} {when}: {need.reason}"
    said = Held(now, words, RUNNER, "\n".join((need.remedy.value, *sorted(need.faults))))
    news = advised is None or (advised.detail, advised.reason) != (said.detail, said.reason)
    told = (SetCondition(Condition.ADVISED, said, need.results),) if news else ()
    return replace(meanwhile, actions=(*dropped, *told, *meanwhile.actions), waiting=words)


def _not_advised(view: View, by: str) -> tuple[Action, ...]:
    return clear(view, by, "The advised remedy is no longer needed.", (Condition.ADVISED,))


def _keep_schedules(view: View, timing: Timing, now: float) -> Decision:
    if view.status is None:
        return Decision((), "it is no longer in the source of truth; no stage runs on it", now + FAR)
    sweeps = _keep_sweeps(view, timing, now)
    if any(isinstance(action, OpenRun) for action in sweeps.actions):
        return sweeps
    resumed_at = _resume_at(view, timing)
    if now >= resumed_at:
        return Decision((OpenRun(Stage.RESUME, "its drain is pending removal at the scheduler"),), "", now)
    sweeps = replace(sweeps, wake_at=min(sweeps.wake_at, resumed_at))
    again = None if active_schedule.is_taken(view) else active_schedule.look_again(view, timing)
    due = active_schedule.due(view, timing, now) if again is None else again
    if now < due:
        last = _last(view, Stage.HEALTH_ACTIVE) if again is not None else None
        told = standing(view.latest, last) if last is not None else ""
        return replace(sweeps, waiting=sweeps.waiting or told, wake_at=min(due, sweeps.wake_at))
    why = "scheduled tests of an idle node" if again is None else "its tests run"
    return Decision((OpenRun(Stage.HEALTH_ACTIVE, why),), "", now)


def _resume_at(view: View, timing: Timing) -> float:
    """Return when the scheduler is told, again, that the node takes work; never while it shall take none.

    What the runner took it gives back on a customer's node, too.
    """
    if not view.drained or _KEPT_AWAY & view.node.conditions.keys():
        return active_schedule.NEVER
    tried = unresumed(view)
    return again_at(tried[-1], len(tried), timing) if tried else 0.0


def _keep_sweeps(view: View, timing: Timing, now: float) -> Decision:
    again = {stored.stage for stored, _ in seen_once(view)}
    sweeps = {Stage.HEALTH_PASSIVE: timing.passive, Stage.CABLING: timing.cabling}
    due = {
        stage: _turn(view, stage, sweep, timing.confirm if stage in again else None, now)
        for stage, sweep in sweeps.items()
    }
    asks, wet = unauthenticated.ask_at(view, timing), leak_looks.ask_at(view, timing)
    if now < due[Stage.HEALTH_PASSIVE] and now >= asks and not timing.passive.is_off:
        return Decision((OpenRun(Stage.HEALTH_PASSIVE, unauthenticated.ASKS),), "", now)
    if wet <= now < due[Stage.CABLING]:
        return Decision((OpenRun(Stage.CABLING, leak_looks.ASKS),), "", now)
    for stage, at in due.items():
        if now >= at:
            why = "a fault was seen once, this look confirms it or not" if stage in again else f"scheduled {stage}"
            return Decision((OpenRun(stage, why),), "", now)
    asks = math.inf if timing.passive.is_off else asks
    return Decision((), _health(view), min(now + FAR, asks, wet, *due.values()))


def _turn(view: View, stage: Stage, sweep: Sweep, confirm: float | None, now: float) -> float:
    """Return when a sweep looks at the node next: at its own moment, or sooner to confirm what was seen once."""
    last = _last(view, stage)
    if last is None or sweep.is_off:
        return active_schedule.NEVER if sweep.is_off else 0.0
    ended = last.ended_at or 0.0
    due = sweep.due(view.node.name, ended, now)
    return due if confirm is None else min(due, ended + confirm)


def _health(view: View) -> str:
    """What `status` says of a node that serves: nothing while all is well. A leak elsewhere hides nothing of it."""
    leak = f"it serves; in its NVLink domain {view.domain_leak}" if view.domain_leak else ""
    turn = next((f"it serves; {each}" for each in (view.domain_out, view.domain_turn) if each), "")
    return "; ".join(each for each in (leak, _own_health(view), turn) if each)


def _own_health(view: View) -> str:
    if words := unauthenticated.told(view):
        return words
    for stage in (Stage.RESUME, Stage.HEALTH_PASSIVE, Stage.CABLING, Stage.HEALTH_ACTIVE):
        last = _last(view, stage)
        if last is not None and last.outcome in NO_VERDICT - {Outcome.SKIPPED}:
            return f"UNKNOWN: {stage}: {last.detail or last.outcome}"
    slow = next((stored.result for stored, finding in seen_once(view) if is_slow(stored, finding)), None)
    if slow is not None:
        return f"{slow.check}: {slow.message}; seen once, the next round confirms it or not"
    if view.domain_fault:
        return f"its own NVLinks are left alone, its NVLink domain is at fault: {view.domain_fault}"
    return active_schedule.untested(view)


def _last(view: View, stage: Stage) -> Run | None:
    return next((run for run in reversed(view.runs) if run.stage is stage), None)
