"""Events of Kubernetes nodes: made once under a name of their own, counted up where the same happens again."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.lifecycle.node_conditions import PREFIX
from fleet_runner.core.lifecycle.node_events import NodeEvent, object_name

NAMESPACE = "default"
"""Where Kubernetes keeps the Events of objects that belong to no namespace, as nodes."""

OCCURRENCE = f"{PREFIX}occurrence"
"""The annotation that holds the number of the newest occurrence that was told."""

REPORTER = f"{PREFIX}runner"
MERGE = "application/merge-patch+json"

_NO_NEWER = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY})
"""Before 1.19 there is no events.k8s.io/v1; for some releases after that it took no events of nodes in `default`."""

_DIGITS = 18

_REFUSALS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})


class EventsRefusedError(SchedulerError):
    """The API server did not take an event; `is_of_all` tells that it takes none of ours. Nothing depends on it."""

    def __init__(self, what: str, status: int) -> None:
        self.is_of_all = status == HTTPStatus.FORBIDDEN
        role = "give its user the role fleet-runner-events of docs/examples/kubernetes-rbac.yml"
        hint = role if self.is_of_all else "look into the API server's log"
        super().__init__(f"{what}: HTTP {status}; {hint}")


class KubernetesEvents:
    """The Events of one cluster; by the older of its two interfaces where it has only that one."""

    def __init__(self, cluster: Kubernetes) -> None:
        import kubernetes  # noqa: PLC0415  whoever has a cluster has the client

        self._cluster = cluster
        self._newer: Any = kubernetes.client.EventsV1Api(cluster.api.api_client)
        self._is_older = False

    def tell(self, there: str, event: NodeEvent) -> bool:
        """Have an event told of the node that the cluster calls `there`; False where it was told before.

        Raises:
            EventsRefusedError: our rights are not enough, or the API server does not take it.
            SchedulerError: the API server did not answer, or has no time.
        """
        name = object_name(there, event.about)
        if self._made(there, name, event):
            return True
        what = f"event {name}"
        status, kept = self._ask("read_namespaced_event", what, {HTTPStatus.NOT_FOUND}, name=name)
        if status == HTTPStatus.NOT_FOUND:  # its time was over in between
            return self._made(there, name, event)
        told = _number(_mapping(_mapping(kept.get("metadata")).get("annotations")).get(OCCURRENCE))
        if told >= event.occurrence:
            return False
        body = {"metadata": {"annotations": {OCCURRENCE: str(event.occurrence)}}} | self._again(kept, event)
        status, _ = self._ask(
            "patch_namespaced_event", what, {HTTPStatus.NOT_FOUND}, name=name, body=body, _content_type=MERGE
        )
        return status != HTTPStatus.NOT_FOUND

    def _made(self, there: str, name: str, event: NodeEvent) -> bool:
        """Make an event; False where there is one of its name."""
        expected = {HTTPStatus.CONFLICT} | (frozenset() if self._is_older else _NO_NEWER)
        body = _older(there, name, event) if self._is_older else _newer(there, name, event)
        status, _ = self._ask("create_namespaced_event", f"event {name}", expected, body=body)
        if status in _NO_NEWER:
            self._is_older = True
            return self._made(there, name, event)
        return status != HTTPStatus.CONFLICT

    def _again(self, kept: Mapping[str, Any], event: NodeEvent) -> dict[str, Any]:
        """Return what says of an event that it happened once more."""
        if self._is_older:
            return {"count": max(1, _number(kept.get("count"))) + 1, "lastTimestamp": _moment(event.at)[:19] + "Z"}
        count = max(1, _number(_mapping(kept.get("series")).get("count"))) + 1
        return {"series": {"count": count, "lastObservedTime": _moment(event.at)}}

    def _ask(self, call: str, what: str, expected: set[HTTPStatus], **asked: Any) -> tuple[int, dict[str, Any]]:
        api = self._cluster.api if self._is_older else self._newer
        method: Callable[..., Any] = getattr(api, call)
        status, said = self._cluster.ask(method, what, expected | _REFUSALS, namespace=NAMESPACE, **asked)
        if status in _REFUSALS - expected:
            raise EventsRefusedError(what, status)
        return status, said


def _newer(there: str, name: str, event: NodeEvent) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": _meta(name, event),
        "regarding": _node(there),
        "eventTime": _moment(event.at),
        "reportingController": REPORTER,
        "reportingInstance": REPORTER,
        "type": event.type,
        "reason": event.reason,
        "action": event.action,
        "note": event.note,
    }


def _older(there: str, name: str, event: NodeEvent) -> dict[str, Any]:
    moment = _moment(event.at)[:19] + "Z"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": _meta(name, event),
        "involvedObject": _node(there),
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
        "source": {"component": REPORTER},
        "type": event.type,
        "reason": event.reason,
        "message": event.note,
    }


def _meta(name: str, event: NodeEvent) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "annotations": {OCCURRENCE: str(event.occurrence)}}


def _node(there: str) -> dict[str, str]:
    """Return what an event is about; kubelets give a node's name as its UID, which `kubectl describe` looks for."""
    return {"apiVersion": "v1", "kind": "Node", "name": there, "uid": there}


def _moment(at: float) -> str:
    """Return a moment with six digits behind the second; the client drops six zeros, which the API server refuses."""
    moment = datetime.fromtimestamp(at, UTC)
    return moment.replace(microsecond=moment.microsecond or 1).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    """Return a whole number that somebody else may have written, 0 for anything else."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 0
