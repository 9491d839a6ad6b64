"""When an alarm is over: every one can be, and none needs its listener for it."""

import math
from collections.abc import Iterable
from enum import Enum
from fnmatch import fnmatchcase

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.lifecycle.actions import ClearAlarm
from fleet_runner.core.lifecycle.runs import Outcome, Stored
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import View

ANSWERED = frozenset({Outcome.PASSED, Outcome.FAILED})
"""Ends of a passive check in which the node gave an answer."""


class Answer(Enum):
    """What a node said of an alarm when it was asked by a passive check."""

    NOT_ASKED = "no passive check has begun since it was received"
    NONE = "the node was asked, and the check for it has no answer"
    YES = "a check sees it"
    NO = "no check sees it"


def cleared(view: View, now: float) -> tuple[ClearAlarm, ...]:
    """Return the alarms of a node that are over, each with how that is known."""
    found = ((alarm, _over(view, alarm, now)) for alarm in view.alarms)
    return tuple(ClearAlarm(alarm.id, because) for alarm, because in found if because)


def heard(alarm: Alarm) -> float:
    """Return when an alarm was heard of last, by whichever clock is ahead."""
    return max(alarm.last_at, alarm.heard_at)


def answer(view: View, alarm: Alarm) -> Answer:
    """Return what the node said of an alarm since it was heard of last.

    Where no check that looks for it answered, nor could not tell, none looks for it there: so nothing sees it.
    """
    asked = [run for run in view.runs if run.stage is Stage.HEALTH_PASSIVE and run.opened_at > heard(alarm)]
    if not asked:
        return Answer.NOT_ASKED
    covering, runs = coverage(alarm.code), {run.id for run in asked}
    found = [each for each in view.latest if each.run in runs and each.result.check in covering]
    if any(finding.fault == alarm.fault for stored in found for finding in stored.result.findings):
        return Answer.YES
    unsure = any(stored.result.verdict is Verdict.UNKNOWN for stored in found)
    return Answer.NONE if unsure or (not found and asked[-1].outcome not in ANSWERED) else Answer.NO


def coverage(code: str) -> tuple[str, ...]:
    """Return the checks that look for faults of a code, by name."""
    return tuple(name for name, check in CHECKS.items() if any(fnmatchcase(code, each.code) for each in check.codes))


def standing(alarms: Iterable[Alarm], over: Iterable[ClearAlarm]) -> tuple[Alarm, ...]:
    """Return the alarms that stand once those that are over have been cleared."""
    gone = {each.alarm for each in over}
    return tuple(alarm for alarm in alarms if alarm.id not in gone)


def quiet_at(view: View) -> float:
    """Return when the next alarm is over if nothing more is heard of it."""
    return min((alarm.heard_at + _quiet(view, alarm) for alarm in view.alarms), default=math.inf)


def _over(view: View, alarm: Alarm, now: float) -> str:
    """Say why an alarm is over, "" where it is not.

    A run that was under way may have read its log before the fault was in it, whenever it came to its verdict.
    """
    last = heard(alarm)
    if view.node.state is State.PRODUCTION and last < view.node.since:
        return "the node returned to production after the last signal"
    can_confirm = alarm.raised_at is not None and not alarm.authenticated and coverage(alarm.code)
    if can_confirm and answer(view, alarm) is Answer.NO:
        return "it was told without authentication, and the node, asked since, does not confirm it"
    later = {run.id for run in (*view.runs, view.run) if run is not None and run.opened_at > last}
    proof = next((stored for stored in view.latest if stored.run in later and _disproves(stored, alarm)), None)
    if alarm.raised_at is not None and proof is not None:
        return f"{proof.result.check} ran after the last signal, and does not see it"
    quiet = _quiet(view, alarm)
    return f"no more signals for {quiet / 3600:.3g} h" if now >= alarm.heard_at + quiet else ""


def _disproves(stored: Stored, alarm: Alarm) -> bool:
    return (
        stored.result.verdict is Verdict.PASS
        and stored.result.check in coverage(alarm.code)
        and not any(finding.fault == alarm.fault for finding in stored.result.findings)
    )


def _quiet(view: View, alarm: Alarm) -> float:
    """What does not count yet stands as long as it may still come to count."""
    following = view.rules.of(view.node.device_type, alarm.code)
    return following.quiet if alarm.raised_at is not None else max(following.quiet, following.within)
