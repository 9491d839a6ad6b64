"""A task's failure as Ansible is told of it, with whose it is: the node's and its BMC's, or our own."""

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from fleet_runner.core.base.errors import BmcError, EvidenceError, FleetError

OWN = "fleet_own"
"""What a task's result carries where the node and its BMC had no part in its failure."""

UNTOLD = ("Task failed: Finalization of task args for ", "Task failed: Error while evaluating conditional")
"""How ansible-core (2.19) begins to say that a task's own words could not be made out, before any node had it."""


def is_own(result: Mapping[str, Any]) -> bool:
    """Whether a failed task's result says that the node and its BMC had no part in it."""
    return result.get(OWN) is True or str(result.get("msg")).startswith(UNTOLD)


def failure(module: str, error: FleetError) -> AnsibleActionFail:
    """Return what a task raises for an error: only a BMC's word, and a node's, may count as a try of the node."""
    is_theirs = isinstance(error, BmcError | EvidenceError)
    return AnsibleActionFail(f"{module}: {error}", result={} if is_theirs else {OWN: True})
