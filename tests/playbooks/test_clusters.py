"""Nodes of several clusters in one play: each is drained at its own, and one of no known cluster at none."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue.scheduler import judge
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from tests.adapters.schedulers.test_kubernetes_answers import NODE, Server, kubeconfig
from tests.playing import Ansible, inventory

HOSTS = {
    "gpu-1": {"kubernetes_cluster": "east"},
    "gpu-2": {"kubernetes_cluster": "west", "scheduler_node": "gpu-1"},
    "gpu-3": {"kubernetes_cluster": "north", "scheduler_node": "gpu-1"},
    "gpu-4": {"scheduler_node": "gpu-1"},
    "gpu-5": {"kubernetes_cluster": "away", "scheduler_node": "gpu-1"},
}


@pytest.fixture
def servers() -> Iterator[dict[str, Server]]:
    """Two API servers, each with a node of the same name; that of west is drained by a person."""
    with ExitStack() as stack:
        found = {name: stack.enter_context(Server()) for name in ("east", "west")}
        for name, server in found.items():
            node = {**NODE, "spec": {"unschedulable": name == "west"}}
            server.says = {
                ("GET", "/api/v1/nodes/gpu-1"): (200, json.dumps(node).encode()),
                ("GET", "/api/v1/pods"): (200, b'{"items": []}'),
            }
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
        yield found


def test_each_node_is_read_of_its_own_cluster_and_one_of_no_known_cluster_of_none(
    servers: dict[str, Server], tmp_path: Path
) -> None:
    files = {}
    for name, port in {**{name: each.server_address[1] for name, each in servers.items()}, "away": 9}.items():
        (tmp_path / name).mkdir()
        files[name] = str(kubeconfig(tmp_path / name, port).relative_to(tmp_path))
    named = "".join(f'{name} = "{file}"\n' for name, file in files.items())
    (tmp_path / "fleet.toml").write_text(f'scheduler = "kubernetes"\n[kubernetes_clusters]\n{named}')
    book = tmp_path / "book.yml"
    read = {"fleet_scheduler": {"action": "read"}, "register": "found"}
    keep = {
        "copy": {"content": "{{ found.readings.scheduler_node }}", "dest": f"{tmp_path}/{{{{ inventory_hostname }}}}"}
    }
    book.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": [read, keep]}]))
    ansible = Ansible(tmp_path / "home", {"FLEET_CONFIG": str(tmp_path / "fleet.toml")})
    hosts = inventory(tmp_path / "hosts.yml", HOSTS)
    done = ansible("ansible-playbook", "-i", hosts, str(book))
    assert done.returncode == 0, done.stdout + done.stderr
    said = {name: judged((tmp_path / name).read_text()) for name in HOSTS}
    assert said["gpu-1"].startswith("cluster east: not ready, no work")
    assert said["gpu-2"].startswith("cluster west: ")
    assert "cordoned" in said["gpu-2"]
    assert said["gpu-3"] == "cluster north: kubernetes_cluster is 'north', expected away, east, west"
    assert said["gpu-4"] == "kubernetes_cluster is not set in its context, expected away, east, west"
    assert said["gpu-5"].startswith("cluster away: Kubernetes does not answer about node gpu-1")
    assert {name: len(each.asked) for name, each in servers.items()} == {"east": 2, "west": 2}


def judged(text: str) -> str:
    """Return what the check says of a reading, "UNKNOWN" where it can say nothing."""
    reading = Reading("scheduler_node", ReadEnd.OK, text)
    expected: Any = Expected(node="x", profile={})
    try:
        return judge({"scheduler_node": reading}, expected).message
    except EvidenceError as error:
        return str(error)
