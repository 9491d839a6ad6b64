"""Who else repairs or removes nodes of a Kubernetes cluster, and the marks by which it says that a node is its own.

A node has one owner at a time: while one of these marks is there, fleet-runner does not begin a drain or a remedy.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.base.printable import printable

LABEL, ANNOTATION, TAINT = "label", "annotation", "taint"

OWNED_BY = "fleet-runner.dev/owned-by"
"""The annotation by which anything else takes a node: its value is the name that is told."""

NVSENTINEL, NVSENTINEL_STATE = "NVSentinel", "dgxc.nvidia.com/nvsentinel-state"

DONE = "remediation-succeeded"
"""The state in which NVSentinel has done its part: it holds the node no more, whatever else of it is there."""

GIVEN_UP = frozenset({"drain-failed", "remediation-failed"})
"""States in which NVSentinel goes no further by itself: a person has to."""

WORDS = 60
"""Characters of a name that somebody gave."""


class Mark(NamedTuple):
    """One mark; `owner` is empty where its value names the owner."""

    owner: str
    kind: str
    key: str


MARKS: tuple[Mark, ...] = (
    # docs.nvidia.com/nvsentinel: set from the quarantine of a node until the node is well, or given back.
    Mark(NVSENTINEL, LABEL, NVSENTINEL_STATE),
    Mark(NVSENTINEL, ANNOTATION, "quarantineHealthEvent"),
    # karpenter.sh, Disruption: the taint of a node that is replaced; the second one before its 1.0.
    Mark("Karpenter", TAINT, "karpenter.sh/disrupted"),
    Mark("Karpenter", TAINT, "karpenter.sh/disruption"),
    # kubernetes/autoscaler: the taint of a node that is scaled in.
    Mark("the cluster autoscaler", TAINT, "ToBeDeletedByClusterAutoscaler"),
    # Cluster API's and MachineHealthCheck's own marks are on the Machine, often in another cluster: a lifecycle hook
    # there, and whatever else repairs nodes, takes the node by this one.
    Mark("", ANNOTATION, OWNED_BY),
)


def owner(meta: Mapping[str, Any], taints: Sequence[Mapping[str, Any]]) -> str:
    """Return who has a node, with the mark, from its metadata and its taints; "" where nobody else has."""
    there = {
        LABEL: _mapping(meta.get("labels")),
        ANNOTATION: _mapping(meta.get("annotations")),
        TAINT: {str(taint.get("key")): taint.get("value") or "" for taint in taints},
    }
    state = str(there[LABEL].get(NVSENTINEL_STATE) or "")
    for mark in MARKS:
        if mark.key in there[mark.kind] and not (mark.owner == NVSENTINEL and state == DONE):
            value = " ".join(printable(str(there[mark.kind][mark.key])).split())[:WORDS]
            gave_up = f", which has given up: {state}" if mark.owner == NVSENTINEL and state in GIVEN_UP else ""
            return f"{mark.owner or value or 'somebody else'}{gave_up} ({mark.kind} {mark.key})"
    return "whoever deletes it from the cluster" if meta.get("deletionTimestamp") else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
