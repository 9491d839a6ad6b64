"""Events on a real API server with the rights of docs/examples: told once, counted up, refused without the role."""

from collections.abc import Iterator
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes, kubernetes_events
from fleet_runner.adapters.schedulers.kubernetes_events import EventsRefusedError, KubernetesEvents
from fleet_runner.core.lifecycle.node_events import NodeEvent
from tests import kube

pytestmark = [kube.needed, pytest.mark.nightly]

NOW = 1_900_000_000.0
"""A whole second: the API server wants six digits behind it all the same."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server with a node, and a user who has our roles."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        found.add_node("gpu-01")
        yield found


def event(about: str, occurrence: int = 1, at: float = NOW) -> NodeEvent:
    return NodeEvent("gpu-01", about, occurrence, at, "Warning", "NvlinkDown", "Check", "GPU 1: a link is down")


def there(server: kube.ApiServer) -> list[Any]:
    """Return the events as `kubectl describe node` asks for them."""
    chosen = "involvedObject.kind%3DNode%2CinvolvedObject.name%3Dgpu-01%2CinvolvedObject.uid%3Dgpu-01"
    found: list[Any] = server.ask("GET", f"/api/v1/events?fieldSelector={chosen}")["items"]
    return found


def opened(server: kube.ApiServer, token: str = kube.DRAINER) -> KubernetesEvents:
    """Return the events of the cluster, as after a start."""
    return KubernetesEvents(kubernetes.opened(server.kubeconfig(token)))


@pytest.mark.parametrize(("namespace", "is_older"), [("kube-system", False), ("default", True)])
def test_an_event_is_told_once_and_counted_when_it_happens_again(
    server: kube.ApiServer, monkeypatch: pytest.MonkeyPatch, namespace: str, *, is_older: bool
) -> None:
    """This release takes events of nodes by the newer interface only in kube-system, so there it is tried."""
    monkeypatch.setattr(kubernetes_events, "NAMESPACE", namespace)
    events = opened(server, kube.DRAINER if is_older else kube.ADMIN)
    about = f"found {namespace}"
    before = {each["metadata"]["name"] for each in there(server)}
    assert events.tell("gpu-01", event(about))
    assert not events.tell("gpu-01", event(about))
    (made,) = (each for each in there(server) if each["metadata"]["name"] not in before)
    assert (made["reason"], made["type"], made["message"]) == ("NvlinkDown", "Warning", "GPU 1: a link is down")
    assert made["metadata"]["namespace"] == namespace
    assert bool(made["eventTime"]) is not is_older
    assert events.tell("gpu-01", event(about, 2, NOW + 60))
    assert events.tell("gpu-01", event(about, 9, NOW + 61.5))
    assert not events.tell("gpu-01", event(about, 8))
    (now,) = (each for each in there(server) if each["metadata"]["name"] not in before)
    assert _count(now) == 3


def _count(found: Any) -> Any:
    return (found.get("series") or {}).get("count") or found.get("count") or 1


def test_nobody_without_the_role_tells_anything(server: kube.ApiServer) -> None:
    role = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
    binding = server.ask("GET", f"{role}/fleet-runner-events")
    server.ask("DELETE", f"{role}/fleet-runner-events")
    try:
        with pytest.raises(EventsRefusedError, match="give its user the role fleet-runner-events") as error:
            opened(server).tell("gpu-01", event("without a role"))
        assert error.value.is_of_all
    finally:
        kept = {key: binding[key] for key in ("apiVersion", "kind", "roleRef", "subjects")}
        server.ask("POST", role, kept | {"metadata": {"name": "fleet-runner-events"}})
