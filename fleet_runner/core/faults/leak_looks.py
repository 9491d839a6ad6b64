"""When a BMC is asked about coolant: at once where one told of it, and again soon for as long as it is seen.

BMCs are read a few times a day; water does not wait for that. A look costs a node nothing, so whoever told need not
have proved who it is: forged messages without end have the BMC asked a few times an hour, and no more.
"""

import math

from fleet_runner.core.checks.answers import code_of
from fleet_runner.core.checks.shared.leaks import SOUGHT
from fleet_runner.core.faults.alarm_clearing import heard
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.lifecycle.runs import Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.view import Timing, View

ASKS = "a BMC told of coolant, or coolant was seen: this look confirms it or not"
"""Why a BMC is read that is read for it."""

LEAST = 60.0
"""Seconds between two such looks at least; of messages without authentication, `confirm` if that is longer."""


def ask_at(view: View, timing: Timing) -> float:
    """Return when the BMC is asked (epoch seconds); infinity where nothing speaks of coolant, or nobody may ask."""
    if timing.cabling.is_off:
        return math.inf
    last = next((run for run in reversed(view.runs) if run.stage is Stage.CABLING), None)
    asking = [alarm for alarm in view.alarms if _unanswered(alarm, last)]
    if asking:
        pause = LEAST if any(alarm.authenticated for alarm in asking) else max(LEAST, timing.confirm)
        return 0.0 if last is None or last.reason != ASKS else (last.ended_at or 0.0) + pause
    if last is not None and _is_seen(view):
        return (last.ended_at or 0.0) + max(LEAST, min(timing.confirm, timing.cabling.pause))
    return math.inf


def _unanswered(alarm: Alarm, last: Run | None) -> bool:
    """Whether a BMC told of a leak, by the message's name or by the part's, and was not asked since."""
    told = alarm.code.startswith("redfish.") and "leak" in f"{alarm.code}/{alarm.component}".lower()
    return told and (last is None or last.opened_at <= heard(alarm))


def _is_seen(view: View) -> bool:
    """Whether coolant was seen: a detector that is mute since does not make it go away, nor close its ticket."""
    found = {finding.code for stored in view.latest for finding in stored.result.findings}
    return not SOUGHT.isdisjoint(found | {code_of(ticket.fault) for ticket in view.tickets})
