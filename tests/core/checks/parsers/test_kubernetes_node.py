"""A node and its pods as the API server tells of them; what tenants keep in a pod is never evidence."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import kubernetes_node
from fleet_runner.core.checks.parsers.kubernetes_node import CORDONED, MANAGER, TAINT, kept, parse, standing
from fleet_runner.core.lifecycle.scheduler import By, Seen, marked
from tests.examples import examples

OURS = marked("gpu-1", "REBOOT: Xid 79", By.RUNNER)
KEPT_AWAY = {"key": TAINT, "effect": "NoSchedule"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def a_node(*, notes: dict[str, str] | None = None, taints: list[Any] | None = None, cordon: bool = False) -> Any:
    """Return a node as the API server has it."""
    fields = [{"manager": "kubectl", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}] if cordon else []
    return {
        "metadata": {"name": "gpu-1", "annotations": notes, "managedFields": ["x", {"manager": "kubelet"}, *fields]},
        "spec": {"unschedulable": cordon or None, "taints": taints},
        "status": {"conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}]},
    }


def a_pod(name: str, limits: dict[str, Any] | None = None, phase: str = "Running", **more: Any) -> Any:
    """Return a pod as the API server has it, with a secret in its environment."""
    container = {"name": "c", "env": [{"name": "K", "value": "s3c"}], "resources": {"limits": limits or {}}}
    spec = {"containers": [container], **more.pop("spec", {})}
    return {"metadata": {"name": name, "namespace": "ml", **more}, "spec": spec, "status": {"phase": phase}}


def seen(node: Any, *pods: Any) -> Seen:
    """Return what is read of them, by way of what is kept."""
    text = json.dumps(kept(node, pods))
    assert "s3c" not in text
    return parse("gpu-1", json.loads(text))


def test_a_ready_node_takes_work_and_has_none() -> None:
    """The plainest answer."""
    assert seen(a_node()) == Seen("ready", takes_work=True, work=())


def test_pods_that_ask_for_devices_are_work_and_others_are_counted() -> None:
    """Daemons and the kubelet's own files have a pod on every node; what has ended is over."""
    daemon = {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}
    found = seen(
        a_node(),
        a_pod("train", {"nvidia.com/gpu": "8", "cpu": "4"}),
        a_pod("rdma", {"rdma/hca": 1}),
        a_pod("claims", spec={"resourceClaims": [{"name": "gpu"}]}),
        a_pod("init", spec={"initContainers": [{"resources": {"requests": {"amd.com/gpu": "1"}}}]}),
        a_pod("web", {"cpu": "4", "nvidia.com/gpu": "0"}),
        a_pod("done", {"nvidia.com/gpu": "8"}, "Succeeded"),
        a_pod("failed", {"nvidia.com/gpu": "8"}, "Failed"),
        a_pod("exporter", {"nvidia.com/gpu": "1"}, **daemon),
        a_pod("static", {"nvidia.com/gpu": "1"}, annotations={kubernetes_node.MIRROR: "x"}),
    )
    assert found.work == ("pod ml/train", "pod ml/rdma", "pod ml/claims", "pod ml/init")
    assert found.others == 1


def test_what_keeps_work_away_is_told_with_whose_it_is() -> None:
    """Our taint, a person's cordon, or both."""
    ours = seen(a_node(notes={TAINT: OURS, CORDONED: "true"}, taints=[KEPT_AWAY]))
    assert (ours.takes_work, ours.ours, ours.why) == (False, By.RUNNER, OURS)
    theirs = seen(a_node(cordon=True))
    assert (theirs.takes_work, theirs.ours, theirs.why, theirs.state) == (False, None, "cordoned", "cordoned")
    changed = seen(a_node(notes={TAINT: f"{OURS} Kim"}, taints=[KEPT_AWAY], cordon=True))
    assert (changed.takes_work, changed.ours) == (False, None)
    note_alone = seen(a_node(notes={TAINT: OURS}))
    assert (note_alone.takes_work, note_alone.ours) == (True, None)
    team = seen(
        a_node(taints=[{"key": "team", "effect": "NoSchedule"}, {"key": "soft", "effect": "PreferNoSchedule"}])
    )
    assert (team.takes_work, team.state) == (True, "team")


def test_a_node_that_is_not_ready_is_told_as_such() -> None:
    """Whether pods on it run is then the kubelet's last word."""
    node = a_node()
    node["status"] = {}
    assert seen(node).state == "not ready"


def test_a_cordon_is_ours_by_our_note_and_by_the_servers_account() -> None:
    """A person who cordoned it anew has it; where there is no account, the note is enough."""
    notes = {CORDONED: "true"}
    assert not kubernetes_node.is_cordoned_by_us(kept(a_node(notes=notes, cordon=True), []))
    assert kubernetes_node.is_cordoned_by_us(kept(a_node(notes=notes), []))
    assert not kubernetes_node.is_cordoned_by_us(kept(a_node(cordon=True), []))
    mine = {"managedFields": [{"manager": MANAGER, "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}]}
    assert kubernetes_node.cordoned_by(mine) == MANAGER


def test_what_an_eviction_can_end_is_told_with_what_ends_already() -> None:
    """Not what a daemon's controller would put back at once."""
    daemon = {"ownerReferences": [{"kind": "DaemonSet", "controller": True}, {"kind": "x"}]}
    pods = [a_pod("a"), a_pod("b", deletionTimestamp="2026-01-01T00:00:00Z"), a_pod("c", **daemon)]
    assert standing(kept(a_node(), pods)["pods"]) == {"ml/a": False, "ml/b": True}


def test_a_reset_asks_to_end_only_what_asks_for_a_device() -> None:
    """It harms nothing else."""
    pods = [{"name": "ml/train", "devices": True}, {"name": "web/shop", "devices": False}]
    assert standing(pods, devices=True) == {"ml/train": False}
    assert standing(pods) == {"ml/train": False, "web/shop": False}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "expected node gpu-1"),
        ({"name": "gpu-2"}, "expected node gpu-1"),
        ({"name": "gpu-1", "pods": None}, "the pods"),
        ({"name": "gpu-1", "pods": [], "taints": {}}, "the taints"),
        ({"name": "gpu-1", "pods": [], "taints": []}, "its annotations"),
        ({"name": "gpu-1", "pods": [{}] * 2001, "taints": [], "notes": {}}, "at most 2000"),
    ],
)
def test_what_is_no_such_node_is_refused(said: dict[str, Any], why: str) -> None:
    """Never idle by guess."""
    with pytest.raises(EvidenceError, match=why):
        parse("gpu-1", said)


@pytest.mark.parametrize("part", ["metadata", "spec", "status"])
def test_what_is_no_object_of_the_api_servers_is_refused(part: str) -> None:
    """Wherever it is another type."""
    for node, pods in ((a_node() | {part: [1]}, []), (a_node(), [a_pod("x") | {part: "x"}])):
        with pytest.raises(EvidenceError, match=part):
            kept(node, pods)


@settings(max_examples=examples(200))
@given(data=st.data())
def test_any_json_in_any_place_is_read_or_refused(data: st.DataObject) -> None:
    """A value of another type, anywhere in the answer or in what was kept of it."""
    for raw, read in (
        ({"node": a_node(notes={TAINT: OURS}, taints=[dict(KEPT_AWAY)]), "pods": [a_pod("x", {"a/b": 1})]}, _whole),
        (kept(a_node(taints=[dict(KEPT_AWAY)]), [a_pod("x")]), lambda said: parse("gpu-1", said)),
    ):
        at: Any = raw
        while isinstance(at, dict | list) and at:
            key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else list(range(len(at)))))
            if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
                at[key] = data.draw(JSON)
                break
            at = at[key]
        with suppress(EvidenceError):
            read(raw)


def _whole(raw: Any) -> None:
    node, pods = raw.get("node"), raw.get("pods")
    if isinstance(node, dict) and isinstance(pods, list) and all(isinstance(pod, dict) for pod in pods):
        found = kept(node, pods)
        standing(found["pods"])
        parse("gpu-1", json.loads(json.dumps(found)))


@pytest.mark.parametrize(
    ("there", "pods", "sole"),
    [
        ("8", [a_pod("train", {"nvidia.com/gpu": "8"})], True),
        ("8", [a_pod("train", {"nvidia.com/gpu": "8"}), a_pod("done", {"nvidia.com/gpu": 1}, "Succeeded")], True),
        ("8", [a_pod("train", {"nvidia.com/gpu": 4})], False),
        ("8", [a_pod("train", {"nvidia.com/gpu": "4"}), a_pod("other", {"nvidia.com/gpu": "4"})], False),
        ("8", [a_pod("train", {"nvidia.com/gpu": "8"}), a_pod("shop")], False),
        ("8", [a_pod("rdma", {"rdma/hca": 8})], False),
        ("0", [a_pod("rdma", {"rdma/hca": 8})], False),
        (None, [a_pod("train", {"nvidia.com/gpu": "8"})], False),
        ("8", [], False),
    ],
)
def test_one_pod_has_the_whole_node_if_it_has_all_gpus_and_nothing_runs_beside_it(
    there: object, pods: list[Any], sole: bool
) -> None:
    """Pods without devices are somebody's work, too."""
    node = a_node()
    node["status"]["allocatable"] = {"nvidia.com/gpu": there}
    assert seen(node, *pods).sole is sole


def asks(*, label: str = "", annotation: str = "", **more: Any) -> dict[str, Any]:
    """Return the metadata of a pod that says how it wants to be treated."""
    key = kubernetes_node.INTERRUPTION
    return {"labels": {key: label} if label else None, "annotations": {key: annotation} if annotation else {}, **more}


@pytest.mark.parametrize(
    ("meta", "word"),
    [
        ({}, ""),
        (asks(label="never"), "never"),
        (asks(label="at-once"), "at-once"),
        (asks(annotation="graceful"), "graceful"),
        (asks(label="graceful", annotation="graceful"), "graceful"),
        (asks(label="graceful", annotation="at-once"), "never"),
        (asks(label="whenever"), "never"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, "never"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "1h"}}, "never"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "false"}}, ""),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, "never"),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}}, ""),
        (
            {
                "labels": {kubernetes_node.INTERRUPTION: "graceful"},
                "annotations": {"karpenter.sh/do-not-disrupt": "true"},
            },
            "graceful",
        ),
    ],
)
def test_a_pod_says_how_it_wants_to_be_treated_and_an_unclear_word_is_never(meta: dict[str, Any], word: str) -> None:
    assert kubernetes_node.interruption(meta) == word


@pytest.mark.parametrize(
    ("namespace", "priority", "gpus", "own", "word"),
    [
        ("kube-system", "", "", "", ""),
        ("ingress", "system-cluster-critical", "", "", ""),
        ("ml", "", "", "", "never"),
        ("ml", "high", "", "", "never"),
        ("kube-system", "", "8", "", "never"),
        ("kube-system", "system-node-critical", "", "never", "never"),
    ],
)
def test_a_clusters_own_pods_keep_no_node_from_being_repaired(
    namespace: str, priority: str, gpus: str, own: str, word: str
) -> None:
    """Coredns, or the autoscaler itself, is marked against the autoscaler and never ends; a tenant's work does."""
    limits = {"nvidia.com/gpu": gpus} if gpus else {}
    notes = {kubernetes_node.SAFE_TO_EVICT: "false", **({kubernetes_node.INTERRUPTION: own} if own else {})}
    pod = a_pod("dns", limits, namespace=namespace, annotations=notes, spec={"priorityClassName": priority})
    (said,) = kubernetes_node.kept(a_node(), [pod])["pods"]
    assert said["interruption"] == word


@pytest.mark.parametrize(
    ("said", "seconds"), [(600, 600), (0, 0), (None, 30), (-1, 30), ("600", 30), (True, 30), (10**9, 86_400)]
)
def test_a_pod_has_its_own_time_to_end(said: object, seconds: int) -> None:
    """Thirty seconds where it does not say; some say a month, by which they mean for ever."""
    pod = a_pod("batch")
    pod["spec"]["terminationGracePeriodSeconds"] = said
    pods = kubernetes_node.kept(a_node(), [pod, a_pod("shop")])["pods"]
    assert kubernetes_node.grace(pods, {"ml/batch"}) == seconds
    assert kubernetes_node.grace(pods, ()) == 0


def test_a_pod_that_is_never_to_be_interrupted_is_waited_for_and_no_other_is_because_it_may_be() -> None:
    """Whatever it asks for; those that may be ended are work for as long as they are there."""
    pods = [
        a_pod("shop", **asks(label="never")),
        a_pod("batch", {"nvidia.com/gpu": "8"}, **asks(label="at-once")),
        a_pod("web", **asks(label="graceful")),
        a_pod("over", phase="Failed", **asks(label="never")),
    ]
    found = seen(a_node(), *pods)
    assert (found.work, found.never, found.others) == (("pod ml/shop", "pod ml/batch"), ("pod ml/shop",), 1)
    there = kept(a_node(), pods)["pods"]
    assert standing(there) == {"ml/batch": False, "ml/web": False}
    assert standing(there, devices=True) == {"ml/batch": False}
    assert kubernetes_node.willing(there) == {"ml/batch": False, "ml/web": False}
    assert kubernetes_node.hurried(there) == {"ml/batch"}


def test_one_that_ends_already_is_never_no_more() -> None:
    """On a dead node it stays, ending, until that is back: whoever deleted it has decided."""
    ending = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    found = seen(
        a_node(), a_pod("shop", **ending, **asks(label="never")), a_pod("batch", {"nvidia.com/gpu": "1"}, **ending)
    )
    assert (found.work, found.never, found.others) == (("pod ml/batch",), (), 1)
