"""Labels and conditions of Kubernetes nodes, by server-side apply under a field manager of our own.

What others set stays: the API server knows whose each field is, and what we apply no more goes away.
"""

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from fleet_runner.adapters.schedulers.kubernetes import PAGE, Kubernetes
from fleet_runner.core.base.errors import EvidenceError, SchedulerError
from fleet_runner.core.checks.parsers.json_text import objects

APPLY = "application/apply-patch+yaml"

LABELS, CONDITIONS = "fleet-runner-labels", "fleet-runner-conditions"
"""Our names in the API server's account of who sets what. Up to 1.21 it has one account for a node and its status:
under one name, to apply conditions would take away the labels."""

LIFECYCLE = "fleet-runner-lifecycle"
"""Our name for conditions that others may write as well: one that is theirs keeps none of ours back."""

WHYS = {
    HTTPStatus.CONFLICT: "they belong to somebody else and are left",
    HTTPStatus.NOT_FOUND: "the node is gone",
    HTTPStatus.FORBIDDEN: "refused; give its user the rights that docs/schedulers.md lists",
    HTTPStatus.BAD_REQUEST: "refused; look into the API server's log",
    HTTPStatus.UNPROCESSABLE_ENTITY: "refused; look into the API server's log",
}
"""What one node may be refused for while others are told."""

MOST_NODES = 200_000


def nodes(cluster: Kubernetes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each node's name with its labels and conditions; SchedulerError where the list cannot be read."""
    after: str | None = None
    for _ in range(MOST_NODES // PAGE):
        page = cluster.ask(cluster.api.list_node, "the nodes", (), limit=PAGE, _continue=after)[1]
        for item in _objects(page.get("items")):
            meta, status = _mapping(item.get("metadata")), _mapping(item.get("status"))
            name = meta.get("name")
            if isinstance(name, str):
                conditions = _objects(status.get("conditions"))
                yield name, {"labels": _mapping(meta.get("labels")), "conditions": conditions}
        after = str(_mapping(page.get("metadata")).get("continue") or "") or None
        if after is None:
            return


def _objects(value: Any) -> list[dict[str, Any]]:
    try:
        return objects(value or [], "the nodes")
    except EvidenceError as error:
        raise SchedulerError(f"Kubernetes: {error}") from error


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def apply(cluster: Kubernetes, node: str, labels: Mapping[str, str], conditions: list[dict[str, str]]) -> str:
    """Have a node say this; return what is in the way of this one, "" for nothing. Empty ones take away what we said.

    Raises:
        SchedulerError: the API server did not answer, or has no time.
    """
    head: dict[str, Any] = {"apiVersion": "v1", "kind": "Node"}
    meta = head | {"metadata": {"name": node, "labels": dict(labels)}}
    status = head | {"metadata": {"name": node}, "status": {"conditions": conditions}}
    ways: tuple[tuple[Callable[..., Any], str, dict[str, Any], str], ...] = (
        (cluster.api.patch_node, f"labels of node {node}", meta, LABELS),
        (cluster.api.patch_node_status, f"conditions of node {node}", status, CONDITIONS),
    )
    for call, what, body, manager in ways:
        force = manager == LABELS  # their prefix is ours
        answer, _ = cluster.ask(
            call, what, WHYS, name=node, body=body, field_manager=manager, force=force, _content_type=APPLY
        )
        if answer in WHYS:
            return f"{what}: {WHYS[HTTPStatus(answer)]}"
    return ""


def apply_lifecycle(cluster: Kubernetes, node: str, conditions: list[dict[str, str]]) -> str:
    """Have a node say these in Kubernetes' own words, and no others of ours; return what is in the way, if anything.

    Raises:
        SchedulerError: the API server did not answer, or has no time.
    """
    what = f"lifecycle conditions of node {node}"
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}, "status": {"conditions": conditions}}
    answer, _ = cluster.ask(
        cluster.api.patch_node_status, what, WHYS, name=node, body=body, field_manager=LIFECYCLE, force=False,
        _content_type=APPLY,
    )  # fmt: skip
    return f"{what}: {WHYS[HTTPStatus(answer)]}" if answer in WHYS else ""
