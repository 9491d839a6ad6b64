"""What a node in a moving state needs next: a run of a stage, patience, or a transition."""

from fleet_runner.core.actions import Decision, OpenRun
from fleet_runner.core.firmware.watched import gaps, unwatched
from fleet_runner.core.ladder import Attempt, Rung, climb, going_on
from fleet_runner.core.lifecycle import STAGES, STATES, Event, Stage, State
from fleet_runner.core.runs import Outcome, Run
from fleet_runner.core.standing import standing
from fleet_runner.core.verdicts import Remedy
from fleet_runner.core.view import Timing, View, move_by

LONGEST_RETRY = 900.0
"""Seconds; the pause between tries doubles up to this."""

APART = 3600.0
"""Seconds that may lie between the beginnings of two visits to a node's firmware; what is longer does not count."""

BY_HAND = 0
"""The fencing number of a play that a person ran: its results are kept and ticketed, it decides no state."""

NO_VERDICT = frozenset({Outcome.UNKNOWN, Outcome.LOST, Outcome.SKIPPED})
"""Outcomes that count against the attempt cap. A cancelled run does not, nor one whose work goes on."""


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
    tries = sum(run.outcome in NO_VERDICT for run in runs)
    begun = _begun(view)
    deadline = begun + (place.deadline or 0.0) + _away(stage, runs, begun, now)
    if tries < place.attempts and now >= deadline > last.opened_at and _is_unseen(last, tries, timing, now):
        return Decision((OpenRun(stage, "its time is over, and nobody has looked lately"),), f"{stage} starts", now)
    if tries >= place.attempts or now >= deadline:
        because = f"{tries} of {place.attempts} tries gave no verdict; the last one: {_words(last)}."
        return Decision((move_by(view, Event.OVERDUE, last, because),), "", now)
    due = again_at(last, tries, timing)
    if now < due:
        told = (standing(view.latest, last) if last.outcome is Outcome.WORKING else "") or _words(last)
        often = "1 try" if tries == 1 else f"{tries} tries"
        waiting = told if tries == 0 else f"UNKNOWN after {often}, tried again soon: {told}"
        return Decision((), waiting, min(due, deadline))
    return Decision((OpenRun(stage, f"{stage}, try {tries + 1} of {place.attempts}"),), f"{stage} starts", now)


def climb_on(view: View, failed: Attempt, now: float) -> Rung:
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


def _away(stage: Stage, runs: list[Run], begun: float, now: float) -> float:
    """Return how long nobody looked at a node's firmware: no flash has failed because a clock was set forward."""
    looks = (run.opened_at for run in runs if run.opened_at >= begun)
    return unwatched(gaps(looks, now, APART), begun) if stage is Stage.FIRMWARE else 0.0


def again_at(last: Run, tries: int, timing: Timing) -> float:
    """Return when a stage is tried again after so many tries without a verdict."""
    return (last.ended_at or 0.0) + _pause(last, tries, timing)


def _pause(last: Run, tries: int, timing: Timing) -> float:
    if last.outcome is Outcome.WORKING:
        return timing.firmware if last.stage is Stage.FIRMWARE else timing.working
    return min(timing.retry * 2.0 ** max(0, tries - 1), LONGEST_RETRY)


def _is_unseen(last: Run, tries: int, timing: Timing, now: float) -> bool:
    """Whether nobody looked when the next look was due: the runner was away, paused, or had no room for a play.

    What went on meanwhile may have ended well, which a look tells. Time at firmware counts otherwise (see `_away`).
    """
    overdue = now - (last.ended_at or 0.0) > 2 * _pause(last, tries, timing)
    return last.stage is not Stage.FIRMWARE and overdue


def _words(run: Run) -> str:
    return run.detail or f"{run.stage} {run.outcome}"
