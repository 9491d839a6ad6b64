"""Which Kubernetes cluster a node belongs to, and its name there: its context says so, and nobody guesses."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.records import Fleet, nodes

CLUSTER = "kubernetes_cluster"
"""The key of a context, and the variable, that names a node's cluster; without it, that of the setting kubeconfig."""

NODE = "scheduler_node"


def cluster_of(said: object, known: Collection[str]) -> str:
    """Return the cluster that a context names, "" for the one without a name; EvidenceError where there is none."""
    name = "" if said is None else said
    if isinstance(name, str) and name in known:
        return name
    named = ", ".join(sorted(filter(None, known))) or "a name in the setting kubernetes_clusters"
    found = f"is {printable(repr(name))[:80]}" if name != "" else "is not set in its context"
    raise EvidenceError(f"{CLUSTER} {found}, expected {named}")


@dataclass(frozen=True, slots=True)
class Names:
    """What one cluster calls our nodes: as we do, but for those in `told`; "" for those that are not its own.

    `others` says whether a node of which nothing is known is its own.
    """

    told: Mapping[str, str] = field(default_factory=dict[str, str])
    others: bool = True

    def of(self, node: str) -> str:
        """Return what the cluster calls a node, "" for one that is not its own."""
        return self.told.get(node, node if self.others else "")


def names(fleet: Fleet | None, cluster: str, known: Collection[str]) -> Names:
    """Return what one of the known clusters calls our nodes."""
    devices = fleet.devices.values() if fleet is not None else ()
    return Names({each.name: _name(each.name, each.context, cluster, known) for each in devices}, len(known) == 1)


def strangers(fleet: Fleet, known: Collection[str]) -> dict[str, str]:
    """Return the nodes whose cluster is not known, each with a sentence; those that no cluster has, are not asked."""
    found: dict[str, str] = {}
    for device in nodes(fleet):
        try:
            if device.context.get(NODE) != "":
                cluster_of(device.context.get(CLUSTER), known)
        except EvidenceError as error:
            found[device.name] = str(error)
    return found


def _name(node: str, context: Mapping[str, Any], cluster: str, known: Collection[str]) -> str:
    try:
        if cluster_of(context.get(CLUSTER), known) != cluster:
            return ""
    except EvidenceError:
        return ""
    return str(context.get(NODE, node))
