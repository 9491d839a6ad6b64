"""NodeRemediations over real HTTP on 127.0.0.1, against answers that an API server ought not to give."""

import json
from collections.abc import Callable

import pytest

from fleet_runner.adapters.schedulers import kubernetes_remediations
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_remediations import Remediations
from fleet_runner.core.base.errors import SchedulerError
from tests.adapters.schedulers.test_kubernetes_answers import Answer, Server, opened, server

__all__ = ["opened", "server"]

WAY = "/apis/fleet-runner.dev/v1alpha1/namespaces/fleet/noderemediations"


def remediations(cluster: Kubernetes) -> Remediations:
    return Remediations(cluster, cluster, "fleet")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, b"<html>proxy</html>"), "is not JSON"),
        ((200, b'{"items": 7}'), "expected"),
        ((200, b'{"items": [], "metadata": "x"}'), "expected"),
        ((404, b'{"message": "the server could not find the requested resource"}'), "HTTP 404"),
        ((403, b'{"message": "forbidden"}'), "docs/schedulers.md"),
        ((429, b"{}"), "HTTP 429"),
    ],
)
def test_a_list_that_is_none_is_an_error_and_no_empty_list(
    server: Server, opened: Callable[[], Kubernetes], answer: Answer, why: str
) -> None:
    """By an empty one, all that was asked would be withdrawn."""
    server.says["GET", WAY] = answer
    with pytest.raises(SchedulerError, match=why):
        remediations(opened()).listed()


def test_a_list_without_end_is_an_error(
    server: Server, opened: Callable[[], Kubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_remediations, "MOST", 300)
    server.says["GET", WAY] = (200, json.dumps({"items": [], "metadata": {"continue": "x"}}).encode())
    with pytest.raises(SchedulerError, match="more than 300 NodeRemediations in fleet; delete old ones"):
        remediations(opened()).listed()
    assert len(server.asked) == 3


@pytest.mark.parametrize("code", [400, 403, 404, 409, 422])
def test_a_status_that_is_refused_is_said(server: Server, opened: Callable[[], Kubernetes], code: int) -> None:
    """It is one object's trouble."""
    server.says["PATCH", f"{WAY}/gpu-1/status"] = (code, b"{}")
    why = remediations(opened()).say("gpu-1", {"conditions": []})
    assert why.startswith("the status of NodeRemediation fleet/gpu-1: ")
    (asked,) = server.asked
    assert asked[2]["status"] == {"conditions": []}


def test_a_machine_or_a_node_that_is_not_there_is_nothing(server: Server, opened: Callable[[], Kubernetes]) -> None:
    """Any other no is an error."""
    found = remediations(opened())
    assert (found.machine("m-1", "v1beta2"), found.node("gpu-2")) == ({}, {})
    assert found.node("gpu-1")["metadata"]["name"] == "gpu-1"
    server.says["GET", "/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet/machines/m-1"] = (403, b"{}")
    with pytest.raises(SchedulerError, match="HTTP 403"):
        found.machine("m-1", "v1beta2")
