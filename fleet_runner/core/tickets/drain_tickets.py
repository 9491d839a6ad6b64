"""Tickets of drains that come to no end by themselves: the work does not end, or the scheduler is not told of it."""

from fleet_runner.core.checks.answers import fault_key
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import AtDeadline
from fleet_runner.core.lifecycle import idle
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.pending import deadline
from fleet_runner.core.lifecycle.runs import RUNNER, Outcome, Run
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View

DRAINS = "drain"
"""What stands for the check of such a ticket: the runner closes it when what it is about is over."""

TRIES = 3
"""Times that a drain could not be undone, after which a person is told."""


def told(view: View, timing: Timing, now: float) -> tuple[OpenTicket | CloseTicket, ...]:
    """Return what must happen to tickets so that they agree with the drains of a node."""
    wanted = {each.fault: each for each in (_overdue(view, timing, now), _undone(view)) if each is not None}
    known = {ticket.fault for ticket in view.tickets if ticket.check == DRAINS}
    over = (ticket for ticket in view.tickets if ticket.check == DRAINS and ticket.fault not in wanted)
    return (
        *(each for fault, each in wanted.items() if fault not in known),
        *(CloseTicket(ticket.id, "no drain of the node is stuck any more") for ticket in over),
    )


def unresumed(view: View) -> list[Run]:
    """Return the tries to undo a drain since one last came to its end, oldest first."""
    tried = [run for run in view.runs if run.stage is Stage.RESUME]
    last = max((at for at, run in enumerate(tried, start=1) if run.outcome is Outcome.PASSED), default=0)
    return tried[last:]


def _overdue(view: View, timing: Timing, now: float) -> OpenTicket | None:
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is None or view.node.state is not State.PRODUCTION:
        return None
    at = pending.since + deadline(view, timing)
    keeps = idle.keeps(view, pending.since)
    acts = pending.by == RUNNER and view.rules.at_deadline is AtDeadline.ACT and keeps is None
    if acts or now <= at:
        return None
    name, remedy = view.node.name, pending.detail
    step = (
        f"{keeps.step[0].upper()}{keeps.step[1:]}, the {remedy} follows."
        if keeps
        else f"Ask the owner of the work to end it, or end it: the {remedy} follows once the node is idle."
    )
    return _ticket(
        view,
        "overdue",
        f"its drain is over its deadline: {remedy} waits, {keeps.why if keeps else 'its work does not end'}",
        at,
        f"Requested by {pending.by}: {pending.reason}",
        f"1. See what runs: fleet-runner node {name}, and its scheduler.",
        f"2. {step}",
        f"3. Or drop the {remedy}: fleet-runner cancel {name} --reason WHY. The node stays in service.",
        "This ticket is closed when nothing is pending any more.",
    )


def _undone(view: View) -> OpenTicket | None:
    tried = unresumed(view)
    if not view.drained or len(tried) < TRIES:
        return None
    return _ticket(
        view,
        "undone",
        "it is in service, but its scheduler does not know: it gets no work",
        tried[TRIES - 1].ended_at or 0.0,
        f"{len(tried)} tries to undo its drain; the last one: {tried[-1].detail or tried[-1].outcome}.",
        f"1. See why: fleet-runner node {view.node.name}; the runner retries by itself.",
        "2. Or undo the drain at the scheduler by hand.",
        "This ticket is closed when a try passes.",
    )


def _ticket(view: View, component: str, sentence: str, at: float, *body: str) -> OpenTicket:
    """`at` is when it came to that: one that a person closes is not opened again for the same drain."""
    name = view.node.name
    return OpenTicket(
        fault=fault_key(name, DRAINS, component),
        check=DRAINS,
        title=f"{name}: {sentence}"[:200],
        body="\n".join([f"{name}, {view.place}.", *body]),
        nodes=(name,),
        remedy=Remedy.TRIAGE.value,
        at=at,
    )
