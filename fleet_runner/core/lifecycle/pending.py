"""A remedy that is decided: the node takes no new work, and the remedy waits until it is idle, or does not wait."""

from collections.abc import Collection
from dataclasses import replace

from fleet_runner.core.checks.answers import code_of
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.alarm_clearing import coverage
from fleet_runner.core.faults.confirmation import overlooks
from fleet_runner.core.faults.needs import CARRIED_OUT, Need, calls, faults, waived
from fleet_runner.core.faults.rules.rules import LADDER, AtDeadline
from fleet_runner.core.firmware.rollout import number
from fleet_runner.core.lifecycle import idle
from fleet_runner.core.lifecycle.actions import Action, BeginAttempt, ClearCondition, Decision, OpenRun, SetCondition
from fleet_runner.core.lifecycle.runs import RUNNER, Held, is_of_cluster
from fleet_runner.core.lifecycle.states import Condition, Stage
from fleet_runner.core.lifecycle.view import Timing, View, move

FRESH = 60.0
"""Seconds for which an answer about the use of a node holds at least: a busy runner may need them to see it."""

ENDS_TESTS = frozenset({Remedy.REBOOT, Remedy.POWER_CYCLE})
"""Remedies that end tests of ours by themselves; any other one waits until the drain has ended them."""

HOLDS = (Condition.PENDING, Condition.DRAINING, Condition.CORDONED)
"""What holds while a remedy is pending."""


def is_automatic(pending: Held) -> bool:
    """Whether no person asked for what is pending: then budgets and the circuit breaker count it."""
    return pending.by == RUNNER or number(pending.by) is not None or is_of_cluster(pending.by)


def pend(remedy: Remedy, held: Held, results: tuple[int, ...] = (), against: str = "") -> tuple[Action, ...]:
    """Return what a pending remedy sets: the node takes no new work and waits until it is idle.

    `against` are the keys of the faults that ask for it, one a line.
    """
    drained = replace(held, reason=f"its {remedy} waits for its work to end", detail=against)
    return (
        SetCondition(Condition.PENDING, replace(held, detail=remedy.value), results),
        SetCondition(Condition.CORDONED, replace(held, reason=f"it takes no new work until its {remedy}"), results),
        SetCondition(Condition.DRAINING, drained, results),
    )


def pend_need(view: View, need: Need, now: float) -> tuple[Action, ...]:
    """Return what makes a need pending; the deadline of one whose place it takes goes on."""
    pending = view.node.conditions.get(Condition.PENDING)
    mine = pending is not None and pending.by == RUNNER
    since = pending.since if pending is not None and mine else now
    against = frozenset(need.faults) | (against_which(view) if mine else frozenset())
    return pend(need.remedy, Held(since, need.reason, RUNNER), need.results, "\n".join(sorted(against)))


def against_which(view: View) -> frozenset[str]:
    """Return the keys of the faults that asked for what is pending, empty where none did."""
    held = view.node.conditions.get(Condition.DRAINING)
    return frozenset(held.detail.splitlines()) if held else frozenset()


def clear(view: View, by: str, sentence: str, what: tuple[Condition, ...] = HOLDS) -> tuple[Action, ...]:
    """Return what ends a pending remedy, as far as it holds."""
    return tuple(ClearCondition(condition, by, sentence) for condition in what if condition in view.node.conditions)


def waive(view: View, held: Held) -> tuple[Action, ...]:
    """Return what cancelling sets: the faults of now lead to nothing until they have gone."""
    found = waived(view) | {call.fault for call in calls(view)}
    if not found:
        return ()
    return (SetCondition(Condition.WAIVED, replace(held, detail="\n".join(sorted(found)))),)


def unwaive(view: View) -> tuple[Action, ...]:
    """Each waived fault that is gone may count again when it comes back."""
    held = view.node.conditions.get(Condition.WAIVED)
    if held is None:
        return ()
    seen = faults(view)
    left = {fault for fault in waived(view) if fault in seen or is_unsure(view, {fault}, held.since)}
    if left == waived(view):
        return ()
    if left:
        return (SetCondition(Condition.WAIVED, replace(held, detail="\n".join(sorted(left)))),)
    return (ClearCondition(Condition.WAIVED, RUNNER, "The waived fault has cleared; it counts again if it returns."),)


def is_unsure(view: View, about: Collection[str], since: float) -> bool:
    """Whether a check that looks for one of these faults has no answer now: what it does not see may still be there.

    What had no answer `since` before (epoch seconds) did not see them then either. Where it is not known which faults
    they are (`about` is empty), every check counts.
    """
    looking = {check for fault in about for check in coverage(code_of(fault))}
    return any(
        (stored.result.verdict is Verdict.UNKNOWN or any(overlooks(stored.result, fault) for fault in about))
        and stored.at > since
        and (not about or stored.result.check in looking)
        for stored in view.latest
    )


def carry_out(view: View, pending: Held, need: Need | None, timing: Timing, now: float) -> Decision:
    """Carry a pending remedy out if its time has come; else ask whether the node is idle, or say what is missing."""
    asked = next((run for run in reversed(view.runs) if run.stage is Stage.DRAIN), None)
    drained_at = asked.ended_at or 0.0 if asked is not None else 0.0
    newest = _newest(pending, timing, now)
    ready = _ready(view, pending, newest)
    if not ready and drained_at > pending.since:
        ready = _regardless(view, pending, need, timing, now)
    if ready:
        return Decision(_moved(view, pending, need, ready), "", now)
    due = drained_at + timing.drain if drained_at > pending.since else 0.0
    if now >= due:
        return Decision((OpenRun(Stage.DRAIN, f"{pending.detail} waits for the node to be idle"),), "", now)
    return Decision((), _why_pending(view, pending, newest, timing, now), due)


def _newest(pending: Held, timing: Timing, now: float) -> float:
    """Return from when on an answer about the use of a node counts: work may have begun since an older one."""
    return max(pending.since, now - max(2 * timing.drain, FRESH))


def _moved(view: View, pending: Held, need: Need | None, why: str) -> tuple[Action, ...]:
    """Return what takes the node out of service; the attempt is remembered from then on."""
    remedy = Remedy(pending.detail)
    left = clear(view, RUNNER, why, (Condition.PENDING, Condition.DRAINING))
    results, against = (need.results, need.faults) if need is not None else ((), ())
    begun = (BeginAttempt(remedy, against, pending.by),) if remedy in LADDER else ()
    return (*left, move(view, CARRIED_OUT[remedy], pending.reason, results), *begun)


def _ready(view: View, pending: Held, newest: float) -> str:
    """Say that nobody uses the node, nor tests of ours that the remedy would not end; "" where that is not known."""
    if not idle.idle_for_a_remedy(view, newest) or (_is_tested(view) and pending.detail not in ENDS_TESTS):
        return ""
    return "The node is idle: the remedy is carried out now."


def _regardless(view: View, pending: Held, need: Need | None, timing: Timing, now: float) -> str:
    """Say why a remedy of the runner's own does not wait for the work that runs; "" where it does.

    Nothing new starts by now: the drain was asked for once. A fault that ends work has ended its own: where others'
    may run beside it, or nobody can tell, the remedy waits like any. What is never to be interrupted is waited for,
    and so is whoever else works on the node, and the word that there is neither.
    """
    if pending.by != RUNNER or idle.keeps(view, pending.since) is not None:
        return ""
    if need is not None and need.at_once and (why := idle.lost(view, _newest(pending, timing, now))):
        return f"The fault has ended the node's work, {why}: the remedy does not wait, it is carried out now."
    if view.rules.at_deadline is AtDeadline.ACT and now - pending.since > deadline(view, timing):
        return "The drain is over its deadline: the remedy is carried out now, as the policy says."
    return ""


def _is_tested(view: View) -> bool:
    """Whether tests of ours load the node."""
    usage = idle.usage(view)
    return usage is not None and usage.result.observed.get("ours") is not None


def deadline(view: View, timing: Timing) -> float:
    """Return for how many seconds the work of a node may keep its remedy waiting."""
    return timing.drain_deadline if view.rules.deadline is None else view.rules.deadline


def _why_pending(view: View, pending: Held, newest: float, timing: Timing, now: float) -> str:
    keeps = idle.keeps(view, pending.since)
    sentence = f"{pending.detail} pending, {keeps.why if keeps else _doubt(view, newest)}: {pending.reason}"
    if now - pending.since > deadline(view, timing):
        hours = deadline(view, timing) / 3600
        way = f"{keeps.step}, the {pending.detail} follows; or cancel" if keeps else "cancel, or end the work"
        return f"{sentence} The drain is over its deadline, {hours:.3g} h: a person decides ({way})."
    return sentence


def _doubt(view: View, newest: float) -> str:
    usage = idle.usage(view)
    if usage is None or usage.at <= newest:
        return "whether work runs on it is unknown"
    if usage.result.observed.get("in_use"):
        return "its work has not ended"
    if not idle.idle_for_a_remedy(view, newest):
        return f"{idle.scheduler_named(view)} has work on it, or does not answer"
    return "our own tests have not ended"
