"""What may be asked for about a node as it is now: one row a request, with what it would do.

The reconciler decides anew when it answers (`core.lifecycle.intents`); what is not offered would be refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.lifecycle.intents import AT_HAND, READ_ONLY
from fleet_runner.core.lifecycle.runs import INTENT_EVENTS, IntentKind, Node
from fleet_runner.core.lifecycle.states import (
    ENDED,
    FABRICS,
    STATES,
    Condition,
    Event,
    Stage,
    State,
    Transition,
    step,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of requests: what its button says, and what it does.

    `sure` says why a person is asked once more before it is left; "" where nothing is lost by it.
    """

    label: str
    does: str
    sure: str = ""


ROWS: Mapping[IntentKind, Row] = {
    IntentKind.ADOPT: Row("Adopt", "Already in service: taken into production as it is, if it matches the design."),
    IntentKind.PROVISION: Row("Provision", "Day 0: it is booted over the network, whatever runs on it.",
                        "Its running work ends, and its data is lost."),
    IntentKind.CERTIFY: Row("Certify", "It is built as designed: parts, power and cabling are verified next."),
    IntentKind.REPAIRED: Row("Repaired", "It is repaired, and passes every stage again; certify it next."),
    IntentKind.HOLD: Row("Hold", "Nothing moves it until it is released. A hold has priority over all automation."),
    IntentKind.RELEASE: Row("Release", "The hold ends, or else the planned work: automation continues."),
    IntentKind.MAINTENANCE: Row("Maintenance", "Planned work begins: checks continue, and no remedy follows."),
    IntentKind.CANCEL: Row("Cancel the remedy",
                     "The pending remedy is cancelled; the same fault triggers none until it has cleared."),
    IntentKind.RUN: Row("Run a stage", "The stage starts now. Most of them only read."),
    IntentKind.DEBUG: Row("Debug", "A person works on it in place."),
    IntentKind.RMA: Row("RMA", "The node, or a part of it, goes back to its vendor under a case number.",
                  "It stays out of service until it is marked as repaired; then it passes every stage again."),
    IntentKind.RETRY: Row("Retry", "What failed is retried.",
                    "From triage, debug or rma, Day 0 begins again: a network boot, which ends its running work."),
    IntentKind.RESET: Row("Reset GPUs", "Its GPUs are reset when it is idle, then it is verified and serves again.",
                     "It is out of service until it has been verified."),
    IntentKind.REBOOT: Row("Reboot", "It is power-cycled when it is idle, and verified before it serves again.",
                     "It is out of service until it has been verified."),
    IntentKind.TRIAGE: Row("Triage", "Taken out of service for a person to inspect; from production when it is idle.",
                     "It is taken from its tenant, or its current stage is given up; a person must bring it back."),
    IntentKind.RETIRE: Row("Retire", "It is removed from the fleet; its history is kept.",
                     "This cannot be undone: the node takes no more requests."),
}  # fmt: skip
"""In the order in which they are offered: what is asked for most comes first."""

ELSEWHERE: Mapping[IntentKind, str] = {
    IntentKind.WIPE: "fleet-runner wipe {node} on the server's machine shows what would be lost, then asks",
    IntentKind.FIRMWARE: "fleet-runner firmware update {node} on the server's machine flashes the pinned versions",
    IntentKind.REPLACED: "fleet-runner rma replaced {node} on the server's machine confirms the new machine",
}
"""Requests that a page does not take, and how they are asked for."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A request that applies now; `stages` are those that `run` may name."""

    kind: IntentKind
    row: Row
    stages: tuple[Stage, ...] = ()


def offers(node: Node) -> tuple[Offer, ...]:
    """Return what may be asked for about a node now; nothing about one that is retired, or no node."""
    if node.state in ENDED | FABRICS:
        return ()
    return tuple(
        Offer(intent, row, stages(node.state) if intent is IntentKind.RUN else ())
        for intent, row in ROWS.items()
        if applies(node, intent)
    )


def elsewhere(node: Node) -> tuple[str, ...]:
    """Say how the requests are asked for that apply now and that no page takes."""
    return tuple(said.format(node=node.name) for intent, said in ELSEWHERE.items() if applies(node, intent))


def applies(node: Node, intent: IntentKind) -> bool:
    """Whether a request can lead to anything as the node is."""
    held, planned = Condition.HELD in node.conditions, Condition.MAINTENANCE in node.conditions
    serving = node.state is State.PRODUCTION
    said = {
        IntentKind.RUN: True,
        IntentKind.HOLD: not held,
        IntentKind.MAINTENANCE: not planned,
        IntentKind.RELEASE: held or planned,
        IntentKind.CANCEL: Condition.PENDING in node.conditions,
        IntentKind.RESET: serving,
        IntentKind.REBOOT: serving,
        IntentKind.FIRMWARE: serving,
        IntentKind.REPLACED: False,  # what a node waits for says when, and names the command
        IntentKind.TRIAGE: serving or _moves(node, Event.TRIAGE_NEEDED),
    }
    return said[intent] if intent in said else _moves(node, INTENT_EVENTS[intent])


def stages(state: State) -> tuple[Stage, ...]:
    """Return the stages that a person may run on a node in a state, in the order of the table of stages."""
    tests = frozenset({Stage.HEALTH_ACTIVE}) if state in AT_HAND | {State.PRODUCTION} else frozenset[Stage]()
    survey = frozenset({Stage.SURVEY}) if state is State.REGISTERED else frozenset[Stage]()
    known = READ_ONLY | set(STATES[state].stages) | tests | survey
    return tuple(stage for stage in Stage if stage in known)


def _moves(node: Node, event: Event) -> bool:
    return isinstance(step(node.state, event, frozenset(node.conditions)), Transition)
