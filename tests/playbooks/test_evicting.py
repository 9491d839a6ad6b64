"""Before a node is reset, flashed or booted, Kubernetes ends what is left there: real plays, answers made by hand."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.adapters.schedulers.test_kubernetes_answers import NODE, Server, kubeconfig
from tests.playing import PROJECT, Ansible, inventory

GPUS = {"containers": [{"name": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
PODS = [
    {"metadata": {"namespace": "ml", "name": "train"}, "spec": GPUS, "status": {"phase": "Running"}},
    {"metadata": {"namespace": "web", "name": "shop"}, "spec": {"containers": [{"name": "x"}]},
     "status": {"phase": "Running"}},
]  # fmt: skip
VERSIONS = {"resources": [{"name": "pods/eviction", "group": "policy", "version": "v1", "kind": "Eviction"}]}


@pytest.fixture
def server() -> Iterator[Server]:
    """An API server with a node on which two pods run, one of them with GPUs; both evictions are taken."""
    with Server() as found:
        found.says = {
            ("GET", "/api/v1/nodes/gpu-1"): (200, json.dumps(NODE).encode()),
            ("GET", "/api/v1/pods"): (200, json.dumps({"items": PODS}).encode()),
            ("GET", "/api/v1/"): (200, json.dumps(VERSIONS).encode()),
            ("POST", "/api/v1/namespaces/ml/pods/train/eviction"): (201, b"{}"),
            ("POST", "/api/v1/namespaces/web/pods/shop/eviction"): (201, b"{}"),
        }
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


def evicted(server: Server, folder: Path, stage: str, *, asked: bool) -> set[str]:
    """Play what a stage does first to a node that was proven, by the runner or by hand; return the pods it ends."""
    [play] = yaml.safe_load((PROJECT / "playbooks" / f"{stage}.yml").read_text())
    first: dict[str, Any] = next(each for each in play["roles"] if each["role"] != "proof")
    assert first["role"] == "evict"
    mine = {**play, "roles": [{**first, "vars": {**first.get("vars", {}), "evict_seconds": 0}}]}
    mine.pop("tasks", None)
    book = folder / "book.yml"
    book.write_text(yaml.safe_dump([{**mine, "vars": {}}]))
    settings = folder / "fleet.toml"
    config = kubeconfig(folder, server.server_address[1])
    settings.write_text(f'scheduler = "kubernetes"\nkubeconfig = "{config}"\n')
    told = {"fleet_runs": {"gpu-1": {"run": 1, "fence": 1}}} if asked else {}
    ansible = Ansible(folder / "home", {"FLEET_CONFIG": str(settings)})
    hosts = inventory(folder / "hosts.yml", {"gpu-1": {}})
    said = ansible("ansible-playbook", "-i", hosts, str(book), "-e", json.dumps(told))
    assert said.returncode == 0, said.stdout + said.stderr
    posts = [path for method, path, _ in server.asked if method == "POST"]
    return {path.split("/")[6] for path in posts}


@pytest.mark.parametrize(
    ("stage", "asked", "ended"),
    [
        ("reboot", True, {"train", "shop"}),
        ("reboot", False, {"train", "shop"}),
        ("firmware", True, {"train", "shop"}),
        ("firmware", False, set[str]()),
        ("reset", True, {"train"}),
        ("reset", False, set[str]()),
    ],
)
def test_what_is_left_on_a_node_is_ended_in_its_schedulers_own_way(
    server: Server, tmp_path: Path, stage: str, asked: bool, ended: set[str]
) -> None:
    """Of a reset only what may hold a GPU; by hand nobody's work, where it may be that nothing is to be done."""
    assert evicted(server, tmp_path, stage, asked=asked) == ended
