"""Events over real HTTP on 127.0.0.1: made once, counted up, told by the older interface where there is no newer."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes_events import OCCURRENCE, EventsRefusedError, KubernetesEvents
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.lifecycle.node_events import NodeEvent, object_name
from tests.adapters.schedulers.test_kubernetes_answers import Server, kubeconfig

EVENT = NodeEvent("gpu-01", "moved x", 5, 1_700_000_000.5, "Warning", "Triage", "TriageNeeded", "A note.")
NAME = object_name("k-1", EVENT.about)
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
OLDER = "/api/v1/namespaces/default/events"
MADE, GONE, THERE = (201, b"{}"), (404, b"{}"), (409, b'{"message": "already exists"}')


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that makes and changes events."""
    with Server() as found:
        found.says = {("POST", EVENTS): MADE, ("PATCH", f"{EVENTS}/{NAME}"): (200, b"{}")}
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def events(server: Server, tmp_path: Path) -> KubernetesEvents:
    """The events of that server."""
    return KubernetesEvents(kubernetes.opened(kubeconfig(tmp_path, server.server_address[1])))


def kept(server: Server, path: str, body: Any) -> None:
    """Have the server keep an event that was told before."""
    server.says["POST", path] = THERE
    server.says["GET", f"{path}/{NAME}"] = (200, json.dumps(body).encode())


def noted(number: str, **more: Any) -> dict[str, Any]:
    """Return an event that was told up to an occurrence."""
    return {"metadata": {"annotations": {OCCURRENCE: number}}, **more}


def test_an_event_is_made_about_the_node_under_a_name_of_its_own(server: Server, events: KubernetesEvents) -> None:
    assert events.tell("k-1", EVENT)
    ((method, path, body),) = server.asked
    assert (method, path) == ("POST", EVENTS)
    assert body["metadata"] == {"name": NAME, "namespace": "default", "annotations": {OCCURRENCE: "5"}}
    assert body["regarding"] == {"apiVersion": "v1", "kind": "Node", "name": "k-1", "uid": "k-1"}
    assert body["eventTime"] == "2023-11-14T22:13:20.500000+00:00"
    assert (body["type"], body["reason"], body["action"], body["note"]) == EVENT[4:]


@pytest.mark.parametrize("told", ["5", "6"])
def test_what_was_told_before_is_not_told_again(server: Server, events: KubernetesEvents, told: str) -> None:
    kept(server, EVENTS, noted(told))
    assert not events.tell("k-1", EVENT)
    assert [method for method, _, _ in server.asked] == ["POST", "GET"]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (noted("4"), 2),
        (noted("4", series={"count": 7}), 8),
        (noted("4", series={"count": "x"}), 2),
        (noted("9" * 30), 2),
        (noted("one"), 2),
        ({"metadata": {"annotations": None}}, 2),
        ({"metadata": 7}, 2),
    ],
)
def test_what_happens_again_is_counted(server: Server, events: KubernetesEvents, body: Any, count: int) -> None:
    kept(server, EVENTS, body)
    assert events.tell("k-1", EVENT)
    assert server.asked[-1][2] == {
        "metadata": {"annotations": {OCCURRENCE: "5"}},
        "series": {"count": count, "lastObservedTime": "2023-11-14T22:13:20.500000Z"},
    }


def test_one_that_ends_while_it_is_looked_at_is_told_later(server: Server, events: KubernetesEvents) -> None:
    server.says["POST", EVENTS] = THERE
    server.says["GET", f"{EVENTS}/{NAME}"] = GONE
    assert not events.tell("k-1", EVENT)
    assert [method for method, _, _ in server.asked] == ["POST", "GET", "POST"]
    kept(server, EVENTS, noted("4"))
    server.says["PATCH", f"{EVENTS}/{NAME}"] = GONE
    assert not events.tell("k-1", EVENT)


@pytest.mark.parametrize("answer", [GONE, (422, b"{}")])
def test_a_cluster_without_the_newer_interface_is_told_by_the_older(
    server: Server, events: KubernetesEvents, answer: tuple[int, bytes]
) -> None:
    """And is not asked for the newer one again."""
    server.says["POST", EVENTS] = answer
    server.says["POST", OLDER] = MADE
    server.says["PATCH", f"{OLDER}/{NAME}"] = (200, b"{}")
    assert events.tell("k-1", EVENT)
    body = server.asked[-1][2]
    assert (body["involvedObject"]["name"], body["message"], body["count"]) == ("k-1", "A note.", 1)
    assert body["lastTimestamp"] == "2023-11-14T22:13:20+00:00"
    kept(server, OLDER, noted("4", count=3))
    assert events.tell("k-1", EVENT)
    assert server.asked[-1][2] == {
        "metadata": {"annotations": {OCCURRENCE: "5"}}, "count": 4, "lastTimestamp": "2023-11-14T22:13:20Z",
    }  # fmt: skip
    assert [path for _, path, _ in server.asked].count(EVENTS) == 1


@pytest.mark.parametrize(
    ("status", "of_all", "why"),
    [
        (403, True, "give its user the role fleet-runner-events"),
        (400, False, "look into the API server's log"),
    ],
)
def test_a_refusal_says_what_to_do(
    server: Server, events: KubernetesEvents, status: int, of_all: bool, why: str
) -> None:
    server.says["POST", EVENTS] = (status, b'{"message": "no"}')
    with pytest.raises(EventsRefusedError, match=why) as error:
        events.tell("k-1", EVENT)
    assert error.value.is_of_all is of_all


def test_what_neither_interface_takes_is_refused(server: Server, events: KubernetesEvents) -> None:
    server.says["POST", EVENTS] = server.says["POST", OLDER] = (422, b"{}")
    with pytest.raises(EventsRefusedError, match="HTTP 422") as error:
        events.tell("k-1", EVENT)
    assert not error.value.is_of_all


def test_a_server_without_time_is_no_refusal(server: Server, events: KubernetesEvents) -> None:
    server.says["POST", EVENTS] = (429, b'{"message": "slow down"}')
    with pytest.raises(SchedulerError, match="HTTP 429") as error:
        events.tell("k-1", EVENT)
    assert not isinstance(error.value, EventsRefusedError)
