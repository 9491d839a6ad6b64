"""Pods that say how they want to be treated when their node is drained, on a real API server."""

from collections.abc import Iterator
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.checks.parsers import kubernetes_node
from fleet_runner.core.checks.parsers.kubernetes_node import INTERRUPTION
from fleet_runner.core.lifecycle.remediators import ANNOTATION, LABEL, MARKS, Mark
from fleet_runner.core.lifecycle.scheduler import By
from tests import kube

pytestmark = [kube.needed, pytest.mark.nightly]

numbers = iter(range(1000))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server that knows our role, and a user who has it."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        yield found


@pytest.fixture
def cluster(server: kube.ApiServer) -> Kubernetes:
    """The cluster, as the drainer sees it."""
    return kubernetes.opened(server.kubeconfig(kube.DRAINER))


@pytest.fixture
def node(server: kube.ApiServer) -> str:
    """A node with a pod of each kind; those that say "graceful" take their time to end."""
    name = f"gpu-{next(numbers)}"
    server.add_node(name)
    for word in ("never", "at-once", "graceful"):
        server.add_pod(f"{word}-{name}", name, gpus=1, labels={INTERRUPTION: word})
    server.add_pod(f"silent-{name}", name, gpus=1)
    server.add_pod(f"noted-{name}", name, annotations={INTERRUPTION: "never"})
    return name


def left(server: kube.ApiServer, node: str) -> set[str]:
    """Return the pods of a node that nobody has asked to end; no kubelet is there to end one."""
    there = [each["metadata"] for each in server.ask("GET", "/api/v1/namespaces/default/pods")["items"]]
    names = (each["name"] for each in there if "deletionTimestamp" not in each)
    return {name.removesuffix(f"-{node}") for name in names if name.endswith(f"-{node}")}


def seen(cluster: Kubernetes, node: str) -> Any:
    return kubernetes_node.parse(node, cluster.read(node))


def test_a_drain_ends_those_that_may_be_ended_and_waits_for_the_others(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    before = left(server, node)
    assert "2 pods that may be interrupted are to end" in cluster.drain(node, "Xid 79", By.RUNNER, dry=True).told
    assert left(server, node) == before
    did = cluster.drain(node, "Xid 79", By.RUNNER)
    assert did.told.endswith("; 2 pods that may be interrupted are to end")
    assert left(server, node) == {"never", "silent", "noted"}
    work = {pod.rpartition("/")[2].removesuffix(f"-{node}") for pod in seen(cluster, node).work}
    assert work == {"never", "silent", "noted", "at-once"}
    assert {pod.rpartition("/")[2].split("-")[0] for pod in seen(cluster, node).never} == {"never", "noted"}


def test_one_that_came_before_the_cordon_is_ended_at_the_next_look(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    cluster.drain(node, "Xid 79", By.RUNNER)
    server.add_pod(f"late-{node}", node, gpus=1, labels={INTERRUPTION: "at-once"})
    did = cluster.drain(node, "Xid 79", By.RUNNER)
    assert did.changed
    assert "late" not in left(server, node)
    assert not cluster.drain(node, "Xid 79", By.RUNNER).changed


def test_an_eviction_leaves_what_is_never_to_be_interrupted(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    cluster.evict(node, 0.0)
    assert left(server, node) == {"never", "noted"}


def test_only_who_wants_no_grace_gets_none(server: kube.ApiServer, cluster: Kubernetes) -> None:
    """And even that one second, or the API server would forget it while its processes run."""
    name = f"gpu-{next(numbers)}"
    server.add_node(name)
    for word in ("at-once", "graceful"):
        container = {"name": "c", "image": "x"}
        spec = {"nodeName": name, "containers": [container], "terminationGracePeriodSeconds": 300}
        meta = {"name": f"{word}-{name}", "labels": {INTERRUPTION: word}}
        server.ask("POST", "/api/v1/namespaces/default/pods", {"metadata": meta, "spec": spec})
        server.set_phase(f"{word}-{name}", "Running")
    cluster.drain(name, "Xid 79", By.PERSON)
    assert left(server, name) == set()
    for word, seconds in (("at-once", 1), ("graceful", 300)):
        pod = server.ask("GET", f"/api/v1/namespaces/default/pods/{word}-{name}")
        assert pod["metadata"]["deletionGracePeriodSeconds"] == seconds
    assert not cluster.drain(name, "Xid 79", By.PERSON).changed


def test_a_pod_of_two_budgets_is_kept_and_named_and_the_others_end(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """The API server answers 500 for it, and the node is drained and known all the same."""
    server.add_pod(f"twice-{node}", node, gpus=1, labels={INTERRUPTION: "at-once", "app": node})
    for name in ("one", "two"):
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": node}}}
        body = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "spec": spec}
        way = "/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets"
        server.ask("POST", way, body | {"metadata": {"name": f"{name}-{node}"}})
    did = cluster.drain(node, "Xid 79", By.RUNNER)
    assert did.changed
    assert "; 2 pods that may be interrupted are to end; " in did.told
    assert (
        f"kept: default/twice-{node}: Kubernetes refused the eviction of pod default/twice-{node}: HTTP 500"
        in did.told
    )
    assert left(server, node) == {"never", "silent", "noted", "twice"}
    assert not seen(cluster, node).takes_work


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark.key)
def test_a_node_that_another_remediator_has_is_not_drained_and_its_pods_stay(
    server: kube.ApiServer, cluster: Kubernetes, node: str, mark: Mark
) -> None:
    """Until its mark has gone."""
    before, path = left(server, node), f"/api/v1/nodes/{node}"
    part = {LABEL: "labels", ANNOTATION: "annotations"}.get(mark.kind, "")
    taint = {"key": mark.key, "value": "x", "effect": "NoSchedule"}
    marked = {"metadata": {part: {mark.key: "x"}}} if part else {"spec": {"taints": [taint]}}
    server.patch(path, marked)
    did = cluster.drain(node, "Xid 79", By.RUNNER)
    assert not did.changed
    assert f"it is left to {mark.owner or 'x'} ({mark.kind} {mark.key})" in did.told
    assert left(server, node) == before
    assert not server.node(node)["spec"].get("unschedulable")
    server.patch(path, {"metadata": {part: {mark.key: None}}} if part else {"spec": {"taints": None}})
    assert cluster.drain(node, "Xid 79", By.RUNNER).changed


def test_what_somebody_else_keeps_is_not_ended(server: kube.ApiServer, cluster: Kubernetes, node: str) -> None:
    """A reason of ours that a person has changed is theirs: nothing of their node is touched."""
    server.add_node(f"own-{node}")
    cluster.drain(f"own-{node}", "Xid 79", By.RUNNER)
    path = f"/api/v1/nodes/own-{node}"
    note = server.ask("GET", path)["metadata"]["annotations"][kubernetes_node.TAINT]
    server.patch(path, {"metadata": {"annotations": {kubernetes_node.TAINT: f"{note} Kim"}}})
    server.add_pod(f"mine-own-{node}", f"own-{node}", gpus=1, labels={INTERRUPTION: "at-once"})
    assert not cluster.drain(f"own-{node}", "Xid 79", By.RUNNER).changed
    assert f"mine-own-{node}" in server.pods()
