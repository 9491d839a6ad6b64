"""A real Kubernetes API server, from Debian's source, with its etcd; see scripts/kube-apiserver."""

import base64
import contextlib
import json
import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.lab.ports import choose
from tests.waiting import until

BUILT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fleet-runner" / "kube-apiserver-2"
ADMIN, DRAINER = "admins-token", "drainers-token"
RBAC = Path(__file__).resolve().parents[1] / "docs" / "examples" / "kubernetes-rbac.yml"
REMEDIATIONS = RBAC.with_name("kubernetes-remediations.yml")

needed = pytest.mark.skipif(
    not (BUILT / "kube-apiserver").exists(), reason="needs what scripts/kube-apiserver builds, in some minutes"
)


class ApiServer:
    """The API server alone: no controllers, no kubelets; what they would write, a test writes."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.url = folder, f"https://127.0.0.1:{port}"
        self.ca = folder / "certs" / "apiserver.crt"
        self.command: list[Any] = []
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers; what it knows is etcd's."""
        with (self.folder / "kube-apiserver.out").open("a") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while True:
            with contextlib.suppress(OSError, ValueError):
                self.ask("GET", "/api/v1/namespaces/default")
                return
            time.sleep(0.1)

    def kill(self) -> None:
        """End it at once, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Return what it answers to an administrator; HTTPError where it says no."""
        context = ssl.create_default_context(cafile=str(self.ca))
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": kind}
        data = json.dumps(body).encode() if body is not None else None
        asked = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310  https, 127.0.0.1
        with urllib.request.urlopen(asked, context=context, timeout=60) as answer:  # noqa: S310  likewise
            return json.loads(answer.read())

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Merge something into an object, as kubectl would."""
        return self.ask("PATCH", f"{path}?fieldManager=kubectl", body, "application/merge-patch+json")

    def kubeconfig(self, token: str) -> Path:
        """Write the kubeconfig of whoever has a token."""
        ca = base64.b64encode(self.ca.read_bytes()).decode()
        named = {
            "clusters": {"cluster": {"server": self.url, "certificate-authority-data": ca}},
            "users": {"user": {"token": token}},
            "contexts": {"context": {"cluster": "x", "user": "x"}},
        }
        whole = {key: [{"name": "x", **value}] for key, value in named.items()}
        file = self.folder / f"kubeconfig.{token}"
        file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", **whole}))
        file.chmod(0o600)
        return file

    def grant(self, manifest: Path = RBAC) -> None:
        """Give the runner's user the rights of a manifest's roles, and no others."""
        user = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "fleet-runner"}
        for each in yaml.safe_load_all(manifest.read_text(encoding="utf-8")):
            kind, where = each["kind"], each["metadata"].get("namespace")
            if "Role" not in kind:
                continue
            whole = each | {"subjects": [user]} if kind.endswith("Binding") else each
            scope = f"/namespaces/{where}" if where else ""
            self.ask("POST", f"/apis/rbac.authorization.k8s.io/v1{scope}/{kind.lower()}s", whole)

    def extend(self) -> None:
        """Have it know NodeRemediations, and give the runner's user its rights to them."""
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for each in yaml.safe_load_all(REMEDIATIONS.read_text(encoding="utf-8")):
            if "Role" not in each["kind"]:
                self.ask("POST", "/api/v1/namespaces" if each["kind"] == "Namespace" else crds, each)
        self.grant(REMEDIATIONS)
        until(lambda: self.serves("noderemediations") and self.serves("noderemediationtemplates"))

    def serves(self, plural: str, group: str = "fleet-runner.dev/v1alpha1") -> bool:
        """Tell if it serves a custom resource."""
        with contextlib.suppress(urllib.error.HTTPError):
            self.ask("GET", f"/apis/{group}/namespaces/fleet-runner/{plural}")
            return True
        return False

    def node(self, name: str) -> Any:
        """Return a node."""
        return self.ask("GET", f"/api/v1/nodes/{name}")

    def add_node(self, name: str) -> None:
        """Add a node that is ready for work; with a label, or the API server keeps no account of who sets what."""
        labelled = {"name": name, "labels": {"kubernetes.io/hostname": name}}
        self.ask("POST", "/api/v1/nodes?fieldManager=kubelet", {"metadata": labelled})
        self.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        self.patch(f"/api/v1/nodes/{name}/status", {"status": ready})

    def add_pod(self, name: str, node: str, *, gpus: int = 0, **meta: Any) -> None:
        """Add a pod that runs on a node, with what is secret in its environment."""
        limits = {"nvidia.com/gpu": str(gpus), "cpu": "1"} if gpus else {}
        container = {
            "name": "c",
            "image": "x",
            "resources": {"limits": limits},
            "env": [{"name": "K", "value": "s3c"}],
        }
        spec = {"nodeName": node, "containers": [container], "terminationGracePeriodSeconds": 0}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **meta}, "spec": spec}
        self.ask("POST", "/api/v1/namespaces/default/pods", body)
        self.set_phase(name, "Running")

    def set_phase(self, pod: str, phase: str) -> None:
        """Have a pod run, or end, as its kubelet would say."""
        conditions = [{"type": "Ready", "status": "True" if phase == "Running" else "False"}]
        status = {"status": {"phase": phase, "conditions": conditions}}
        self.patch(f"/api/v1/namespaces/default/pods/{pod}/status", status)

    def pods(self) -> list[str]:
        """Return the names of the pods that are there."""
        return sorted(
            each["metadata"]["name"] for each in self.ask("GET", "/api/v1/namespaces/default/pods")["items"]
        )


@contextlib.contextmanager
def running(folder: Path) -> Iterator[ApiServer]:
    """Start etcd and the API server, and yield it when it is ready."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["openssl", "genrsa", "-out", folder / "sa.key", "2048"], check=True, capture_output=True)
    (folder / "tokens.csv").write_text(f"{ADMIN},admin,1,system:masters\n{DRAINER},fleet-runner,2\n")
    ports = choose(3)
    etcd = [BUILT / "etcd", f"--data-dir={folder}/etcd", "--unsafe-no-fsync"]
    etcd += [f"--{which}-client-urls=http://127.0.0.1:{ports[0]}" for which in ("listen", "advertise")]
    etcd += [f"--listen-peer-urls=http://127.0.0.1:{ports[1]}"]
    server = [
        BUILT / "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{ports[0]}", f"--secure-port={ports[2]}",
        "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--cert-dir={folder}/certs",
        f"--service-account-key-file={folder}/sa.key", f"--service-account-signing-key-file={folder}/sa.key",
        "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC", f"--token-auth-file={folder}/tokens.csv", "--endpoint-reconciler-type=none",
        "--disable-admission-plugins=ServiceAccount",
    ]  # fmt: skip
    found = ApiServer(folder, ports[2])
    found.command = server
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((folder / "etcd.out").open("w"))
        process = subprocess.Popen(etcd, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.kill)
        stack.callback(found.kill)
        found.start()
        yield found
