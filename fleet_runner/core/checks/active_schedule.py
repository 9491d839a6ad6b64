"""When a node that serves is tested: every so often, only while nobody uses it, and not all nodes at once.

And what is told, or ended, of tests that do not come to an answer.
"""

import math
from datetime import UTC, datetime

from fleet_runner.core.budgets.modes import Kind
from fleet_runner.core.checks.active import go_on
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.confirmation import seen_once
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.idle import idle
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import Condition, Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View, move

NEVER = math.inf

ROUNDS = 24
"""Rounds in a row that gave way, after which people are told: at one an hour, a day of them."""

ROUND = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED})
"""How a round ends that came to an answer, or gave way."""

TAKEN = frozenset(Condition) - {Condition.WAIVED}
"""Conditions under which no test is begun: somebody uses the node, or something else is to happen to it."""


def look_again(view: View, timing: Timing) -> float | None:
    """Return when tests that run on a node are looked at again; None where none do."""
    own = _own(view)
    return (own[-1].ended_at or 0.0) + timing.active_visit if own and go_on(own) else None


def due(view: View, timing: Timing, now: float) -> float:
    """Return when a node in production is to be tested next, NEVER where it may not be now.

    Each node has its own moment, by its name: after a pause, or a start of the runner, they do not all begin at once.
    What was seen once is looked at soon.
    """
    if not view.tested or timing.active.is_off or is_taken(view) or not idle(view, now - 2 * timing.passive.pause):
        return NEVER
    own = _own(view)
    since = (own[-1].ended_at or own[-1].opened_at) if own else view.node.since
    if any(stored.stage is Stage.HEALTH_ACTIVE for stored, _ in seen_once(view)):
        return since + min(timing.active.pause, timing.confirm)
    return timing.active.due(view.node.name, since, now)


def gave_way(view: View) -> bool:
    """Whether the last round of a node that is to be tested gave way."""
    own = _own(view)
    return view.tested and bool(own) and own[-1].outcome is Outcome.SKIPPED


def untested(view: View) -> str:
    """Say since when an idle node is not tested, because whatever begins gives way; "" where there are answers."""
    rounds = view.rounds[-ROUNDS:]
    if len(rounds) < ROUNDS or any(run.outcome is not Outcome.SKIPPED for run in rounds):
        return ""
    since = max([view.node.since, *(each.at for each in view.latest if _is_answer(each))])
    if since > rounds[0].opened_at:
        return ""
    day = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%d %H:%M UTC")
    why = rounds[-1].detail.partition("; ")[0]
    return f"not tested since {day}; {why}; if that only watches, name it in active_ignored"


def ended_first(view: View, decision: Decision, now: float) -> Decision:
    """Have the tests of an overdue burn-in ended, as a drain does, before hands touch the node; none begins again."""
    late = any(isinstance(each, Move) and each.transition.event is Event.OVERDUE for each in decision.actions)
    if view.node.state is not State.BURN_IN:
        return decision
    if any(run.stage is Stage.DRAIN for run in view.runs):
        because = "Its time was over, and its tests were ended."
        return decision if late else Decision((move(view, Event.OVERDUE, because),), "", now)
    if not late:
        return decision
    return Decision((OpenRun(Stage.DRAIN, "its burn-in is over; what still runs of it ends"),), "", now)


def is_taken(view: View) -> bool:
    """Whether nothing may be begun on a node in service: a look would begin again what gave way."""
    customers = view.node.management is Management.CUSTOMER
    return customers or not view.modes.acts(Kind.TESTS) or bool(TAKEN & view.node.conditions.keys())


def _is_answer(stored: Stored) -> bool:
    check = CHECKS.get(stored.result.check)
    spoke = stored.result.verdict in {Verdict.PASS, Verdict.FAIL} and stored.stage is not Stage.HEALTH_PASSIVE
    return check is not None and check.job is not None and spoke


def _own(view: View) -> list[Run]:
    return [run for run in view.runs if run.stage is Stage.HEALTH_ACTIVE and run.fence > 0]
