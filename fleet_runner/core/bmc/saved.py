"""What was read of a BMC, as a file: URI to body, null for what could not be read, secrets taken out."""

import re
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc.tree import ROOT, Tree

REMOVED = "(removed)"

_SECRET = re.compile(
    r"passw(?:or)?d|passphrase|secret|token|community|credential|private_?key|encryption_?key|licen[cs]e_?key"
    r"|session_?key|api_?key|(?:^|_)psk$",
    re.ASCII | re.IGNORECASE,
)
"""Names of properties whose texts are secrets. Serial numbers, addresses and names of hosts are none, and stay."""


def to_saved(tree: Tree) -> dict[str, Any]:
    """Return what is known of a BMC, without secrets."""
    return {**{uri: without_secrets(body) for uri, body in tree.bodies.items()}, **dict.fromkeys(tree.unread)}


def from_saved(found: object) -> Tree:
    """Return the tree that a file holds.

    Raises:
        EvidenceError: it is no object of URIs to bodies, or has no service root.
    """
    if not isinstance(found, dict) or not all(body is None or isinstance(body, dict) for body in found.values()):
        raise EvidenceError("expected a JSON object of URIs and bodies, as `fleet-runner bmc look --save` writes it")
    tree = Tree(found)
    if ROOT not in tree.bodies:
        raise EvidenceError(f"it has no {ROOT}; expected what `fleet-runner bmc look --save` writes")
    return tree


def without_secrets(value: Any, name: str = "") -> Any:
    """Return a value with the text of each property that is named like a secret replaced."""
    if isinstance(value, Mapping):
        return {str(key): without_secrets(each, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each, name) for each in value]
    return REMOVED if isinstance(value, str) and value and _SECRET.search(name) else value
