"""Has a node's work ended, or, where a fault is said to have ended it, was that all the work that ran there?

A remedy that does not wait ends whatever runs on the node. One GPU of eight that fell off the bus has ended one job,
and the others may be well: only where one job has the whole node, or none is left, is nobody else's work lost.
"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.checks.verdicts import Result, Verdict

SOLE = "sole"
"""What `gpu_usage` and `scheduler` observe: whether all that runs is one's, and has the whole node."""

NEVER = "never"
"""What `scheduler` observes where work says of itself that it is never to be interrupted: which."""

OWNER = "owner"
"""What `scheduler` observes where something else repairs or removes the node now: who."""

CLUSTER = "cluster"
"""What `scheduler` observes of a Kubernetes cluster that has a name: which was asked, though it did not answer."""


def lost(usage: Result | None, scheduler: Result | None, *, scheduled: bool) -> str:
    """Say why a fault that ends work has ended all work of the node; "" where some of it may be well.

    `usage` and `scheduler` are what the two checks said since the fault, None where they were not asked. `scheduled`
    says that a scheduler gives nodes work: then its word counts, and where it does not say, nobody knows.
    """
    if scheduler is not None and scheduler.verdict is Verdict.PASS:
        if scheduler.observed.get("in_use"):
            return "one job has the whole node" if _is_sole(scheduler.observed) else ""
    elif scheduled and (scheduler is None or scheduler.verdict is not Verdict.SKIPPED):
        return ""
    else:
        return _by_processes(usage)
    if usage is None or usage.verdict is not Verdict.PASS:
        return "its scheduler has no work on it any more"
    return _by_processes(usage)


def running(usage: Result | None, scheduler: Result | None) -> str:
    """Say which work runs on the node, or that its scheduler does not say; "" where nobody tells of any."""
    for told in (scheduler, usage):
        if told is not None and told.verdict is Verdict.PASS and told.observed.get("in_use"):
            return f"its work has not ended: {told.message}"
    if scheduler is not None and scheduler.verdict not in {Verdict.PASS, Verdict.SKIPPED}:
        return f"its scheduler does not say whether its work has ended: {scheduler.message}"
    return ""


def _by_processes(usage: Result | None) -> str:
    if usage is None or usage.verdict is not Verdict.PASS:
        return ""
    if not usage.observed.get("in_use"):
        return "no process uses its GPUs any more"
    return "one process has all of its GPUs" if _is_sole(usage.observed) else ""


def _is_sole(observed: Mapping[str, Any]) -> bool:
    return observed.get(SOLE) is True
