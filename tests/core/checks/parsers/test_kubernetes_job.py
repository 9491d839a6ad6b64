"""What Kubernetes tells of a job: pods as the API server answers them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import kubernetes_job
from fleet_runner.core.checks.parsers.kubernetes_job import Name, asked, parse
from fleet_runner.core.jobs.event import Role
from fleet_runner.core.jobs.record import Record

NAME = Name("team-a", "pretrain")
BEGAN, ENDED = "2026-11-29T21:00:00Z", "2026-11-29T22:00:00Z"
AT = 1_795_986_000.0
"""The same as BEGAN."""

OOM = "was ended because it used more memory than its limit"

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["metadata", "spec", "status", "name", "nodeName", "labels", "containers", "containerStatuses", "state",
         "terminated", "exitCode", "conditions", "reason", "startTime"]), inner, max_size=4),
    max_leaves=30,
)  # fmt: skip


def pod(number: int, *, gpus: int = 8, end: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a worker's pod that ended well, or as `end` says; `more` goes into its status."""
    done = {"exitCode": 0, "reason": "Completed", "finishedAt": ENDED} if end is None else {"finishedAt": ENDED} | end
    labels = {"batch.kubernetes.io/job-completion-index": str(number), "job-name": "pretrain"}
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    status = {
        "phase": "Failed" if done["exitCode"] else "Succeeded",
        "startTime": BEGAN,
        "containerStatuses": [{"name": "c", "restartCount": 0, "state": {"terminated": done}}],
    }
    return {
        "metadata": {"name": f"pretrain-{number}", "labels": labels},
        "spec": {"nodeName": f"gpu-{number}", "containers": [{"resources": resources, "env": [{"value": "s3c"}]}]},
        "status": status | more,
    }


def said(*pods: dict[str, Any]) -> Record:
    return parse(NAME, "Job", pods)


def ends(found: Record) -> list[tuple[str, str, str]]:
    return [(each.code, each.node, each.message) for each in found.events]


@given(st.lists(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), json, max_size=3), max_size=4))
def test_anything_that_an_api_server_may_say_is_read_or_refused(pods: list[dict[str, Any]]) -> None:
    try:
        found = parse(NAME, "Job", pods)
    except EvidenceError:
        return
    assert found.job.nodes


@given(st.permutations(range(8)), st.integers(0, 8))
def test_ranks_follow_the_numbers_of_pods_whatever_their_order(order: list[int], gpus: int) -> None:
    """As many to a pod as it has GPUs, one where it has none."""
    found = said(*(pod(number, gpus=gpus) for number in order)).job
    each = max(1, gpus)
    assert found.ranks == {rank: f"gpu-{rank // each}" for rank in range(8 * each)}
    assert found.gpus == 8 * gpus


def test_a_job_that_ended_well_is_told_without_ends() -> None:
    found = said(pod(0), pod(1))
    job = found.job
    assert (job.id, job.scheduler, job.name, job.owner, job.state) == (
        "team-a/pretrain", "kubernetes", "pretrain", "team-a", "Succeeded",
    )  # fmt: skip
    assert (job.nodes, job.begun, job.ended, job.exit_code) == (("gpu-0", "gpu-1"), AT, AT + 3600, "")
    assert (found.events, found.notes) == (
        (),
        ("Ranks are counted over the pods in the order of their numbers, one a GPU.",),
    )


def test_the_first_container_that_failed_gives_the_jobs_exit_code() -> None:
    """Nothing that a tenant wrote is in it: neither a container's message nor its environment."""
    late = pod(0, end={"exitCode": 1, "reason": "Error", "message": "s3c"})
    early = pod(1, end={"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-29T21:59:00Z"})
    found = said(late, early)
    assert (found.job.state, found.job.exit_code, found.job.ended) == ("Failed", "137", AT + 3600)
    assert ends(found) == [
        (
            "job.out_of_memory",
            "gpu-1",
            f"pod pretrain-1 {OOM}: exit code 137, which tells of signal 9 (SIGKILL)",
        ),
        ("job.failed", "gpu-0", "pod pretrain-0 failed: exit code 1"),
    ]
    assert [(each.at, each.role, each.component) for each in found.events] == [
        (AT + 3540, Role.CAUSE, "pod pretrain-1"),
        (AT + 3600, Role.SYMPTOM, "pod pretrain-0"),
    ]
    assert "s3c" not in repr(found)


def test_a_container_that_was_started_again_tells_of_its_end_before() -> None:
    before = {"terminated": {"exitCode": 0, "signal": 11, "reason": "Error", "finishedAt": BEGAN}}
    status = {"restartCount": 3, "state": {"running": {}}, "lastState": before}
    runs = pod(0, phase="Running", containerStatuses=[status])
    assert ends(said(runs)) == []
    before["terminated"]["exitCode"] = 139
    found = said(runs)
    assert (found.job.restarts, found.job.ended, found.job.state) == (3, None, "Running")
    assert ends(found) == [("job.failed", "gpu-0", "pod pretrain-0 failed: signal 11 (SIGSEGV)")]


@pytest.mark.parametrize(("reason", "code"), [
    ("Evicted", "job.evicted"), ("NodeLost", "job.node_failed"), ("DeadlineExceeded", "job.out_of_time"),
    ("Preempting", "job.preempted"), ("NodeShutdown", "job.evicted"),
])  # fmt: skip
def test_a_pod_that_was_ended_as_a_whole_says_why(reason: str, code: str) -> None:
    found = said(pod(0, phase="Failed", reason=reason, containerStatuses=[]), pod(1))
    assert [(each.code, each.at) for each in found.events] == [(code, None)]
    assert found.job.failed_node == ("gpu-0" if code == "job.node_failed" else "")
    assert found.job.ended == AT + 3600


@pytest.mark.parametrize(("reason", "code"), [
    ("DeletionByPodGC", "job.node_failed"), ("PreemptionByScheduler", "job.preempted"),
    ("DeletionByTaintManager", "job.evicted"), ("EvictionByEvictionAPI", "job.evicted"),
])  # fmt: skip
def test_a_disruption_is_told_with_its_time(reason: str, code: str) -> None:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "lastTransitionTime": ENDED}
    hit = pod(0, end={"exitCode": 143, "reason": "Error"}, conditions=[{"type": "Ready"}, condition])
    found = said(hit)
    assert [(each.code, each.at) for each in found.events] == [("job.failed", AT + 3600), (code, AT + 3600)]
    gone = pod(0, phase="Failed", containerStatuses=[], conditions=[condition])
    assert said(gone).job.ended == AT + 3600
    condition["status"] = "False"
    assert [each.code for each in said(hit).events] == ["job.failed"]


def test_one_reason_is_told_once() -> None:
    hit = pod(0, end={"exitCode": 137, "reason": "OOMKilled"}, reason="OOMKilled")
    assert [each.code for each in said(hit).events] == ["job.out_of_memory"]


def test_a_master_comes_first_and_a_launcher_has_no_rank() -> None:
    """As the operators of PyTorchJob and MPIJob label them."""

    def of(role: str, number: str, name: str, gpus: int) -> dict[str, Any]:
        made = pod(0, gpus=gpus)
        key = "training.kubeflow.org/replica-type" if role == "master" else "training.kubeflow.org/job-role"
        made["metadata"] = {"name": name, "labels": {key: role, "training.kubeflow.org/replica-index": number}}
        made["spec"]["nodeName"] = name
        return made

    found = said(of("worker", "0", "w0", 2), of("launcher", "0", "l0", 0), of("master", "0", "m0", 1))
    assert found.job.ranks == {0: "m0", 1: "w0", 2: "w0"}
    assert found.job.nodes == ("l0", "m0", "w0")


def test_ranks_that_nobody_tells_are_not_made_up() -> None:
    twice = said(pod(0), pod(0))
    bare = pod(1)
    bare["metadata"]["labels"] = {}
    for found in (twice, said(pod(0), bare)):
        assert found.job.ranks == {}
        assert found.notes == ("Kubernetes does not report which rank is on which node; the job's output may.",)
    noted = pod(1)
    noted["metadata"] = {"name": "x", "annotations": {"batch.kubernetes.io/job-completion-index": "1"}}
    assert said(pod(0, gpus=1), noted | {"spec": pod(1, gpus=1)["spec"]}).job.ranks == {0: "gpu-0", 1: "gpu-1"}


def test_pods_without_a_node_are_counted() -> None:
    waits = pod(1, phase="Pending", startTime=None, containerStatuses=[])
    waits["spec"] = {"containers": []}
    found = said(pod(0), waits)
    assert (found.job.nodes, found.job.ended, found.job.state) == (("gpu-0",), None, "Running")
    assert found.notes[-1] == "1 of its 2 pods were given no node."
    with pytest.raises(EvidenceError, match="Job team-a/pretrain has 1 pods, and none of them was given a node yet"):
        said(waits)
    with pytest.raises(EvidenceError, match="none of them has begun"):
        said(pod(0, startTime=None))


def test_more_pods_than_a_job_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_job, "MOST_PODS", 1)
    with pytest.raises(EvidenceError, match="more than 1 pods"):
        said(pod(0), pod(1))


@pytest.mark.parametrize("text", ["", "x", "/x", "a/", "a/b/c", "A/b", "a/b c", "a/b,c=d", f"a/{'x' * 64}", "-a/b"])
def test_what_is_no_name_of_a_job_is_not_asked_for(text: str) -> None:
    with pytest.raises(EvidenceError, match="expected NAMESPACE/NAME, like team-a/pretrain"):
        asked(text)
    assert asked("team-a/pre.train-1") == ("team-a", "pre.train-1")
