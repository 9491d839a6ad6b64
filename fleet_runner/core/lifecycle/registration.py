"""What a node that is only registered needs: a look at what is there, then Day 0 or to be adopted.

Nobody knows of a node that is new in the source whether it serves already. So it is looked at first, which touches
nothing. Day 0 boots it anew: it begins by itself only where its BMC says that nothing runs on it.
"""

from dataclasses import dataclass
from enum import Enum

from fleet_runner.core.budgets.modes import Kind
from fleet_runner.core.budgets.permission import would
from fleet_runner.core.cabling.exempt import READY
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import STAGES, Event, Stage
from fleet_runner.core.lifecycle.view import FAR, Timing, View, move

SOON = 300.0
"""Seconds after which a node that the source of truth does not offer yet is looked at again."""

FRESH = 900.0
"""Seconds for which a look at a machine that is off says that it still is; Day 0 looks once more before it acts."""

SLOWEST = 3600.0
"""Seconds; the pause between looks without an answer doubles up to this."""

POWER = "machine_power"
UP = "node_up"
"""The checks of a survey: what the BMC says of power and boot, and what the node says of itself."""

OFF = "Off"
OS = frozenset({"OSBootStarted", "OSRunning"})
"""Redfish's words for the power and the boot of a machine (ComputerSystem: PowerState, BootProgress.LastState)."""


EITHER = "fleet-runner adopt takes it into production as it is, fleet-runner provision boots it anew"
"""What a person may do with a machine that runs."""


class There(Enum):
    """What a survey found of a node's machine."""

    NOTHING_RUNS = 1  # off, or it never came as far as an operating system
    RUNS = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What is there, in one clause."""

    there: There
    sentence: str


def advance(view: View, timing: Timing, now: float) -> Decision:
    """Decide for a registered node."""
    if view.status not in READY:
        there = f"is {view.status!r} there" if view.status else "is not in it any more"
        return Decision((), f"the source of truth must call it active or staged; it {there}", now + SOON)
    last = survey(view)
    found = found_by(view, last)
    due = _due(view, last, found, timing)
    if last is None or now >= due:
        return Decision((OpenRun(Stage.SURVEY, STAGES[Stage.SURVEY].meaning),), "survey starts", now)
    if found.there is There.RUNS:
        return Decision((), f"{found.sentence}; {EITHER}", due)
    if found.there is There.UNKNOWN:
        return Decision((), f"UNKNOWN whether it runs: {found.sentence}; looked at again; {EITHER}", due)
    if not view.modes.acts(Kind.PROVISION):
        return Decision((), f"{found.sentence}; {would(view, Kind.PROVISION)}", due)
    return Decision((move(view, Event.START, f"{found.sentence}.", _seen(view, last)),), "", now)


def survey(view: View) -> Run | None:
    """Return the newest survey that came to its end."""
    return next((run for run in reversed(view.runs) if run.stage is Stage.SURVEY), None)


def said(view: View, check: str) -> Stored | None:
    """Return what a check of the newest survey answered; None where it was not asked."""
    last = survey(view)
    return next((each for each in view.latest if each.result.check == check and last and each.run == last.id), None)


def found_by(view: View, last: Run | None) -> Found:
    """Return what the newest survey found. What answers runs, whatever its BMC says of it."""
    up, power = said(view, UP), said(view, POWER)
    if up is not None and up.result.verdict is Verdict.PASS:
        return Found(There.RUNS, f"it runs: {up.result.message}")
    if power is None or power.result.verdict is not Verdict.PASS:
        why = power.result.message if power is not None else _unsaid(last)
        return Found(There.UNKNOWN, why)
    sentence = f"its BMC says: {power.result.message}"
    if power.result.observed.get("power") == OFF and up is None:
        return Found(There.NOTHING_RUNS, sentence)
    if power.result.observed.get("boot") in OS:
        return Found(There.RUNS, f"{sentence}, and it does not answer over ssh")
    return Found(There.UNKNOWN, f"{sentence}, and it does not answer over ssh")


def _unsaid(last: Run | None) -> str:
    return (last.detail if last is not None else "") or "the survey gave no answer"


def _seen(view: View, last: Run) -> tuple[int, ...]:
    return tuple(each.id for each in view.latest if each.run == last.id)


def _due(view: View, last: Run | None, found: Found, timing: Timing) -> float:
    """Return when the machine is looked at again: soon where nobody knows, before Day 0, and else once an hour."""
    if last is None:
        return 0.0
    ended = last.ended_at or 0.0
    if last.outcome in {Outcome.LOST, Outcome.CANCELLED}:
        return ended + timing.retry
    if found.there is There.UNKNOWN:
        tries = sum(run.stage is Stage.SURVEY for run in view.runs)
        return ended + min(timing.retry * 2.0 ** min(tries - 1, 20), SLOWEST)
    acts = found.there is There.NOTHING_RUNS and view.modes.acts(Kind.PROVISION)
    return ended + (FRESH if acts else FAR)
