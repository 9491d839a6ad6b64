"""Whether somebody uses a node: its processes are asked, and the scheduler that gives it work, where there is one."""

from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.actions import Action, ClearCondition, SetCondition
from fleet_runner.core.lifecycle.preflight import work
from fleet_runner.core.lifecycle.runs import RUNNER, Held, Stored
from fleet_runner.core.lifecycle.states import Condition
from fleet_runner.core.lifecycle.view import View

USAGE = "gpu_usage"
"""The check that tells whether a tenant's work runs on the node's GPUs."""

SCHEDULER = "scheduler"
"""The check that asks the scheduler whether it has work on the node; SKIPPED where it does not know the node."""


class Keeps(NamedTuple):
    """What a remedy waits for past every deadline, and what a person does about it, up to what follows then."""

    why: str
    step: str


def usage(view: View) -> Stored | None:
    """Return the newest answer about the node's processes; None where there is none."""
    found = _newest(view, USAGE)
    return found if found is not None and found.result.verdict is Verdict.PASS else None


def idle(view: View, newest: float) -> bool:
    """Whether nobody uses the node: everybody who was asked after `newest` says so, and its processes were.

    Work that has come since has the node to itself within seconds.
    """
    processes = usage(view)
    return processes is not None and _says_idle(processes, newest) and _free(view, newest, asked=False)


def idle_for_a_remedy(view: View, newest: float) -> bool:
    """Whether nobody uses the node, by everybody who can tell: a scheduler that was not asked may begin work now."""
    return idle(view, newest) and _free(view, newest, asked=view.scheduled)


def lost(view: View, newest: float) -> str:
    """Say why a fault that ends work has ended all of the node's, by what was asked after `newest`; else ""."""
    usage, scheduler = (
        found.result if found is not None and found.at > newest else None
        for found in (_newest(view, USAGE), _newest(view, SCHEDULER))
    )
    return work.lost(usage, scheduler, scheduled=view.scheduled)


def never_interrupted(view: View) -> tuple[str, ...]:
    """Return the work last seen on the node that says of itself that it is never to be interrupted, a few pieces."""
    scheduler = _newest(view, SCHEDULER)
    return tuple(map(str, scheduler.result.observed.get(work.NEVER) or ())) if scheduler is not None else ()


def owner(view: View) -> str:
    """Return who else was last seen to repair or remove the node, "" for nobody."""
    scheduler = _newest(view, SCHEDULER)
    return str(scheduler.result.observed.get(work.OWNER) or "") if scheduler is not None else ""


def scheduler_named(view: View) -> str:
    """Return what the node's scheduler is called in a sentence: with its cluster, where there are several."""
    found = _newest(view, SCHEDULER)
    cluster = found.result.observed.get(work.CLUSTER) if found is not None else None
    return f"its scheduler (cluster {cluster})" if cluster else "its scheduler"


def keeps(view: View, since: float) -> Keeps | None:
    """Return what a remedy that is pending `since` waits for past every deadline, None for nothing.

    Where a scheduler can tell of such wishes, and did not answer since or when it was asked last, nobody knows them.
    """
    if whose := owner(view):
        return Keeps(f"it is left to {whose}", f"see what became of it there: once that mark is off {view.node.name}")
    if never := never_interrupted(view):
        said = f"{never[0]} is never to be interrupted" + (
            f", nor is other work ({len(never) - 1})" * bool(never[1:])
        )
        return Keeps(said, f"ask the owner of {never[0]} to end it, or delete it: once all such work has gone")
    found = _newest(view, SCHEDULER)
    if view.wishes and (found is None or found.at <= since or found.result.verdict is Verdict.UNKNOWN):
        why = f"{scheduler_named(view)} does not say whether its work may be interrupted"
        return Keeps(why, "see why it does not answer (its address, its log, our rights there): once it does")
    return None


def note_usage(view: View) -> tuple[Action, ...]:
    """Return what the newest answers change about whether the node is in use."""
    processes = usage(view)
    if processes is None:
        return ()
    scheduler = _newest(view, SCHEDULER)
    using = [each for each in (processes, scheduler) if each is not None and each.at >= processes.at and _used(each)]
    if using and Condition.IN_USE not in view.node.conditions:
        held = Held(using[0].at, using[0].result.message, RUNNER)
        return (SetCondition(Condition.IN_USE, held, (using[0].id,)),)
    if not using and Condition.IN_USE in view.node.conditions:
        return (ClearCondition(Condition.IN_USE, RUNNER, "No work runs on it now."),)
    return ()


def _free(view: View, newest: float, *, asked: bool) -> bool:
    """Whether the scheduler has no work on the node; `asked` says that it must have been asked."""
    found = _newest(view, SCHEDULER)
    if found is None or found.at <= newest:
        return not asked
    return found.result.verdict is Verdict.SKIPPED or _says_idle(found, newest)


def _says_idle(stored: Stored, newest: float) -> bool:
    fresh = stored.at > newest and stored.result.verdict is Verdict.PASS
    return fresh and stored.result.observed.get("in_use") is False and not stored.result.observed.get(work.OWNER)


def _used(stored: Stored) -> bool:
    return stored.result.verdict is Verdict.PASS and bool(stored.result.observed.get("in_use"))


def _newest(view: View, check: str) -> Stored | None:
    return next((stored for stored in view.latest if stored.result.check == check), None)
