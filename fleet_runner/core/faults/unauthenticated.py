"""Alarms that came without authentication: the node is asked first, and only what its checks find is acted on."""

import math

from fleet_runner.core.faults.alarm_clearing import Answer, answer, coverage, heard
from fleet_runner.core.faults.signals.alarm import UNPROVEN, Alarm
from fleet_runner.core.lifecycle.runs import Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.view import Timing, View

ASKS = "an alarm came without authentication: this look confirms it or not"
"""Why a passive check is run that is made for such alarms."""

LEAST = 60.0
"""Seconds between two such looks at least, however soon the settings confirm faults of cabling."""


def unanswered(view: View) -> tuple[Alarm, ...]:
    """Return the alarms without authentication that count, and about which the node has said nothing since.

    What no check of ours looks for, nobody can ask it about: its alarm stands for as long as its sender says so.
    """
    return tuple(
        alarm
        for alarm in view.alarms
        if not alarm.authenticated
        and alarm.raised_at is not None
        and heard(alarm) >= view.node.since
        and coverage(alarm.code)
        and answer(view, alarm) in {Answer.NOT_ASKED, Answer.NONE}
    )


def ask_at(view: View, timing: Timing) -> float:
    """Return when the node is asked about its alarms (epoch seconds): at once, and then no sooner than `confirm`.

    So whoever forges alarms without end has a node looked at a few times an hour, and no more.
    """
    if not unanswered(view):
        return math.inf
    last = _last(view)
    return (last.ended_at or 0.0) + max(timing.confirm, LEAST) if last is not None and last.reason == ASKS else 0.0


def told(view: View) -> str:
    """Say that a node is to be asked about an alarm, or that it gave no answer; "" where there is no such alarm."""
    waiting = unanswered(view)
    if not waiting:
        return ""
    first, last = waiting[0], _last(view)
    about = f"{first.code} of {first.component}" if first.component else first.code
    more = f" and {len(waiting) - 1} more" if waiting[1:] else ""
    if last is None or answer(view, first) is Answer.NOT_ASKED:
        return f"alarm {about}{more}: {UNPROVEN}"
    return (
        f"UNKNOWN: alarm {about}{more} was told without authentication, and the node did not answer when it was asked"
        f" ({last.detail or last.outcome}); nothing is done by itself: look at it, or ask for a remedy"
    )


def _last(view: View) -> Run | None:
    return next((run for run in reversed(view.runs) if run.stage is Stage.HEALTH_PASSIVE), None)
