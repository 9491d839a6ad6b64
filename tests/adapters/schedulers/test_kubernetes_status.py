"""Lists of nodes and answers to an apply that an API server ought not to give, over real HTTP on 127.0.0.1."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes, kubernetes_status
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.base.errors import SchedulerError
from tests.adapters.schedulers.test_kubernetes_answers import Server, kubeconfig

NODES = ("GET", "/api/v1/nodes")
NODE = ("PATCH", "/api/v1/nodes/gpu-1")
STATUS = ("PATCH", "/api/v1/nodes/gpu-1/status")
LABELS = {"fleet-runner.dev/state": "production"}


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that takes what is applied."""
    with Server() as found:
        found.says = {NODE: (200, b"{}"), STATUS: (200, b"{}")}
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def cluster(server: Server, tmp_path: Path) -> Kubernetes:
    """The cluster of that server."""
    return kubernetes.opened(kubeconfig(tmp_path, server.server_address[1]))


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"items": None}, []),
        ({"items": [{}, {"metadata": None}, {"metadata": {"name": 7}}]}, []),
        ({"items": [{"metadata": {"name": "a", "labels": None}, "status": None}], "metadata": None}, ["a"]),
    ],
)
def test_half_filled_nodes_are_read_as_far_as_they_go(
    server: Server, cluster: Kubernetes, body: Any, names: list[str]
) -> None:
    server.says[NODES] = (200, json.dumps(body).encode())
    found = dict(kubernetes_status.nodes(cluster))
    assert list(found) == names
    assert all(each == {"labels": {}, "conditions": []} for each in found.values())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, b'{"items": 7}'), "expected a list of objects"),
        ((200, b"<html>"), "is not JSON"),
        ((403, b'{"message": "nodes is forbidden"}'), "docs/schedulers.md"),
        ((429, b'{"message": "slow down"}'), "HTTP 429, 'slow down'"),
    ],
)
def test_a_list_that_is_none_is_one_sentence(
    server: Server, cluster: Kubernetes, answer: tuple[int, bytes], why: str
) -> None:
    server.says[NODES] = answer
    with pytest.raises(SchedulerError, match=why):
        list(kubernetes_status.nodes(cluster))


def test_a_list_that_never_ends_ends(server: Server, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that gives the same page for ever."""
    monkeypatch.setattr(kubernetes_status, "MOST_NODES", 1500)
    server.says[NODES] = (200, b'{"items": [{"metadata": {"name": "a"}}], "metadata": {"continue": "x"}}')
    assert list(dict(kubernetes_status.nodes(cluster))) == ["a"]
    assert len(server.asked) == 3


def test_labels_and_conditions_are_applied_as_objects_of_their_own(server: Server, cluster: Kubernetes) -> None:
    told = [{"type": "GpuHealthy", "status": "True", "reason": "ChecksPassed", "message": "m"}]
    assert kubernetes_status.apply(cluster, "gpu-1", LABELS, told) == ""
    head = {"apiVersion": "v1", "kind": "Node"}
    assert server.asked == [
        ("PATCH", "/api/v1/nodes/gpu-1", head | {"metadata": {"name": "gpu-1", "labels": LABELS}}),
        (
            "PATCH",
            "/api/v1/nodes/gpu-1/status",
            head | {"metadata": {"name": "gpu-1"}, "status": {"conditions": told}},
        ),
    ]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (409, "they belong to somebody else and are left"),
        (404, "the node is gone"),
        (403, "refused; give its user the rights that docs/schedulers.md lists"),
        (422, "refused; look into the API server's log"),
    ],
)
def test_what_is_in_the_way_of_one_node_is_said(server: Server, cluster: Kubernetes, status: int, why: str) -> None:
    """Others are told all the same; only a server that has no time for anything ends it."""
    server.says[STATUS] = (status, b'{"message": "no"}')
    assert kubernetes_status.apply(cluster, "gpu-1", LABELS, []) == f"conditions of node gpu-1: {why}"
    server.says[NODE] = (429, b"{}")
    with pytest.raises(SchedulerError, match="HTTP 429"):
        kubernetes_status.apply(cluster, "gpu-1", LABELS, [])
