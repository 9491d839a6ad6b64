"""What a serving node needs: its schedules kept, and from a fault the smallest safe remedy at the right moment."""

from dataclasses import replace

from fleet_runner.core import testing
from fleet_runner.core.actions import Action, ClearCondition, Decision, OpenRun, SetCondition
from fleet_runner.core.firmware.rollout import number
from fleet_runner.core.lifecycle import Condition, Event, Stage
from fleet_runner.core.records import Management
from fleet_runner.core.remedies import CARRIED_OUT, EVENTS, Need, calling, needed
from fleet_runner.core.runs import Held, Outcome, Run, Stored
from fleet_runner.core.sightings import is_slow, seen_once
from fleet_runner.core.stages import NO_VERDICT
from fleet_runner.core.standing import standing
from fleet_runner.core.verdicts import Remedy, Verdict
from fleet_runner.core.view import FAR, RUNNER, Timing, View, move

USAGE = "gpu_usage"
"""The check that tells whether a tenant's work runs on the node."""

FRESH = 60.0
"""Seconds for which an answer about the use of a node holds at least: a busy runner may need them to see it."""


def watch(view: View, timing: Timing, now: float) -> Decision:
    """Decide for a node in production."""
    usage = _usage(view)
    noted = (*_note_usage(view, usage), *_unwaive(view))
    decision = _watch(view, usage, timing, now)
    return replace(decision, actions=(*noted, *decision.actions))


def _watch(view: View, usage: Stored | None, timing: Timing, now: float) -> Decision:
    pending = view.node.conditions.get(Condition.PENDING)
    need = None if view.node.management is Management.CUSTOMER else _needed(view)
    if pending is not None and view.called_off:
        return Decision(clear(view, RUNNER, f"{view.called_off}; the node serves on."), "", now)
    if Condition.MAINTENANCE in view.node.conditions:
        return _keep_schedules(view, timing, now)
    if need is not None and (
        pending is None or (_automatic(pending) and pending.detail != _remedy(need, view, timing))
    ):
        return Decision(_pend(need, view, timing, now), "", now)
    if pending is None:
        return _keep_schedules(view, timing, now)
    if pending.by == RUNNER and need is None and not _unsure(view):
        return Decision(clear(view, RUNNER, "No check sees the fault any more; the node serves on."), "", now)
    return _carry_out(view, pending, usage, timing, now)


def _needed(view: View) -> Need | None:
    """Return what the node needs; a test that was slow once asks for nothing yet."""
    once = frozenset(finding.fault for stored, finding in seen_once(view) if is_slow(stored, finding))
    return needed(view.latest, view.node.since, waived(view) | once)


def _automatic(pending: Held) -> bool:
    """Whether no person asked for what is pending: a fault that calls for something else then comes first."""
    return pending.by == RUNNER or number(pending.by) is not None


def waived(view: View) -> frozenset[str]:
    """Return the keys of the faults from which a person said that nothing follows."""
    held = view.node.conditions.get(Condition.WAIVED)
    return frozenset(held.detail.splitlines()) if held else frozenset()


def waive(view: View, held: Held) -> tuple[Action, ...]:
    """Return what cancelling sets: the faults seen now lead to nothing until they have gone."""
    faults = waived(view) | {finding.fault for _, finding in calling(view.latest, view.node.since)}
    if not faults:
        return ()
    return (SetCondition(Condition.WAIVED, replace(held, detail="\n".join(sorted(faults)))),)


def _unwaive(view: View) -> tuple[Action, ...]:
    """A waived fault that is gone may count again when it comes back."""
    if (
        Condition.WAIVED not in view.node.conditions
        or _unsure(view)
        or any(finding.fault in waived(view) for stored in view.latest for finding in stored.result.findings)
    ):
        return ()
    return (ClearCondition(Condition.WAIVED, RUNNER, "The waived fault is gone; it counts again if it returns."),)


def pend(remedy: Remedy, held: Held, results: tuple[int, ...] = ()) -> tuple[Action, ...]:
    """Return what a pending remedy sets: the node takes no new work and waits until it is idle."""
    return (
        SetCondition(Condition.PENDING, replace(held, detail=remedy.value), results),
        SetCondition(Condition.CORDONED, replace(held, reason=f"it takes no new work until its {remedy}"), results),
        SetCondition(Condition.DRAINING, replace(held, reason=f"its {remedy} waits for its work to end"), results),
    )


def clear(
    view: View,
    by: str,
    sentence: str,
    what: tuple[Condition, ...] = (Condition.PENDING, Condition.DRAINING, Condition.CORDONED),
) -> tuple[Action, ...]:
    """Return what ends a pending remedy, as far as it holds."""
    return tuple(ClearCondition(condition, by, sentence) for condition in what if condition in view.node.conditions)


def _remedy(need: Need, view: View, timing: Timing) -> Remedy:
    """A reboot that did not help often enough today is not tried once more: a person looks."""
    if EVENTS[need.remedy] is Event.REBOOT_NEEDED:
        return Remedy.TRIAGE if view.reboots >= timing.reboots_per_day else Remedy.REBOOT
    return Remedy.TRIAGE


def _pend(need: Need, view: View, timing: Timing, now: float) -> tuple[Action, ...]:
    remedy = _remedy(need, view, timing)
    reason = need.finding.message
    if remedy is not need.remedy and remedy is Remedy.TRIAGE and EVENTS[need.remedy] is Event.REBOOT_NEEDED:
        reason = f"{reason} It was rebooted {view.reboots} times in 24 h already."
    return pend(remedy, Held(now, reason, RUNNER), need.results)


def _usage(view: View) -> Stored | None:
    found = (stored for stored in view.latest if stored.result.check == USAGE)
    usage = next(found, None)
    return usage if usage is not None and usage.result.verdict is Verdict.PASS else None


def idle(view: View, newest: float) -> bool:
    """Whether nobody uses the node, by an answer that is newer than `newest`."""
    return testing.is_idle(_usage(view), newest)


def _note_usage(view: View, usage: Stored | None) -> tuple[Action, ...]:
    if usage is None:
        return ()
    used = bool(usage.result.observed.get("in_use"))
    if used and Condition.IN_USE not in view.node.conditions:
        held = Held(usage.at, usage.result.message, RUNNER)
        return (SetCondition(Condition.IN_USE, held, (usage.id,)),)
    if not used and Condition.IN_USE in view.node.conditions:
        return (ClearCondition(Condition.IN_USE, RUNNER, "No work runs on it any more."),)
    return ()


def _carry_out(view: View, pending: Held, usage: Stored | None, timing: Timing, now: float) -> Decision:
    newest = max(pending.since, now - max(2 * timing.drain, FRESH))  # work may have begun since an older answer
    fresh = usage if usage is not None and usage.at > newest else None
    if fresh is not None and not fresh.result.observed.get("in_use") and not _waits_for_tests(fresh, pending):
        idle = "The node is idle: the remedy is carried out now."
        left = clear(view, RUNNER, idle, (Condition.PENDING, Condition.DRAINING))
        need = _needed(view)
        results = need.results if need else ()
        return Decision((*left, move(view, CARRIED_OUT[Remedy(pending.detail)], pending.reason, results)), "", now)
    asked = _last(view, Stage.DRAIN)
    since_asked = asked.ended_at or 0.0 if asked is not None else 0.0
    due = since_asked + timing.drain if since_asked > pending.since else 0.0
    if now >= due:
        return Decision((OpenRun(Stage.DRAIN, f"{pending.detail} waits for the node to be idle"),), "", now)
    meanwhile = _keep_schedules(view, timing, now)
    return replace(meanwhile, waiting=_why_pending(pending, fresh, timing, now), wake_at=min(due, meanwhile.wake_at))


def _waits_for_tests(usage: Stored, pending: Held) -> bool:
    """Whether tests of ours load the node: a reboot ends them, anything else waits until the drain has ended them."""
    return usage.result.observed.get("ours") is not None and pending.detail != Remedy.REBOOT


def _why_pending(pending: Held, usage: Stored | None, timing: Timing, now: float) -> str:
    doubt = "its work has not ended"
    if usage is None:
        doubt = "whether work runs on it is unknown"
    elif not usage.result.observed.get("in_use"):
        doubt = "tests of ours have not ended"
    sentence = f"{pending.detail} pending, {doubt}: {pending.reason}"
    if now - pending.since > timing.drain_deadline:
        return f"{sentence} The drain is over its deadline: a person decides (cancel, or end the work)."
    return sentence


def _keep_schedules(view: View, timing: Timing, now: float) -> Decision:
    if view.status is None:
        return Decision((), "the source of truth does not know it any more; nothing is run on it", now + FAR)
    sweeps = _keep_sweeps(view, timing, now)
    if any(isinstance(action, OpenRun) for action in sweeps.actions):
        return sweeps
    again = None if testing.is_taken(view) else testing.look_again(view, timing)
    due = testing.due(view, _usage(view), timing, now) if again is None else again
    if now < due:
        last = _last(view, Stage.HEALTH_ACTIVE) if again is not None else None
        told = standing(view.latest, last) if last is not None else ""
        return replace(sweeps, waiting=sweeps.waiting or told, wake_at=min(due, sweeps.wake_at))
    why = "scheduled tests of an idle node" if again is None else "its tests run"
    return Decision((OpenRun(Stage.HEALTH_ACTIVE, why),), "", now)


def _keep_sweeps(view: View, timing: Timing, now: float) -> Decision:
    again = {stored.stage for stored, _ in seen_once(view)}
    pauses = {Stage.HEALTH_PASSIVE: timing.passive, Stage.CABLING: timing.cabling}
    due = {
        stage: (last.ended_at or 0.0) + (min(pause, timing.confirm) if stage in again else pause)
        if (last := _last(view, stage))
        else 0.0
        for stage, pause in pauses.items()
    }
    for stage, at in due.items():
        if now >= at:
            why = "a fault was seen once, this look confirms it or not" if stage in again else f"scheduled {stage}"
            return Decision((OpenRun(stage, why),), "", now)
    return Decision((), _health(view), min(now + FAR, *due.values()))


def _health(view: View) -> str:
    """What `status` says of a node that serves: nothing while all is well."""
    for stage in (Stage.HEALTH_PASSIVE, Stage.CABLING, Stage.HEALTH_ACTIVE):
        last = _last(view, stage)
        if last is not None and last.outcome in NO_VERDICT - {Outcome.SKIPPED}:
            return f"UNKNOWN: {stage}: {last.detail or last.outcome}"
    slow = next((stored.result for stored, finding in seen_once(view) if is_slow(stored, finding)), None)
    if slow is not None:
        return f"{slow.check}: {slow.message}; seen once, the next round confirms it or not"
    return testing.untested(view)


def _unsure(view: View) -> bool:
    """Whether a check has no answer now: what it does not see may still be there."""
    return any(stored.result.verdict is Verdict.UNKNOWN for stored in view.latest)


def _last(view: View, stage: Stage) -> Run | None:
    return next((run for run in reversed(view.runs) if run.stage is stage), None)
