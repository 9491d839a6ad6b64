"""What a node in a moving state needs next: a run of a stage, a retry after a pause, or a transition."""

from fleet_runner.core.checks.progress import standing
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.escalation import Attempt, NextRemedy, climb, going_on
from fleet_runner.core.firmware.unobserved import gaps, unwatched
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.outcomes import OURS, is_own
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import STAGES, STATES, Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View, move_by

LONGEST_RETRY = 900.0
"""Seconds; the pause between tries doubles up to this."""

APART = 3600.0
"""Seconds that may lie between the beginnings of two looks at a node; what is longer does not count."""

BY_HAND = 0
"""The fencing number of a play that a person ran: its results are kept and ticketed, it decides no state."""

NO_VERDICT = frozenset({Outcome.UNKNOWN, Outcome.LOST, Outcome.SKIPPED})
"""Outcomes after which a stage is tried again, later each time; not a cancelled run, nor one whose work goes on."""


def advance(view: View, timing: Timing, now: float) -> Decision:
    """Take a node in a moving state one step on."""
    own = [run for run in view.runs if run.fence > BY_HAND]
    since = view.node.since
    passed: list[Run] = []
    for stage in STATES[view.node.state].stages:
        runs = [run for run in own if run.stage is stage and run.opened_at >= since]
        if not runs or runs[-1].outcome is not Outcome.PASSED:
            return _stage(view, stage, runs, timing, now)
        passed.append(runs[-1])
        since = passed[-1].ended_at or since
    return Decision((move_by(view, Event.PASSED, passed[-1]),), "", now)


def progress(run: Run, estimate: float | None) -> str:
    """Say what an open run is doing; the estimate is the stage's usual length in seconds."""
    parts = [f"{run.stage} runs"]
    if run.total:
        parts.append(f"{run.done} of {run.total} tasks")
    if run.task:
        parts.append(run.task)
    if estimate is not None:
        parts.append(f"usually {estimate:.0f} s")
    return ", ".join(parts)


def _stage(view: View, stage: Stage, runs: list[Run], timing: Timing, now: float) -> Decision:
    place = STATES[view.node.state]
    if not runs:
        return Decision((OpenRun(stage, STAGES[stage].meaning),), f"{stage} starts", now)
    last = runs[-1]
    if last.outcome is Outcome.FAILED:
        return Decision((move_by(view, _failed(view, now), last, last.detail),), "", now)
    looks = sum(run.outcome in NO_VERDICT for run in runs)
    tries = sum(run.outcome is Outcome.UNKNOWN and not is_own(run) for run in runs)
    begun = _begun(view)
    deadline = begun + (place.deadline or 0.0) + _away(runs, begun, now)
    if tries < place.attempts and now >= deadline > last.opened_at and _is_unseen(last, looks, timing, now):
        return Decision((OpenRun(stage, "its time is over, and it was not checked lately"),), f"{stage} starts", now)
    if tries >= place.attempts or (now >= deadline and not is_own(last)):
        because = f"{tries} of {place.attempts} tries gave no verdict; the last one: {_words(last)}."
        return Decision((move_by(view, Event.OVERDUE, last, because),), "", now)
    due = again_at(last, looks, timing)
    if now < due:
        return Decision((), _waits(view, last, tries), min(due, deadline) if now < deadline else due)
    return Decision((OpenRun(stage, f"{stage}, try {tries + 1} of {place.attempts}"),), f"{stage} starts", now)


def _waits(view: View, last: Run, tries: int) -> str:
    """Say what a stage waits for until it is tried again: what goes on, or why there is no verdict."""
    told = (standing(view.latest, last) if last.outcome is Outcome.WORKING else "") or _words(last)
    if is_own(last) and last.outcome is not Outcome.CANCELLED:
        return f"{OURS}{told.removeprefix(OURS).removesuffix('.')}; it counts as no try, and is repeated soon"
    often = "1 try" if tries == 1 else f"{tries} tries"
    return told if tries == 0 else f"UNKNOWN after {often}, tried again soon: {told}"


def climb_on(view: View, failed: Attempt, now: float) -> NextRemedy:
    """Return what comes after a reset that did not help: a reboot or harder, as the ladder and its caps have it."""
    return climb(Remedy.REBOOT, failed.faults, view.attempts, view.rules, now)


def _failed(view: View, now: float) -> Event:
    """Return the event that a failed stage becomes: a person is asked where no remedy is left to try."""
    going = going_on(view.attempts)
    stuck = going is not None and climb_on(view, going, now).remedy is Remedy.TRIAGE
    return Event.TRIAGE_NEEDED if stuck and view.node.state is State.RESET else Event.FAILED


def _begun(view: View) -> float:
    """Return when a stay's time begins to count: not while it is held, waits for a slot, or may not be worked on."""
    return max(view.node.since, view.released_at, view.began_at or 0.0, view.waited_until, view.modes.since)


def _away(runs: list[Run], begun: float, now: float) -> float:
    """Return how long nobody looked at a node: none has failed because a clock was set forward."""
    looks = (run.opened_at for run in runs if run.opened_at >= begun)
    return unwatched(gaps(looks, now, APART), begun)


def again_at(last: Run, looks: int, timing: Timing) -> float:
    """Return when a stage is tried again after so many looks without a verdict."""
    return (last.ended_at or 0.0) + _pause(last, looks, timing)


def _pause(last: Run, looks: int, timing: Timing) -> float:
    if last.outcome is Outcome.WORKING:
        return timing.firmware if last.stage is Stage.FIRMWARE else timing.working
    return min(timing.retry * 2.0 ** min(max(0, looks - 1), 20), LONGEST_RETRY)


def _is_unseen(last: Run, looks: int, timing: Timing, now: float) -> bool:
    """Whether nobody looked when the next look was due: the runner was away, paused, or had no room for a play.

    What went on meanwhile may have ended well, which a look tells. Time at firmware counts otherwise (see `_away`).
    """
    overdue = now - (last.ended_at or 0.0) > 2 * _pause(last, looks, timing)
    return last.stage is not Stage.FIRMWARE and overdue


def _words(run: Run) -> str:
    return run.detail or f"{run.stage} {run.outcome}"
