"""A node as Kubernetes has it: the Node object and the pods on it, as the API server's JSON.

What is kept of either (`kept`) holds no environment, command or volume: those of a tenant's pod are no evidence.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.json_text import objects
from fleet_runner.core.lifecycle import remediators, scheduler
from fleet_runner.core.lifecycle.scheduler import Seen

TAINT = "fleet-runner/drain"
"""The taint of a drained node, and the annotation with the reason, which a taint has no room for."""

CORDONED = "fleet-runner/cordoned"
"""The annotation of a node that was cordoned by us; without it, whoever cordoned it uncordons it."""

MANAGER = "fleet-runner"
"""Our name in the API server's own account of who last set a field."""

INTERRUPTION = "fleet-runner.dev/interruption"
"""The label, or annotation, by which a pod says how it wants to be treated when its node is drained."""

NEVER, AT_ONCE, GRACEFUL = "never", "at-once", "graceful"
"""Waited for, whatever it asks for, and never evicted; evicted with one second of grace; evicted with its own one.

One that ends already is not `NEVER` any more: somebody ends it, and on a dead node it stays for as long as that is
off."""

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
"""The annotations by which pods say the same to Karpenter and to the cluster autoscaler."""

SYSTEM, CRITICAL = "kube-system", "system-"
"""The namespace of a cluster's own pods, and how their priority classes begin."""

GRACE, MOST_GRACE = 30, 86_400
"""Seconds of grace of a pod that says nothing: Kubernetes' own default; and of one that has for ever."""

MIRROR = "kubernetes.io/config.mirror"
DAEMON = "DaemonSet"
FINISHED = frozenset({"Succeeded", "Failed"})
CLOSING = frozenset({"NoSchedule", "NoExecute"})
MOST_PODS = 2_000

GPU = "nvidia.com/gpu"
"""What NVIDIA's device plugin calls a GPU."""

_QUANTITY = re.compile(r"[0-9]{1,19}(?:\.[0-9]{1,9})?[A-Za-z]{0,2}", re.ASCII)


def kept(node: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is evidence of a node and its pods; EvidenceError where they are no such objects."""
    meta, spec, status = (_mapping(node, part) for part in ("metadata", "spec", "status"))
    notes = _mapping(meta, "annotations")
    taints = objects(spec.get("taints") or [], "spec.taints of the node")
    conditions = objects(status.get("conditions") or [], "status.conditions of the node")
    return {
        "name": _text(meta, "name"),
        "unschedulable": spec.get("unschedulable") is True,
        "notes": {key: _text(notes, key) for key in (TAINT, CORDONED) if key in notes},
        "taints": [{key: _text(taint, key) for key in ("key", "effect")} for taint in taints],
        "cordoned_by": cordoned_by(meta),
        "owner": remediators.owner(meta, taints),
        "gpus": _whole(_mapping(status, "allocatable").get(GPU)),
        "ready": next((_text(each, "status") for each in conditions if each.get("type") == "Ready"), ""),
        "pods": [_pod(each) for each in pods[: MOST_PODS + 1]],
    }


def parse(node: str, said: Mapping[str, Any]) -> Seen:
    """Return what Kubernetes says of a node, from what `kept` returned; EvidenceError for anything else."""
    if said.get("name") != node:
        raise EvidenceError(f"the API server answered about {said.get('name')!r:.80}, expected node {node}")
    pods = objects(said.get("pods"), "the pods of the node")
    taints = objects(said.get("taints"), "the taints of the node")
    notes = said.get("notes")
    if not isinstance(notes, dict) or len(pods) > MOST_PODS:
        raise EvidenceError(f"{len(pods)} pods on node {node}, expected at most {MOST_PODS}, and its annotations")
    there = [pod for pod in pods if not _is_over(pod)]
    never = [pod for pod in there if pod.get("interruption") == NEVER and not pod.get("ending")]
    work = tuple(f"pod {pod.get('name')}" for pod in there if pod.get("devices") or pod in never)
    ours = is_ours(said)
    cordoned = bool(said.get("unschedulable"))
    away = [str(taint.get("key")) for taint in taints if str(taint.get("effect")) in CLOSING]
    why = str(notes.get(TAINT, "")) if ours else ("cordoned" if cordoned else "")
    states = ["" if said.get("ready") == "True" else "not ready", "cordoned" if cordoned else "", *away]
    return Seen(
        state=", ".join(printable(each) for each in states if each) or "ready",
        takes_work=not cordoned and not ours,
        work=tuple(printable(each) for each in work),
        why=printable(why),
        ours=scheduler.mark(node, str(notes.get(TAINT, ""))) if ours else None,
        owner=printable(str(said.get("owner") or "")),
        others=len(there) - len(work),
        never=tuple(printable(f"pod {pod.get('name')}") for pod in never),
        sole=len(there) == len(work) == 1 and bool(said.get("gpus")) and there[0].get("gpus") == said.get("gpus"),
    )


def is_ours(said: Mapping[str, Any]) -> bool:
    """Whether a node has our taint, of what `kept` returned."""
    return any(taint.get("key") == TAINT for taint in said.get("taints") or ())


def is_cordoned_by_us(said: Mapping[str, Any]) -> bool:
    """Whether it was us who cordoned it, by our annotation and, where it has one, by the API server's account."""
    return CORDONED in (said.get("notes") or {}) and str(said.get("cordoned_by")) in {MANAGER, ""}


def standing(pods: Sequence[Mapping[str, Any]], *, devices: bool = False) -> dict[str, bool]:
    """Return the pods that an eviction can end, of those that were kept, and whether each is ending already.

    With `devices`, only those that ask for one. A pod that is never to be interrupted is in none of them.
    """
    there = (pod for pod in pods if not _is_over(pod) and pod.get("interruption") != NEVER)
    return {str(pod.get("name")): bool(pod.get("ending")) for pod in there if pod.get("devices") or not devices}


def willing(pods: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Return the pods that may be ended when a drain begins, as `standing` does: they say so themselves."""
    return standing([pod for pod in pods if pod.get("interruption") in {AT_ONCE, GRACEFUL}])


def hurried(pods: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the pods that want as little grace as there is."""
    return frozenset(str(pod.get("name")) for pod in pods if pod.get("interruption") == AT_ONCE)


def grace(pods: Sequence[Mapping[str, Any]], names: Collection[str]) -> int:
    """Return the longest time, in seconds, that some pods, of those that were kept, have to end."""
    return max((_whole(pod.get("grace")) for pod in pods if pod.get("name") in names), default=0)


def interruption(meta: Mapping[str, Any], *, replaceable: bool = False) -> str:
    """Return how a pod wants to be treated, "" where it does not say; a word that is none, or two, is `NEVER`.

    What it says to fleet-runner itself counts before what it says to those who only want its node; of a replaceable
    one that does not count at all: it keeps an autoscaler off, and never ends, so its node could not be repaired.
    """
    notes = _mapping(meta, "annotations")
    said = {_text(_mapping(meta, part), INTERRUPTION) for part in ("labels", "annotations")} - {""}
    if not said and replaceable:
        return ""
    if not said:
        kept_from_others = _text(notes, DO_NOT_DISRUPT) not in {"", "false"} or _text(notes, SAFE_TO_EVICT) == "false"
        return NEVER if kept_from_others else ""
    return said.pop() if len(said) == 1 and said <= {NEVER, AT_ONCE, GRACEFUL} else NEVER


def cordoned_by(meta: Mapping[str, Any]) -> str:
    """Return who last set `spec.unschedulable`, by the API server's account; "" where it gives none."""
    known = meta.get("managedFields")
    for entry in known if isinstance(known, list) else ():
        if isinstance(entry, Mapping) and "f:unschedulable" in _mapping(_mapping(entry, "fieldsV1"), "f:spec"):
            return _text(entry, "manager")
    return ""


def _is_over(pod: Mapping[str, Any]) -> bool:
    """Whether a pod is no work: it has ended, or every node has one of it (those of daemons, and of files)."""
    return str(pod.get("phase")) in FINISHED or pod.get("kind") == DAEMON or bool(pod.get("mirror"))


def _pod(pod: Mapping[str, Any]) -> dict[str, Any]:
    meta, spec, status = (_mapping(pod, part) for part in ("metadata", "spec", "status"))
    owners = objects(meta.get("ownerReferences") or [], "ownerReferences of a pod")
    containers = [
        each
        for part in ("containers", "initContainers")
        for each in objects(spec.get(part) or [], f"spec.{part} of a pod")
    ]
    devices = bool(spec.get("resourceClaims")) or any(_has_devices(each) for each in containers)
    return {
        "name": f"{_text(meta, 'namespace')}/{_text(meta, 'name')}",
        "phase": _text(status, "phase"),
        "kind": next((_text(each, "kind") for each in owners if each.get("controller") is True), ""),
        "mirror": MIRROR in _mapping(meta, "annotations"),
        "interruption": interruption(meta, replaceable=not devices and _is_system(meta, spec)),
        "ending": bool(meta.get("deletionTimestamp")),
        "grace": _grace(spec.get("terminationGracePeriodSeconds")),
        "devices": devices,
        "gpus": sum(_whole(_mapping(_mapping(each, "resources"), "limits").get(GPU)) for each in containers),
    }


def _is_system(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    """Whether a pod is the cluster's own, which has another one made elsewhere (coredns, the autoscaler itself)."""
    return _text(meta, "namespace") == SYSTEM or _text(spec, "priorityClassName").startswith(CRITICAL)


def _has_devices(container: Mapping[str, Any]) -> bool:
    """Whether a container asks for what a device plugin gives ("nvidia.com/gpu", "rdma/hca"); "cpu" has no slash."""
    resources = _mapping(container, "resources")
    asked = {**_mapping(resources, "requests"), **_mapping(resources, "limits")}
    return any("/" in name and _is_some(quantity) for name, quantity in asked.items())


def _whole(quantity: object) -> int:
    """Return a whole number of devices, 0 for anything else."""
    return int(str(quantity)) if re.fullmatch("[0-9]{1,6}", str(quantity), re.ASCII) else 0


def _grace(seconds: object) -> int:
    if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds >= 0:
        return min(seconds, MOST_GRACE)
    return GRACE


def _is_some(quantity: object) -> bool:
    return not _QUANTITY.fullmatch(str(quantity)) or str(quantity).strip("0.") != ""


def _mapping(of: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = of.get(part) or {}
    if not isinstance(found, Mapping):
        raise EvidenceError(f"{part} is {found!r:.60}, expected an object of the API server's")
    return found


def _text(of: Mapping[str, Any], key: str) -> str:
    return str(of.get(key) or "")[:300]
