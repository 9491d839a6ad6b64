"""The official client over real HTTP on 127.0.0.1, against answers that an API server ought not to give."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from fleet_runner.adapters import schedulers
from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.core.base.errors import SchedulerError, SettingsError
from fleet_runner.core.checks.parsers.kubernetes_node import TAINT
from fleet_runner.core.lifecycle.scheduler import By
from fleet_runner.settings import Settings

NODE = {"kind": "Node", "metadata": {"name": "gpu-1", "resourceVersion": "1"}, "spec": {}, "status": {}}
TOKEN = "a-token-of-the-tests"

Answer = tuple[int, bytes]


class Server(ThreadingHTTPServer):
    """Answers as `says` has it, by method and path; keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.says: dict[tuple[str, str], Answer] = {}
        self.asked: list[tuple[str, str, Any]] = []
        self.pause = 0.0


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path = self.path.partition("?")[0]
        self.server.asked.append((self.command, path, body))
        time.sleep(self.server.pause)
        status, text = self.server.says.get((self.command, path), (404, b"{}"))
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = do_POST = _answer  # noqa: N815  http.server looks them up by these names

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that knows one node, without pods."""
    with Server() as found:
        found.says = {
            ("GET", "/api/v1/nodes/gpu-1"): (200, json.dumps(NODE).encode()),
            ("GET", "/api/v1/pods"): (200, b'{"items": []}'),
        }
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def opened(server: Server, tmp_path: Path) -> Callable[[], kubernetes.Kubernetes]:
    """Open the cluster."""
    return lambda: kubernetes.opened(kubeconfig(tmp_path, server.server_address[1]))


def kubeconfig(folder: Path, port: int) -> Path:
    """Write the kubeconfig of a server without TLS."""
    named = {
        "clusters": {"cluster": {"server": f"http://127.0.0.1:{port}"}},
        "users": {"user": {"token": TOKEN}},
        "contexts": {"context": {"cluster": "x", "user": "x"}},
    }
    whole = {key: [{"name": "x", **value}] for key, value in named.items()}
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", **whole}))
    file.chmod(0o600)
    return file


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, b""), "is not JSON"),
        ((200, b"<html>proxy</html>"), "is not JSON"),
        ((200, b"[]"), "expected an object"),
        ((200, b'{"metadata": []}'), "expected node gpu-1"),
        ((200, b'{"metadata": "x"}'), "expected an object"),
        ((200, json.dumps(NODE).replace("gpu-1", "gpu-2").encode()), "expected node gpu-1"),
        ((401, b'{"message": "Unauthorized"}'), "HTTP 401, 'Unauthorized'; give the kubeconfig a valid credential"),
        ((403, b'{"message": "nodes is forbidden"}'), "docs/schedulers.md"),
        ((404, b"\xff\xfe"), "HTTP 404, no reason given; does Kubernetes know it"),
        ((418, b'{"message": 7}'), "look into the API server's log"),
        ((500, b"x" * 100_000), "HTTP 500, no reason given"),
        ((302, b""), "HTTP 302"),
    ],
)
def test_an_answer_that_is_none_is_one_sentence(
    server: Server, opened: Callable[[], kubernetes.Kubernetes], answer: Answer, why: str
) -> None:
    """Nothing is called idle by it, and nothing is written."""
    server.says["GET", "/api/v1/nodes/gpu-1"] = answer
    for ask in (lambda: opened().read("gpu-1"), lambda: opened().drain("gpu-1", "Xid 79", By.RUNNER)):
        with pytest.raises(SchedulerError) as error:
            ask()
        assert why in str(error.value)
        assert len(str(error.value)) < 500
        assert TOKEN not in str(error.value)
    assert {method for method, _, _ in server.asked} == {"GET"}


def test_an_api_server_that_is_silent_or_gone_is_told_in_time(
    server: Server, opened: Callable[[], kubernetes.Kubernetes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it for ever, nor tries it three times."""
    monkeypatch.setattr(kubernetes, "PATIENCE", (0.5, 0.5))
    server.pause = 30.0
    began = time.monotonic()
    with pytest.raises(SchedulerError, match=r"does not answer about node gpu-1: .*is the API server up\?"):
        opened().read("gpu-1")
    assert time.monotonic() - began < server.pause
    assert len(server.asked) == 1
    with pytest.raises(SchedulerError, match="does not answer"):
        kubernetes.opened(kubeconfig(tmp_path, 1)).read("gpu-1")


def test_an_answer_without_end_is_cut(
    server: Server, opened: Callable[[], kubernetes.Kubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node has some kilobytes."""
    monkeypatch.setattr(kubernetes, "BODY_BYTES", 1000)
    server.says["GET", "/api/v1/nodes/gpu-1"] = (200, b'{"x": "' + b"y" * 2000 + b'"}')
    with pytest.raises(SchedulerError, match="without end"):
        opened().read("gpu-1")


def test_pods_that_never_end_are_too_many(server: Server, opened: Callable[[], kubernetes.Kubernetes]) -> None:
    """A server that says "continue" for ever is asked until there are more than any node has."""
    page = {"metadata": {"continue": "x"}, "items": [{"metadata": {"name": "p"}}] * 500}
    server.says["GET", "/api/v1/pods"] = (200, json.dumps(page).encode())
    with pytest.raises(SchedulerError, match="at most 2000"):
        opened().read("gpu-1")
    assert len(server.asked) == 6
    server.says["GET", "/api/v1/pods"] = (200, b'{"metadata": ["x"], "items": []}')
    with pytest.raises(SchedulerError, match="expected a list of objects"):
        opened().read("gpu-1")


def test_a_node_that_is_always_overtaken_is_left_for_the_next_look(
    server: Server, opened: Callable[[], kubernetes.Kubernetes]
) -> None:
    """Each write carries the version that was read."""
    server.says["PATCH", "/api/v1/nodes/gpu-1"] = (409, b'{"message": "the object has been modified"}')
    with pytest.raises(SchedulerError, match="written by others all the time"):
        opened().drain("gpu-1", "Xid 79", By.RUNNER)
    writes = [body for method, _, body in server.asked if method == "PATCH"]
    assert len(writes) == kubernetes.TRIES
    assert {body["metadata"]["resourceVersion"] for body in writes} == {"1"}
    assert writes[0]["spec"] == {"unschedulable": True, "taints": [{"key": TAINT, "effect": "NoSchedule"}]}


def test_a_setting_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    """No kubeconfig, none that can be read, and none that names a cluster."""
    with pytest.raises(SettingsError, match="kubeconfig is not set"):
        schedulers.opened(Settings(scheduler="kubernetes"))
    for text in (None, "", "{", "a: b"):
        file = tmp_path / "kubeconfig"
        if text is not None:
            file.write_text(text)
            file.chmod(0o600)
        with pytest.raises(SettingsError, match="cannot be used"):
            schedulers.opened(Settings(scheduler="kubernetes", kubeconfig=file))
    file.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        schedulers.opened(Settings(scheduler="kubernetes", kubeconfig=file))
    assert schedulers.opened(Settings()) is None


def test_without_the_extra_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet without Kubernetes has no client."""
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(SettingsError, match=r"pip install 'fleet-runner\[kubernetes\]'"):
        kubernetes.opened(tmp_path / "kubeconfig")


REFUSALS: dict[str, Answer] = {
    "two budgets": (500, b'{"message": "This pod has more than one PodDisruptionBudget"}'),
    "a webhook": (403, b'{"message": "admission webhook \\"keep\\" denied the request"}'),
    "no right": (403, b'{"message": "cannot create resource \\"pods/eviction\\""}'),
    "nonsense": (200, b"<html>"),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_pod_whose_eviction_is_refused_is_named_and_keeps_neither_the_drain_nor_another_pod(
    server: Server, opened: Callable[[], kubernetes.Kubernetes], refusal: Answer
) -> None:
    """What is left on the node is read after it, as after any drain; an eviction does not wait for it."""
    label = {"fleet-runner.dev/interruption": "at-once"}
    pods = [{"metadata": {"name": name, "namespace": "ml", "labels": label}} for name in ("held", "free", "gone")]
    server.says |= {
        ("GET", "/api/v1/pods"): (200, json.dumps({"items": pods}).encode()),
        ("GET", "/api/v1/"): (200, b'{"resources": []}'),
        ("PATCH", "/api/v1/nodes/gpu-1"): (200, b"{}"),
        ("PATCH", "/api/v1/nodes/gpu-1/status"): (200, b"{}"),
        ("POST", "/api/v1/namespaces/ml/pods/held/eviction"): refusal,
        ("POST", "/api/v1/namespaces/ml/pods/free/eviction"): (201, b"{}"),
    }
    did = opened().drain("gpu-1", "Xid 79", By.RUNNER)
    assert did.changed
    assert "; 2 pods that may be interrupted are to end; kept: ml/held: Kubernetes" in did.told
    posted = [body for method, _, body in server.asked if method == "POST"]
    assert [body["deleteOptions"]["gracePeriodSeconds"] for body in posted] == [1, 1, 1]
    server.says["GET", "/api/v1/pods"] = (200, json.dumps({"items": pods[:1]}).encode())
    assert "kept: ml/held: Kubernetes" in opened().evict("gpu-1", 3600.0).told


def test_pods_that_cannot_be_asked_for_leave_a_drained_node_drained(
    server: Server, opened: Callable[[], kubernetes.Kubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API server fails in between, or takes too long for all of them: the next look asks the rest."""
    label = {"fleet-runner.dev/interruption": "graceful"}
    pods = {"items": [{"metadata": {"name": "slow", "namespace": "ml", "labels": label}}]}
    server.says |= {
        ("GET", "/api/v1/pods"): (200, json.dumps(pods).encode()),
        ("PATCH", "/api/v1/nodes/gpu-1"): (200, b"{}"),
        ("PATCH", "/api/v1/nodes/gpu-1/status"): (200, b"{}"),
    }
    did = opened().drain("gpu-1", "Xid 79", By.RUNNER)
    assert did.changed
    assert "; no pod was asked to end: Kubernetes refused its resources: HTTP 404" in did.told
    server.says["GET", "/api/v1/"] = (200, b'{"resources": []}')
    monkeypatch.setattr(kubernetes, "ROUND", 0.0)
    assert f"; kept: ml/slow: {kubernetes.LATER}" in opened().drain("gpu-1", "Xid 79", By.RUNNER).told


@pytest.mark.parametrize(
    "case",
    [
        ("True", 900, {}, 480.0),
        ("True", 2_592_000, {}, 480.0),
        ("True", 200, {}, 200.0),
        ("True", None, {}, 120.0),
        ("Unknown", 900, {}, 120.0),
        ("True", 900, {"fleet-runner.dev/interruption": "at-once"}, 120.0),
    ],
)
def test_an_eviction_waits_for_as_long_as_a_pod_may_take_to_end(
    server: Server,
    opened: Callable[[], kubernetes.Kubernetes],
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, int | None, dict[str, str], float],
) -> None:
    """A job writes its checkpoint then; where no kubelet tells it, or it wants no time, it is not waited for."""
    ready, grace, labels, waited = case
    meta = {"name": "train", "namespace": "ml", "labels": labels}
    pods = [{"metadata": meta, "spec": {"terminationGracePeriodSeconds": grace}}]
    node = NODE | {"status": {"conditions": [{"type": "Ready", "status": ready}]}}
    server.says |= {
        ("GET", "/api/v1/nodes/gpu-1"): (200, json.dumps(node).encode()),
        ("GET", "/api/v1/pods"): (200, json.dumps({"items": pods}).encode()),
        ("GET", "/api/v1/"): (200, b'{"resources": []}'),
        ("POST", "/api/v1/namespaces/ml/pods/train/eviction"): (201, b"{}"),
    }
    slept: list[float] = []
    moved = SimpleNamespace(monotonic=lambda: sum(slept), sleep=lambda seconds: slept.append(seconds * 10))
    monkeypatch.setattr(kubernetes, "time", moved)
    told = opened().evict("gpu-1", 120.0).told
    assert told == "1 pods were to end; not ended yet: ml/train"
    assert sum(slept) == waited
    pods[0]["metadata"]["deletionTimestamp"] = "2026-12-01T00:00:00Z"  # the drain has asked it to end
    slept.clear()
    server.says["GET", "/api/v1/pods"] = (200, json.dumps({"items": pods}).encode())
    assert opened().evict("gpu-1", 120.0).told == told
    assert sum(slept) == waited


BY_BUDGET = {"details": {"causes": [{"reason": "DisruptionBudget", "message": "web needs 2 pods"}]}}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (json.dumps(BY_BUDGET).encode(), "; kept by a disruption budget: ml/web"),
        (b"Too many requests, please try again later.", "; kept: ml/web: the API server has too much to do"),
        (b'{"details": []}', "; kept: ml/web: the API server has too much to do"),
        (b'{"details": {"causes": [3, {"reason": "x"}]}}', "; kept: ml/web: the API server has too much to do"),
        (b'{"details": {"causes": 3}}', "; kept: ml/web: the API server has too much to do"),
    ],
)
def test_a_busy_api_server_is_no_disruption_budget_and_is_asked_again_as_well(
    server: Server,
    opened: Callable[[], kubernetes.Kubernetes],
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    why: str,
) -> None:
    """Both answer 429: a budget by its cause, priority and fairness with a line of text."""
    pods = [{"metadata": {"name": "web", "namespace": "ml"}}]
    server.says |= {
        ("GET", "/api/v1/pods"): (200, json.dumps({"items": pods}).encode()),
        ("GET", "/api/v1/"): (200, b'{"resources": []}'),
        ("POST", "/api/v1/namespaces/ml/pods/web/eviction"): (429, body),
    }
    slept: list[float] = []
    moved = SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr(kubernetes, "time", moved)
    assert opened().evict("gpu-1", 6.0).told == f"1 pods were to end{why}"
    assert len([method for method, _, _ in server.asked if method == "POST"]) == 4
