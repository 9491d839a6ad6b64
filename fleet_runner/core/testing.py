"""When a node that serves is tested: every so often, only while nobody uses it, and not all nodes at once."""

import math
from zlib import crc32

from fleet_runner.core.active import go_on
from fleet_runner.core.lifecycle import Condition, Stage
from fleet_runner.core.records import Management
from fleet_runner.core.runs import Run, Stored
from fleet_runner.core.view import Timing, View

NEVER = math.inf

TAKEN = frozenset(Condition) - {Condition.WAIVED}
"""Conditions under which no test is begun: somebody uses the node, or something else is to happen to it."""


def look_again(view: View, timing: Timing) -> float | None:
    """Return when tests that run on a node are looked at again; None where none do."""
    own = _own(view)
    return (own[-1].ended_at or 0.0) + timing.active_visit if own and go_on(own) else None


def due(view: View, usage: Stored | None, timing: Timing, now: float) -> float:
    """Return when a node in production is to be tested next, NEVER where it may not be now.

    `usage` is the newest answer to whether somebody uses it. Each node has its own minute of the hour, by its name:
    after a pause, or a start of the runner, they do not all begin at once.
    """
    if not view.tested or not timing.active or is_taken(view) or not is_idle(usage, now - 2 * timing.passive):
        return NEVER
    own = _own(view)
    since = (own[-1].ended_at or own[-1].opened_at) if own else view.node.since
    offset = crc32(view.node.name.encode()) % 1000 / 1000 * timing.active
    return (math.floor((since - offset) / timing.active) + 1) * timing.active + offset


def is_taken(view: View) -> bool:
    """Whether nothing may be begun on a node in service: a look would begin again what gave way."""
    return view.node.management is Management.CUSTOMER or bool(TAKEN & view.node.conditions.keys())


def is_idle(usage: Stored | None, newest: float) -> bool:
    """Whether a node was seen idle lately; work that has come since has the node to itself within seconds."""
    return usage is not None and usage.at > newest and usage.result.observed.get("in_use") is False


def _own(view: View) -> list[Run]:
    return [run for run in view.runs if run.stage is Stage.HEALTH_ACTIVE and run.fence > 0]
