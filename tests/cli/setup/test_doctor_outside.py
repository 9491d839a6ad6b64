"""The doctor against what stands outside: a real Slurm, a Kubernetes API server, a Vault; each ok, and each wrong."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.cli.setup.doctor import machine
from fleet_runner.cli.setup.doctor.finding import Site
from fleet_runner.settings import Settings
from tests import kube
from tests import slurm as real
from tests.adapters import vault_server
from tests.adapters.schedulers.test_kubernetes_answers import NODE, TOKEN, Server, kubeconfig
from tests.commands import entered

NODES = ("gpu-01", "gpu-02")


class Fleet:
    """The example's fleet with settings of a test, and what the doctor says of it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._given = (monkeypatch, capsys)
        entered(*self._given, "init", str(root), "--example")
        self._settings = (root / "fleet.toml").read_text()

    def told(self, part: str, *words: str, **changed: Any) -> tuple[str, str]:
        """Return the grade of a part under changed settings, and all that is said of it."""
        lines = [f"{name} = {json.dumps(str(value))}" for name, value in changed.items()]
        (self.root / "fleet.toml").write_text("\n".join([*lines, self._settings]))
        said = entered(*self._given, "doctor", "--json", *words)
        found = [each for each in json.loads(said.out)["findings"] if each["part"] == part]
        assert said.code == ("wrong" in {each["grade"] for each in json.loads(said.out)["findings"]})
        return found[0]["grade"], f"{found[0]['found']} → {found[0]['todo']}"


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    """The example's fleet, which is the working directory, in a home of its own."""
    for name in [name for name in os.environ if name.startswith(("FLEET_", "SSH_", "SLURM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = Fleet(tmp_path / "fleet", monkeypatch, capsys)
    monkeypatch.chdir(found.root)
    return found


@real.needed
def test_a_slurm_answers_or_it_is_said_what_keeps_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with real.running(tmp_path / "slurm", NODES) as cluster:
        monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
        assert fleet.told("scheduler", scheduler="slurm") == ("ok", "slurm answers for gpu-01 → ")
        cluster.stop("slurmctld")
        grade, said = fleet.told("scheduler", scheduler="slurm")
        assert grade == "wrong"
        assert "slurm" in said.casefold()
        assert "→ correct it, or scheduler in fleet.toml" in said


@real.needed
def test_a_slurm_that_knows_no_node_of_the_source_is_not_called_right(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with real.running(tmp_path / "slurm") as cluster:
        monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
        grade, said = fleet.told("scheduler", scheduler="slurm")
    assert grade == "wrong"
    assert "gpu-01" in said


def test_no_slurm_on_this_machine_is_named(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    grade, said = fleet.told("scheduler", scheduler="slurm")
    assert grade == "wrong"
    assert "scontrol" in said


@pytest.fixture
def vault() -> Iterator[vault_server.Vault]:
    """A Vault with one secret."""
    with vault_server.vaulted() as found:
        yield found


def test_a_vault_answers_or_it_is_said_what_keeps_it(fleet: Fleet, vault: vault_server.Vault) -> None:
    """The token is never shown, nor what it opens."""
    token = fleet.root / "vault.token"
    token.write_text(vault_server.TOKEN)
    token.chmod(0o600)
    named = {"bmc_vault": f"{vault.url}/v1/secret/data/bmc", "bmc_vault_token_file": "vault.token"}
    assert fleet.told("bmc", **named)[0] == "ok"
    token.write_text("hvs.of-somebody-else")
    grade, said = fleet.told("bmc", **named)
    assert (grade, "403" in said, "somebody-else" in said) == ("wrong", True, False)
    token.write_text(vault_server.TOKEN)
    grade, said = fleet.told("bmc", **named | {"bmc_vault": f"{vault.url}/v1/secret/data/nothing"})
    assert (grade, "404" in said) == ("wrong", True)
    vault.sealed = True
    grade, said = fleet.told("bmc", **named)
    assert (grade, "503" in said) == ("wrong", True)
    token.chmod(0o644)
    grade, said = fleet.told("bmc", **named)
    assert (grade, "vault.token" in said, vault_server.TOKEN in said) == ("wrong", True, False)


@kube.needed
@pytest.mark.nightly
def test_a_kubernetes_answers_or_it_is_said_what_keeps_it(fleet: Fleet, tmp_path: Path) -> None:
    with kube.running(tmp_path / "kube") as server:
        server.add_node("gpu-01")
        config = server.kubeconfig(kube.ADMIN)
        named = {"scheduler": "kubernetes", "kubeconfig": config}
        assert fleet.told("scheduler", **named) == ("ok", "kubernetes answers for gpu-01 → ")
        refused = server.kubeconfig(kube.DRAINER)
        grade, said = fleet.told("scheduler", **named | {"kubeconfig": refused})
        assert (grade, "403" in said or "forbidden" in said.casefold()) == ("wrong", True)
    assert fleet.told("scheduler", **named)[0] == "wrong"


def test_what_a_kubernetes_answers_wrongly_is_said(fleet: Fleet, tmp_path: Path) -> None:
    """A stand-in for its API server, over HTTP: the node is known, refused, missing, and then nobody answers."""
    asked = ("GET", "/api/v1/nodes/gpu-01")
    node = {**NODE, "metadata": {"name": "gpu-01", "resourceVersion": "1"}}
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        named = {"scheduler": "kubernetes", "kubeconfig": kubeconfig(tmp_path, server.server_address[1])}
        server.says = {asked: (200, json.dumps(node).encode()), ("GET", "/api/v1/pods"): (200, b'{"items": []}')}
        assert fleet.told("scheduler", **named) == ("ok", "kubernetes answers for gpu-01 → ")
        server.says[asked] = (403, b'{"message": "nodes is forbidden"}')
        refused = fleet.told("scheduler", **named)
        server.says[asked] = (404, b'{"message": "nodes not found"}')
        missing = fleet.told("scheduler", **named)
        server.shutdown()
    gone = fleet.told("scheduler", **named)
    assert [grade for grade, _ in (refused, missing, gone)] == ["wrong"] * 3
    assert "403" in refused[1]
    assert "gpu-01" in missing[1]
    assert all("→ correct it, or scheduler in fleet.toml" in said for _, said in (refused, missing, gone))
    assert TOKEN not in f"{refused}{missing}{gone}"


def test_a_bmc_of_ipmi_needs_ipmitool_here(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    devices = next(path for path in (fleet.root / "site").rglob("devices.yml"))
    found = yaml.safe_load(devices.read_text())
    for device in found:
        if device.get("oob_ip"):
            device["local_context_data"] = {**device.get("local_context_data", {}), "fleet_bmc_protocol": "ipmi"}
    devices.write_text(yaml.safe_dump(found))
    grade, said = fleet.told("reach", "--reach")
    assert (grade, "needs the password: not tried" in said) == ("ok", True)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    grade, said = fleet.told("reach", "--reach")
    assert (grade, said.endswith("which is not installed → apt install ipmitool")) == ("wrong", True)


def test_each_cluster_is_asked_and_a_node_of_an_unknown_one_is_named(tmp_path: Path) -> None:
    """Two clusters: one answers for a node, the other one has no kubeconfig; another node names a third one."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        node = {**NODE, "metadata": {"name": "gpu-01", "resourceVersion": "1"}}
        server.says = {
            ("GET", "/api/v1/nodes/gpu-01"): (200, json.dumps(node).encode()),
            ("GET", "/api/v1/pods"): (200, b'{"items": []}'),
        }
        clusters = {"east": kubeconfig(tmp_path, server.server_address[1]), "west": tmp_path / "gone"}
        settings = Settings(scheduler="kubernetes", kubernetes_clusters=clusters)
        hosts = {
            "gpu-01": {"kubernetes_cluster": "east"},
            "gpu-02": {"kubernetes_cluster": "west"},
            "gpu-03": {"kubernetes_cluster": "north"},
            "gpu-04": {"kubernetes_cluster": "south"},
            "gpu-05": {"scheduler_node": ""},
        }
        found = list(machine.scheduler(Site(settings, hosts=hosts)))
        server.shutdown()
    assert [(each.grade.value, each.found) for each in found[:1]] == [
        ("ok", "kubernetes cluster east answers for gpu-01")
    ]
    assert found[1].found.startswith("cluster west: kubeconfig ")
    assert found[2].found == "gpu-03: kubernetes_cluster is 'north', expected east, west, and 1 more"
