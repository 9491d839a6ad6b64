"""A task's failure as Ansible is told of it, with whose it is: the node's and its BMC's, or our own."""

from ansible.errors import AnsibleActionFail

from fleet_runner.core.errors import BmcError, EvidenceError, FleetError

OWN = "fleet_own"
"""What a task's result carries where the node and its BMC had no part in its failure."""


def failure(module: str, error: FleetError) -> AnsibleActionFail:
    """Return what a task raises for an error: only a BMC's word, and a node's, may count as a try of the node."""
    is_theirs = isinstance(error, BmcError | EvidenceError)
    return AnsibleActionFail(f"{module}: {error}", result={} if is_theirs else {OWN: True})
