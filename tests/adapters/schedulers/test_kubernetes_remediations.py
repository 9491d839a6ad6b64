"""NodeRemediations over real HTTP on 127.0.0.1, against answers that an API server ought not to give."""

import json
from collections.abc import Callable

import pytest

from fleet_runner.adapters.schedulers import kubernetes_remediations
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_remediations import Remediations
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.lifecycle import node_remediations
from fleet_runner.core.lifecycle.node_remediations import Asked
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
        ((200, b"{}"), "expected"),
        ((200, b'{"items": null}'), "expected"),
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
        list(remediations(opened()).listed())


def test_a_list_without_end_is_an_error(
    server: Server, opened: Callable[[], Kubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_remediations, "MOST", 300)
    server.says["GET", WAY] = (200, json.dumps({"items": [], "metadata": {"continue": "x"}}).encode())
    with pytest.raises(SchedulerError, match="more than 300 NodeRemediations in fleet; delete old ones"):
        list(remediations(opened()).listed())
    assert len(server.asked) == 3


def test_a_page_is_dealt_with_before_the_next_one_is_asked_for(
    server: Server, opened: Callable[[], Kubernetes]
) -> None:
    """Each may have a quarter of a megabyte of annotations: all at once would be the runner's end."""
    server.says["GET", WAY] = (200, json.dumps({"items": [{}], "metadata": {"continue": "x"}}).encode())
    assert next(remediations(opened()).listed()) == {}
    assert len(server.asked) == 1


def read() -> Asked:
    """One that was read."""
    found = node_remediations.read({"metadata": {"name": "gpu-1", "uid": "1", "resourceVersion": "7"}}, "fleet")
    assert found is not None
    return found


@pytest.mark.parametrize("code", [400, 403, 422])
def test_a_status_that_is_refused_is_said(server: Server, opened: Callable[[], Kubernetes], code: int) -> None:
    """It is one object's trouble."""
    server.says["PATCH", f"{WAY}/gpu-1/status"] = (code, b"{}")
    why = remediations(opened()).say(read(), {"conditions": []})
    assert (why or "").startswith("the status of NodeRemediation fleet/gpu-1: ")
    (asked,) = server.asked
    assert asked[2]["status"] == {"conditions": []}
    assert asked[2]["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize("code", [404, 409])
def test_one_that_was_changed_since_it_was_read_is_left_to_the_next_look(
    server: Server, opened: Callable[[], Kubernetes], code: int
) -> None:
    server.says["PATCH", f"{WAY}/gpu-1/status"] = (code, b"{}")
    assert remediations(opened()).say(read(), {"conditions": []}) is None


def test_a_machine_or_a_node_that_is_not_there_is_nothing(server: Server, opened: Callable[[], Kubernetes]) -> None:
    """A Machine that may not be read holds up no other request; any other no is an error."""
    found = remediations(opened())
    assert (found.machine("m-1", "v1beta2"), found.node("gpu-2")) == ({}, {})
    assert found.node("gpu-1")["metadata"]["name"] == "gpu-1"
    server.says["GET", "/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet/machines/m-1"] = (403, b"{}")
    assert found.machine("m-1", "v1beta2") == {}
    server.says["GET", "/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet/machines/m-1"] = (500, b"{}")
    with pytest.raises(SchedulerError, match="HTTP 500"):
        found.machine("m-1", "v1beta2")
