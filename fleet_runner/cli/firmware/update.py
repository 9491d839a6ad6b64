"""fleet-runner firmware update: one node, because a person wants it."""

from fleet_runner.cli.base.session import explained
from fleet_runner.cli.lifecycle.intents import By, Nodes, Reason, Wait, ask
from fleet_runner.core.lifecycle.runs import IntentKind


def update(nodes: Nodes, reason: Reason = "", by: By = None, wait: Wait = 10.0) -> None:
    """Update a production node's firmware when it is idle; burn-in follows before it serves again.

    A person's request is not held back by the disruption budget, only by how many nodes are updated at a time. To try
    again after a firmware failure: fleet-runner retry NODE.
    """
    stays = f"the request stays; to cancel it before it begins: fleet-runner cancel {' '.join(nodes)}"
    with explained(f"{stays}. An update that has begun continues, and nothing is cancelled on a BMC"):
        ask(IntentKind.FIRMWARE, nodes, reason, by, wait)
