"""Drained and asked through the official client, against a real API server, with the rights of docs/examples."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers.kubernetes_node import CORDONED, TAINT
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.scheduler import By
from fleet_runner.core.lifecycle.spool import Judged
from tests import kube
from tests.playing import Ansible, inventory, spool

pytestmark = [kube.needed, pytest.mark.nightly]

RBAC = Path(__file__).resolve().parents[3] / "docs" / "examples" / "kubernetes-rbac.yml"
BUDGETS = "/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets"
numbers = iter(range(1000))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server that knows our role, and a user who has it."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        yield found


@pytest.fixture
def node(server: kube.ApiServer) -> str:
    """A node of its own for each test."""
    name = f"gpu-{next(numbers)}"
    server.add_node(name)
    return name


@pytest.fixture
def cluster(server: kube.ApiServer) -> Kubernetes:
    """The cluster, as the drainer sees it."""
    return kubernetes.opened(server.kubeconfig(kube.DRAINER))


def judged(cluster: Kubernetes, node: str, did: str = "read") -> Result:
    """Return what the check says of what the API server says now."""
    text = json.dumps({"scheduler": "kubernetes", "name": node, "did": did, "said": cluster.read(node)})
    assert "s3c" not in text, "what is in a pod's environment is no evidence"
    return run(CHECKS["scheduler"], {"scheduler_node": Reading("scheduler_node", ReadEnd.OK, text)}, Expected(node))


def taints(server: kube.ApiServer, node: str) -> list[str]:
    """Return the keys of a node's taints, the API server's own left out."""
    found = server.node(node)["spec"].get("taints") or []
    return [taint["key"] for taint in found if not taint["key"].startswith("node.kubernetes.io/")]


def test_a_drain_cordons_and_taints_waits_for_pods_with_gpus_and_a_resume_undoes_both(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """The pods stay: what is pending waits for them. Other taints and annotations are nobody's business."""
    server.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {"who": "Kim"}}})
    server.patch(
        f"/api/v1/nodes/{node}", {"spec": {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}}
    )
    server.add_pod(f"train-{node}", node, gpus=8)
    server.add_pod(f"web-{node}", node)
    assert cluster.drain(node, "reboot: Xid 79", By.RUNNER).changed
    assert not cluster.drain(node, "another reason", By.RUNNER).changed
    found = server.node(node)
    assert found["spec"]["unschedulable"]
    assert taints(server, node) == ["team", TAINT]
    assert found["metadata"]["annotations"]["who"] == "Kim"
    condition = next(each for each in found["status"]["conditions"] if each["type"] == kubernetes.CONDITION)
    assert condition["status"] == "True"
    assert "reboot: Xid 79" in condition["message"]
    seen = judged(cluster, node, "drain")
    assert (seen.verdict, seen.observed["in_use"], seen.observed["ours"]) == (Verdict.PASS, True, True)
    assert f"pod default/train-{node} on it, beside 1 pods without devices" in seen.message
    assert {f"train-{node}", f"web-{node}"} <= set(server.pods())
    server.set_phase(f"train-{node}", "Succeeded")
    assert not judged(cluster, node, "drain").observed["in_use"]
    assert cluster.resume(node, By.RUNNER).changed
    found = server.node(node)
    assert not found["spec"].get("unschedulable")
    assert taints(server, node) == ["team"]
    assert found["metadata"]["annotations"] == {"who": "Kim"}
    assert judged(cluster, node, "resume").observed["takes_work"]
    assert not cluster.resume(node, By.RUNNER).changed


def test_what_a_person_cordoned_stays_cordoned(server: kube.ApiServer, cluster: Kubernetes, node: str) -> None:
    """Our taint goes on top, so that their uncordon gives no work to a node that is about to be rebooted."""
    server.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    did = cluster.drain(node, "Xid 79", By.RUNNER)
    assert did.changed
    assert "cordoned by somebody else" in did.told
    assert CORDONED not in server.node(node)["metadata"]["annotations"]
    assert "cordoned" in cluster.resume(node, By.RUNNER).told
    assert server.node(node)["spec"]["unschedulable"]
    assert taints(server, node) == []
    assert "not by fleet-runner" in judged(cluster, node, "resume").message
    assert not cluster.resume(node, By.RUNNER).changed


def test_a_person_who_uncordons_gives_a_drained_node_no_work(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """The taint is still there; and a cordon that they set anew is theirs from then on."""
    cluster.drain(node, "Xid 79", By.RUNNER)
    server.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})
    seen = judged(cluster, node)
    assert not seen.observed["takes_work"]
    server.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    assert cluster.resume(node, By.RUNNER).changed
    assert server.node(node)["spec"]["unschedulable"]


def test_a_reason_that_a_person_changed_is_the_persons(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """Whoever writes into our annotation keeps the node."""
    cluster.drain(node, "Xid 79", By.RUNNER)
    text = server.node(node)["metadata"]["annotations"][TAINT]
    server.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {TAINT: f"{text} keep it, Kim"}}})
    for did in (cluster.drain(node, "Xid 79", By.RUNNER), cluster.resume(node, By.RUNNER)):
        assert not did.changed
        assert "keep it, Kim" in did.told
    assert taints(server, node) == [TAINT]
    assert not judged(cluster, node, "resume").observed["ours"]


def test_a_person_who_drains_by_hand_what_the_runner_drained_keeps_it(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """The runner gives it back no more; they do."""
    cluster.drain(node, "Xid 79", By.RUNNER)
    assert cluster.drain(node, "noon", By.PERSON).changed
    assert not cluster.drain(node, "Xid 79", By.RUNNER).changed
    assert not cluster.resume(node, By.RUNNER).changed
    assert taints(server, node) == [TAINT]
    assert cluster.resume(node, By.PERSON).changed
    assert not server.node(node)["spec"].get("unschedulable")


def test_evictions_respect_disruption_budgets_and_leave_daemons(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """The one that a budget keeps is named; once the budget allows it, it goes too."""
    for name in ("kept", "free"):
        server.add_pod(f"{name}-{node}", node, gpus=1, labels={"app": f"{name}-{node}"})
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "1", "controller": True}
    server.add_pod(f"daemon-{node}", node, ownerReferences=[owner])
    server.add_pod(f"mirror-{node}", node, annotations={"kubernetes.io/config.mirror": "x"})
    body = {
        "metadata": {"name": node},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": f"kept-{node}"}}},
    }
    server.ask("POST", BUDGETS, {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", **body})
    counts = {"currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "observedGeneration": 1}
    server.patch(f"{BUDGETS}/{node}/status", {"status": {"disruptionsAllowed": 0, **counts}})
    assert cluster.evict(node, 0.0, dry=True).changed
    assert f"free-{node}" in server.pods()
    did = cluster.evict(node, 0.0)
    assert f"kept by a disruption budget: default/kept-{node}" in did.told
    assert "free" not in did.told
    assert [name for name in server.pods() if name.endswith(node)] == [
        f"{each}-{node}" for each in ("daemon", "kept", "mirror")
    ]

    def allow() -> None:
        time.sleep(1.0)
        server.patch(f"{BUDGETS}/{node}/status", {"status": {"disruptionsAllowed": 1, **counts}})

    meanwhile = threading.Thread(target=allow)
    meanwhile.start()
    did = cluster.evict(node, 30.0)
    meanwhile.join()
    assert did.changed
    assert "kept" not in did.told
    assert f"kept-{node}" not in server.pods()
    assert not judged(cluster, node).observed["in_use"]


def test_the_rights_of_the_example_are_enough_and_no_more(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """Pods are evicted, never deleted; nothing secret can be read."""
    server.add_pod(f"pod-{node}", node)
    api = cluster.api
    for refused in (
        lambda: api.delete_namespaced_pod(f"pod-{node}", "default"),
        api.list_secret_for_all_namespaces,
        lambda: api.delete_node(node),
    ):
        with pytest.raises(ApiException) as error:
            refused()
        assert error.value.status == 403


def test_without_the_right_to_set_conditions_the_drain_is_the_same(
    server: kube.ApiServer, cluster: Kubernetes, node: str
) -> None:
    """A condition is a courtesy."""
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/fleet-runner"
    role = server.ask("GET", path)
    server.patch(path, {"rules": [rule for rule in role["rules"] if rule["resources"] != ["nodes/status"]]})
    try:
        assert cluster.drain(node, "Xid 79", By.RUNNER).changed
        assert taints(server, node) == [TAINT]
    finally:
        server.patch(path, {"rules": role["rules"]})


def test_a_node_that_others_write_all_the_time_is_drained_all_the_same(
    server: kube.ApiServer, cluster: Kubernetes, node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write in between is seen by its version: what it said is not lost, and ours is tried again."""
    whole, between = cluster._node, iter(range(2))

    def raced(name: str) -> dict[str, Any]:
        found = whole(name)
        if (number := next(between, None)) is not None:
            server.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {f"at{number}": "x"}}})
        return found

    monkeypatch.setattr(cluster, "_node", raced)
    assert cluster.drain(node, "Xid 79", By.RUNNER).changed
    found = server.node(node)
    assert {"at0", "at1"} <= found["metadata"]["labels"].keys()
    assert taints(server, node) == [TAINT]


def test_check_mode_changes_nothing(server: kube.ApiServer, cluster: Kubernetes, node: str) -> None:
    """In both directions."""
    assert cluster.drain(node, "Xid 79", By.RUNNER, dry=True).changed
    assert taints(server, node) == []
    cluster.drain(node, "Xid 79", By.RUNNER)
    assert cluster.resume(node, By.RUNNER, dry=True).changed
    assert taints(server, node) == [TAINT]


def test_a_wrong_name_and_a_wrong_token_are_told(server: kube.ApiServer, cluster: Kubernetes) -> None:
    """Each with what to do."""
    with pytest.raises(SchedulerError, match=r"HTTP 404.*scheduler_node"):
        cluster.drain("gpu-unknown", "Xid 79", By.RUNNER)
    with pytest.raises(SchedulerError, match="the name of one node"):
        cluster.read("../secrets")
    with pytest.raises(SchedulerError, match=r"HTTP 401.*valid credential") as error:
        kubernetes.opened(server.kubeconfig("wrong-token")).read("gpu-0")
    assert "wrong-token" not in str(error.value)


def test_a_token_that_expired_and_was_replaced_is_used_without_a_restart(server: kube.ApiServer, node: str) -> None:
    file = server.kubeconfig("expired-token")
    opened = kubernetes.opened(file)
    with pytest.raises(SchedulerError, match="HTTP 401"):
        opened.read(node)
    file.write_text(file.read_text(encoding="utf-8").replace("expired-token", kube.DRAINER), encoding="utf-8")
    assert opened.read(node)["name"] == node


def test_the_playbooks_drain_and_give_back(server: kube.ApiServer, node: str, tmp_path: Path) -> None:
    """As a person does it by hand; the pods' budgets and the rest are the adapter's."""
    shared = {"active_job_dir": str(tmp_path / "jobs"), "drain_checks": ["time_sync"]}
    variables = {
        "FLEET_SCHEDULER": "kubernetes",
        "FLEET_KUBECONFIG": str(server.kubeconfig(kube.DRAINER)),
        "FLEET_STATE_DIR": str(tmp_path / "state"),
        "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
        "ANSIBLE_INVENTORY": str(inventory(tmp_path / "nodes.yml", {"n": {"scheduler_node": node}}, **shared)),
        "ANSIBLE_GATHERING": "explicit",
    }
    ansible = Ansible(tmp_path / "home", variables)
    for name, changed, marks in (("drain", 1, [TAINT]), ("drain", 0, [TAINT]), ("resume", 1, []), ("resume", 0, [])):
        answer = ansible("ansible-playbook", f"playbooks/{name}.yml", "--limit", "n")
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert f"changed={changed} " in answer.stdout
        assert taints(server, node) == marks
    verdicts = [line.result for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Judged)]
    asked = [each.observed["takes_work"] for each in verdicts if each.check == "scheduler"]
    assert asked == [False] * 4 + [True] * 2  # a drain is told before the node itself is asked, and after
