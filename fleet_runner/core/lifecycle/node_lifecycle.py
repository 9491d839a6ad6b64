"""Kubernetes' own words for a node that is to be, or is, maintained: the conditions of KEP-5683 (alpha in 1.37).

Anybody with the right may write them, as `kubectl drain` may. So ours are only there while they are true, and carry
our name in front; one that is somebody else's is left, and an absent one says the same as "False".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fleet_runner.core.lifecycle.node_conditions import OUT, Told, camel, use, utc, waits_for
from fleet_runner.core.lifecycle.runs import RUNNER, Held, Node, Stored
from fleet_runner.core.lifecycle.states import STATES, Condition

DRAIN_IN_PROGRESS, DRAINED = "DrainInProgress", "Drained"
MAINTENANCE_PLANNED, MAINTENANCE_IN_PROGRESS = "MaintenancePlanned", "MaintenanceInProgress"
LIFECYCLE = (DRAIN_IN_PROGRESS, DRAINED, MAINTENANCE_PLANNED, MAINTENANCE_IN_PROGRESS)

OURS = "fleet-runner: "
"""What the message of each of ours begins with."""

ADMIN_REQUESTED, DRAIN_COMPLETED = "AdminRequested", "DrainCompleted"
"""Reasons that the document names; `FaultFound` is ours, where no person asked."""


def lifecycle(node: Node, latest: Iterable[Stored] = ()) -> tuple[Told, ...]:
    """Return those of the four conditions that are true of a node, by its row and its checks' newest results.

    A drain that the cluster does not show is none in progress, and a node is drained only of all its work.
    """
    told: list[Told] = []
    pending, drain = node.conditions.get(Condition.PENDING), node.conditions.get(Condition.DRAINING)
    cordon, maintenance = node.conditions.get(Condition.CORDONED), node.conditions.get(Condition.MAINTENANCE)
    is_out, scheduler = node.state in OUT, use(latest)
    if drain is not None and _is_drained(scheduler, drain):
        told.append(
            _told(
                DRAIN_IN_PROGRESS,
                _cause(drain),
                f"no new work since {utc(drain.since)}; it waits for {waits_for(node, scheduler)}",
            )
        )
    if drain is None and cordon is not None and is_out and _is_empty(scheduler):
        told.append(_told(DRAINED, DRAIN_COMPLETED, "its remedy has begun, and it takes no new work"))
    if pending is not None and not is_out:
        remedy = pending.detail or "a remedy"
        told.append(_told(MAINTENANCE_PLANNED, _cause(pending), f"{remedy} is pending since {utc(pending.since)}"))
    if maintenance is not None:
        told.append(_told(MAINTENANCE_IN_PROGRESS, ADMIN_REQUESTED, "a person does planned work on it"))
    elif is_out:
        since = f"since {utc(node.since)}: {STATES[node.state].meaning}"
        told.append(_told(MAINTENANCE_IN_PROGRESS, camel(node.state.value), since))
    return tuple(told)


def _is_drained(scheduler: Stored | None, drain: Held) -> bool:
    """Whether the scheduler has shown our drain since it was asked for."""
    return scheduler is not None and scheduler.at > drain.since and scheduler.result.observed.get("ours") is True


def _is_empty(scheduler: Stored | None) -> bool:
    return scheduler is not None and scheduler.result.observed.get("in_use") is False


def _cause(held: Held) -> str:
    return "FaultFound" if held.by == RUNNER else ADMIN_REQUESTED


def _told(name: str, reason: str, message: str) -> Told:
    return Told(name, "True", reason, OURS + message)


def lifecycle_is_told(current: Iterable[Mapping[str, Any]], want: Sequence[Told]) -> bool:
    """Tell if a node's conditions have all of those of ours that are true, and none of ours that is not."""
    current = list(current)
    want = left_to_us(current, want)
    there = {each.get("type"): each for each in current}
    wanted = {each.type for each in want}
    stale = any(is_ours(each) and each.get("type") not in wanted for each in there.values())
    return not stale and all(
        [there.get(each.type, {}).get(key) for key in ("status", "reason", "message")] == list(each[1:])
        for each in want
    )


def left_to_us(current: Iterable[Mapping[str, Any]], want: Iterable[Told]) -> tuple[Told, ...]:
    """Return what we say of what is true: nothing under a type of which somebody else says something."""
    theirs = {each.get("type") for each in current if not is_ours(each)}
    return tuple(each for each in want if each.type not in theirs)


def is_ours(condition: Mapping[str, Any]) -> bool:
    """Whether one of the four conditions was set by us."""
    return condition.get("type") in LIFECYCLE and str(condition.get("message")).startswith(OURS)
