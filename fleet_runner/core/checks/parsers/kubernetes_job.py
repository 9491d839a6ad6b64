"""A job as Kubernetes has it: the pods that carry its name in a label, as the API server's JSON.

What is read of a pod is where and when it ran and how its containers ended; no environment, command, volume or
message of a container, which are its tenant's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.json_text import objects
from fleet_runner.core.checks.parsers.kubernetes_node import GPU
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.jobs.endings import ended
from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.record import KINDS, Record

LABELS: Mapping[str, str] = {
    "jobset.sigs.k8s.io/jobset-name": "JobSet",
    "training.kubeflow.org/job-name": "job of Kubeflow's operators",
    "mpi-job-name": "MPIJob",
    "batch.kubernetes.io/job-name": "Job",
    "job-name": "Job",
}
"""Labels with a job's name, and of what kind it is then, in the order in which they are asked for.

A JobSet's pods are a Job's as well, under that Job's name. The last but one is the last one's newer name (1.27).
"""

INDEXES = (
    "jobset.sigs.k8s.io/job-global-index", "training.kubeflow.org/replica-index",
    "batch.kubernetes.io/job-completion-index",
)  # fmt: skip
"""Where a pod's number in its job stands, as a label or an annotation."""

ROLES = ("training.kubeflow.org/replica-type", "training.kubeflow.org/job-role", "mpi-job-role")
LEADERS = {"master": -1, "launcher": -2}
"""What counts before all workers: a master is rank 0, a launcher has no rank."""

MOST_PODS = 20_000
MOST_EVENTS = 500

REASONS: Mapping[str, tuple[str, str]] = {
    "OOMKilled": ("job.out_of_memory", "was ended because it used more memory than its limit"),
    "DeadlineExceeded": ("job.out_of_time", "was ended because its time limit was over"),
    "Evicted": ("job.evicted", "was evicted by its node's kubelet"),
    "NodeLost": ("job.node_failed", "was on a node that was lost"),
    "DeletionByPodGC": ("job.node_failed", "was removed, as its node is gone"),
    "NodeShutdown": ("job.evicted", "was ended as its node was shut down"),
    "Terminated": ("job.evicted", "was ended as its node was shut down"),
    "Preempting": ("job.preempted", "was ended to make room for another"),
    "PreemptionByScheduler": ("job.preempted", "was ended to make room for another"),
    "DeletionByTaintManager": ("job.evicted", "was removed for a taint of its node, such as one that is unreachable"),
    "EvictionByEvictionAPI": ("job.evicted", "was evicted at somebody's request"),
    "TerminationByKubelet": ("job.evicted", "was ended by its node's kubelet"),
}
"""Kubernetes' reasons of a container, of a pod, and of the condition DisruptionTarget."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?", re.ASCII)


class Name(NamedTuple):
    """A job's namespace and name."""

    namespace: str
    name: str


class Pod(NamedTuple):
    """A pod of a job: what stands in its labels, and its times in epoch seconds, None where they are not known."""

    name: str
    node: str
    role: str
    number: int | None
    phase: str
    gpus: int
    begun: float | None
    ended: float | None
    restarts: int
    ends: tuple[Event, ...]


def asked(text: str) -> Name:
    """Return a job's names as a person types them; EvidenceError for what are none."""
    namespace, _, name = text.partition("/")
    if not (_NAME.fullmatch(namespace) and _NAME.fullmatch(name)):
        raise EvidenceError(f"{text!r:.140} is no job of Kubernetes; expected NAMESPACE/NAME, like team-a/pretrain")
    return Name(namespace, name)


def parse(wanted: Name, kind: str, pods: Iterable[Mapping[str, Any]]) -> Record:
    """Read a job from its pods; EvidenceError where there is none that has a node, or they are no pods."""
    found = [_pod(pod) for pod in pods]
    if len(found) > MOST_PODS:
        raise EvidenceError(f"{kind} {'/'.join(wanted)} has more than {MOST_PODS} pods")
    placed = sorted((pod for pod in found if pod.node), key=_order)
    if not placed:
        raise EvidenceError(f"{kind} {'/'.join(wanted)} has {len(found)} pods, and none of them was given a node yet")
    ranks, notes = _ranks(placed)
    ends = sorted((end for pod in placed for end in pod.ends), key=lambda end: (end.at is None, end.at or 0.0))
    running = any(pod.phase not in {"Succeeded", "Failed"} for pod in found)
    failed = any(pod.phase == "Failed" for pod in found)
    job = Job(
        id="/".join(wanted),
        nodes=tuple(dict.fromkeys(pod.node for pod in placed)),
        begun=min((pod.begun for pod in placed if pod.begun is not None), default=0.0),
        ended=None if running else max((pod.ended for pod in placed if pod.ended is not None), default=None),
        scheduler="kubernetes",
        name=wanted.name,
        owner=wanted.namespace,
        state="Failed" if failed else "Running" if running else "Succeeded",
        exit_code=next((end.line for end in ends if end.line), "").partition(" ")[0],
        failed_node=next((end.node for end in ends if end.code == "job.node_failed"), ""),
        gpus=sum(pod.gpus for pod in placed),
        restarts=max(pod.restarts for pod in placed),
        ranks=ranks,
    )
    if len(placed) < len(found):
        notes = (*notes, f"{len(found) - len(placed)} of its {len(found)} pods were given no node.")
    if job.begun == 0.0:
        raise EvidenceError(f"{kind} {job.id} has pods on nodes, and none of them has begun; ask again when it runs")
    return Record(job, tuple(ends[:MOST_EVENTS]), notes)


def _order(pod: Pod) -> tuple[int, int, str]:
    return LEADERS.get(pod.role, 0), pod.number if pod.number is not None else MOST_PODS, pod.name


def _ranks(pods: Sequence[Pod]) -> tuple[dict[int, str], tuple[str, ...]]:
    """Count ranks over the pods in their order, one a GPU; none where pods have no numbers, or run beside others."""
    workers = [pod for pod in pods if pod.role != "launcher"]
    places = [_order(pod)[:2] for pod in workers]
    if any(pod.number is None for pod in workers) or len(set(places)) < len(places):
        return {}, ("Kubernetes does not report which rank is on which node; the job's output may.",)
    nodes = [pod.node for pod in workers for _ in range(max(1, pod.gpus))]
    return dict(enumerate(nodes)), ("Ranks are counted over the pods in the order of their numbers, one a GPU.",)


def _pod(pod: Mapping[str, Any]) -> Pod:
    meta, spec, status = (_mapping(pod, part) for part in ("metadata", "spec", "status"))
    labels, notes = _mapping(meta, "labels"), _mapping(meta, "annotations")
    name, node = _text(meta, "name"), _text(spec, "nodeName")
    containers = objects(status.get("containerStatuses") or [], "containerStatuses of a pod")
    ends = [end for each in containers for end in _container(each, name, node)]
    whole = _whole(status, name, node)
    if whole is not None and whole.code not in {end.code for end in ends}:
        ends.append(whole)
    number = next((_number(of[key]) for key in INDEXES for of in (labels, notes) if key in of), None)
    finished = [end for each in containers if (end := moment(_text(_ended(each, "state"), "finishedAt"))) is not None]
    return Pod(
        name=name,
        node=node,
        role=next((_text(labels, key).lower() for key in ROLES if key in labels), ""),
        number=number,
        phase=_text(status, "phase"),
        gpus=sum(
            _number(_limits(each).get(GPU)) or 0 for each in objects(spec.get("containers") or [], "containers")
        ),
        begun=moment(_text(status, "startTime")),
        ended=max(finished, default=whole.at if whole is not None else None),
        restarts=max((_number(each.get("restartCount")) or 0 for each in containers), default=0),
        ends=tuple(ends),
    )


def _container(said: Mapping[str, Any], pod: str, node: str) -> Iterator[Event]:
    """Yield how a container ended before it was started again, and how it ended last, where either was no success."""
    for which in ("lastState", "state"):
        end = _ended(said, which)
        status, reason = end.get("exitCode"), _text(end, "reason")
        if not end or (status == 0 and reason not in REASONS):
            continue
        code, words = REASONS.get(reason, ("job.failed", "failed"))
        told = ended(_number(status) or 0, _number(end.get("signal")) or 0)
        said_so = f"pod {pod} {words}{f': {told}' if told else ''}"
        yield _event(code, moment(_text(end, "finishedAt")), said_so, (pod, node), f"{_number(status)} {reason}")


def _whole(status: Mapping[str, Any], pod: str, node: str) -> Event | None:
    """Return why a pod as a whole was ended, by its reason or its condition; None where neither says so."""
    for each in objects(status.get("conditions") or [], "conditions of a pod"):
        reason = _text(each, "reason")
        if each.get("type") == "DisruptionTarget" and each.get("status") == "True" and reason in REASONS:
            code, words = REASONS[reason]
            return _event(code, moment(_text(each, "lastTransitionTime")), f"pod {pod} {words}", (pod, node), "")
    reason = _text(status, "reason")
    if reason not in REASONS:
        return None
    code, words = REASONS[reason]
    return _event(code, None, f"pod {pod} {words}", (pod, node), "")


def _event(code: str, at: float | None, message: str, where: tuple[str, str], line: str) -> Event:
    pod, node = where
    return Event(
        at, *KINDS[code], code, message, node=node, component=f"pod {pod}", line=line.strip(), source="Kubernetes"
    )


def _ended(container: Mapping[str, Any], which: str) -> Mapping[str, Any]:
    return _mapping(_mapping(container, which), "terminated")


def _limits(container: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(_mapping(container, "resources"), "limits")


def _number(value: object) -> int | None:
    """Return a whole number; None for anything else."""
    text = str(value)
    return int(text) if re.fullmatch("[0-9]{1,6}", text, re.ASCII) else None


def _mapping(of: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = of.get(part) or {}
    if not isinstance(found, Mapping):
        raise EvidenceError(f"{part} of a pod is {found!r:.60}, expected an object of the API server's")
    return found


def _text(of: Mapping[str, Any], key: str) -> str:
    found = of.get(key)
    return printable(found)[:253] if isinstance(found, str) else ""
