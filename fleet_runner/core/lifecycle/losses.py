"""What a request that cannot be undone would take away: people are shown it before they are asked a second time."""

from collections.abc import Iterable

from fleet_runner.core.lifecycle.runs import IntentKind, Node, Run, Ticket
from fleet_runner.core.lifecycle.states import SERVING, Condition

FOR_GOOD = frozenset({IntentKind.RETIRE, IntentKind.WIPE})
"""Requests that cannot be undone."""


def losses(node: Node, run: Run | None, tickets: Iterable[Ticket]) -> tuple[str, ...]:
    """Return what retiring a node takes away, as sentences; `tickets` are its open ones, `run` its open one."""
    found = [f"{node.name} leaves the fleet from {node.state}: it takes no more requests."]
    if node.state in SERVING:
        found.append("It serves: it is not drained first, and its scheduler is not informed.")
    if Condition.IN_USE in node.conditions:
        found.append("Work was seen on it; fleet-runner will no longer watch that work.")
    if run is not None:
        found.append(f"{run.stage} runs on it: the request waits for its end.")
    numbers = ", ".join(f"#{ticket.id}" for ticket in tickets)
    if numbers:
        found.append(f"Open tickets name it, and no check closes them any more: {numbers}.")
    return tuple(found)
