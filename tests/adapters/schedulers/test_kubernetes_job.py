"""One job from Kubernetes: the official client over real HTTP on 127.0.0.1, and a real API server with our rights."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
import yaml

from fleet_runner.adapters.schedulers import jobs, kubernetes, kubernetes_job
from fleet_runner.core.base.errors import SchedulerError, SettingsError
from fleet_runner.settings import Settings
from tests import kube

RBAC = Path(__file__).resolve().parents[3] / "docs" / "examples" / "kubernetes-rbac.yml"
ENDED = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-29T22:00:00Z"}}


def pod(name: str, node: str, **labels: str) -> dict[str, Any]:
    """Return a pod that was killed for the memory that it used."""
    return {
        "metadata": {"name": name, "labels": {key.replace("__", "/"): value for key, value in labels.items()}},
        "spec": {"nodeName": node, "containers": [{"name": "c"}]},
        "status": {
            "phase": "Failed",
            "startTime": "2026-11-29T21:00:00Z",
            "containerStatuses": [{"name": "c", "restartCount": 0, "state": ENDED}],
        },
    }


class Server(ThreadingHTTPServer):
    """Has pods by namespace and label, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pods: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.asked: list[str] = []
        self.status = 200


class Handler(BaseHTTPRequestHandler):
    """One request; a page has two pods."""

    server: Server

    def do_GET(self) -> None:
        """Answer a list of pods."""
        url = urlparse(self.path)
        query = parse_qs(url.query)
        label = query["labelSelector"][0]
        self.server.asked.append(label)
        begin = int(query.get("continue", ["0"])[0])
        found = self.server.pods.get((url.path.split("/")[4], label), [])
        after = str(begin + 2) if len(found) > begin + 2 else ""
        text = json.dumps({"metadata": {"continue": after}, "items": found[begin : begin + 2]}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server without pods."""
    with Server() as found:
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def settings(server: Server, tmp_path: Path) -> Settings:
    """Settings that name the server as their scheduler."""
    named = {
        "clusters": {"cluster": {"server": f"http://127.0.0.1:{server.server_address[1]}"}},
        "users": {"user": {"token": "t"}},
        "contexts": {"context": {"cluster": "x", "user": "x"}},
    }
    whole = {key: [{"name": "x", **value}] for key, value in named.items()}
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", **whole}))
    file.chmod(0o600)
    return Settings(scheduler="kubernetes", kubeconfig=file)


def test_a_job_is_read_by_the_label_of_its_kind_page_by_page(server: Server, settings: Settings) -> None:
    """A JobSet's pods are a Job's as well: they are not asked for under both names."""
    key = "batch.kubernetes.io__job-completion-index"
    server.pods["team-a", "job-name=pretrain"] = [pod(f"p{at}", f"gpu-{at}", **{key: str(at)}) for at in range(5)]
    found = jobs.read(settings, "team-a/pretrain")
    assert found.job.nodes == tuple(f"gpu-{at}" for at in range(5))
    assert found.job.ranks == {at: f"gpu-{at}" for at in range(5)}
    assert {each.code for each in found.events} == {"job.out_of_memory"}
    assert server.asked[-3:] == ["job-name=pretrain"] * 3
    server.asked.clear()
    server.pods["team-a", "jobset.sigs.k8s.io/jobset-name=pretrain"] = [pod("s0", "gpu-9")]
    assert jobs.read(settings, "team-a/pretrain").job.nodes == ("gpu-9",)
    assert server.asked == ["jobset.sigs.k8s.io/jobset-name=pretrain"]


def test_a_job_that_kubernetes_does_not_know_is_told_in_words(server: Server, settings: Settings) -> None:
    for name, why in (
        ("team-b/pretrain", "has no pods of a job team-b/pretrain; were they deleted .*--node --from --to"),
        ("pretrain", "expected NAMESPACE/NAME"),
    ):
        with pytest.raises(SchedulerError, match=why):
            jobs.read(settings, name)
    server.pods["team-a", "job-name=x"] = [{"metadata": {"name": "x"}, "spec": {}, "status": {}}]
    with pytest.raises(SchedulerError, match="Job team-a/x has 1 pods, and none of them was given a node yet"):
        jobs.read(settings, "team-a/x")
    server.status = 403
    with pytest.raises(SchedulerError, match=r"refused the pods .*docs/schedulers\.md"):
        jobs.read(settings, "team-a/x")


def test_without_a_scheduler_nodes_and_times_are_to_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"scheduler is none, .* about job 4711; .*\(`--node --from --to`\)"):
        jobs.read(Settings(), "4711")
    with pytest.raises(SettingsError, match="kubeconfig is not set"):
        jobs.read(Settings(scheduler="kubernetes"), "a/b")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SchedulerError, match="sacct is not on this machine"):
        jobs.read(Settings(scheduler="slurm"), "4711")


@pytest.mark.nightly
@kube.needed
def test_the_rights_of_the_example_are_enough_to_read_a_job(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A real API server keeps what kubelets say of pods, and gives it to whoever may list them."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        found.add_node("gpu-1")
        labels = {"job-name": "pretrain", "batch.kubernetes.io/job-completion-index": "0"}
        found.add_pod("pretrain-0", "gpu-1", gpus=8, labels=labels)
        status = pod("", "")["status"]
        found.patch("/api/v1/namespaces/default/pods/pretrain-0/status", {"status": status})
        cluster = kubernetes.opened(found.kubeconfig(kube.DRAINER))
        record = kubernetes_job.read(cluster, "default/pretrain")
        assert (record.job.nodes, record.job.gpus, record.job.exit_code) == (("gpu-1",), 8, "137")
        assert [each.code for each in record.events] == ["job.out_of_memory"]
        with pytest.raises(SchedulerError, match="has no pods"):
            kubernetes_job.read(cluster, "default/other")
