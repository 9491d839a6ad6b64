"""One task asks every RoCE interface of a node for its settings and counters, in one round trip."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from tests.playing import Ansible, inventory, spool

Tool = Callable[[str, str], str]
PORTS = ("eth1", "eth2")
PROFILE: dict[str, Any] = {
    "roce": {
        "interfaces": {"mlx5_2": "eth1", "mlx5_3": "eth2"},
        "mtu": 9000,
        "pfc": [3],
        "trust": "dscp",
        "dscp": {26: 3},
        "ecn": [3],
        "fec": ["RS"],
    }
}


@pytest.fixture
def node(tmp_path: Path, tool: Tool, evidence: Path) -> Path:
    """A node with two RoCE ports: its files and its tools, which note whom they were asked about."""
    root = tmp_path / "root"
    files = json.loads((evidence / "roce" / "files.json").read_text())
    for name in PORTS:
        told = {"operstate": "up", "carrier": "1", "speed": "400000", "mtu": "9000"}
        files |= {f"/sys/class/net/{name}/{key}": value for key, value in told.items()}
    for path, text in files.items():
        (file := root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    asked = f'echo "$(basename "$0") $@" >> {tmp_path}/asked'
    tool("mlnx_qos", f"{asked}\ncat {evidence}/mlnx_qos/dscp.txt")
    tool("dcb", f'{asked}\ncase "$2" in pfc) cat {evidence}/dcb/pfc.json;; *) cat {evidence}/dcb/app.json;; esac')
    ethtool = (
        f'case "$1" in -S) cat {evidence}/ethtool/statistics_whole.txt;; *) cat {evidence}/ethtool/fec.txt;; esac'
    )
    tool("ethtool", f"{asked}\n{ethtool}")
    return tmp_path


def judged(folder: Path, profile: dict[str, Any]) -> tuple[Judged, dict[str, str]]:
    """Ask the node; return the result and the texts that it was drawn from, by read."""
    ansible = Ansible(folder / "home", {"FLEET_SPOOL": str(folder / "spool.jsonl")})
    nodes = inventory(folder / "inventory.yml", {"gpu-01": {"fleet_profile": profile}})
    play = {
        "name": "RoCE ports are read",
        "hosts": "nodes",
        "gather_facts": False,
        "environment": {"PATH": f"{folder}:/usr/bin:/bin", "FLEET_ROOT": str(folder / "root")},
        "tasks": [{"name": "RoCE works", "fleet_check": {"checks": ["roce_ports"]}}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    answer = ansible("ansible-playbook", "-i", nodes, folder / "play.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = spool(folder / "spool.jsonl")
    (result,) = (line for line in lines if isinstance(line, Judged))
    return result, {line.read: line.text for line in lines if isinstance(line, Evidence)}


def test_every_interface_is_asked_and_only_what_is_read_comes_back(node: Path) -> None:
    line, texts = judged(node, PROFILE)
    assert line.result.verdict is Verdict.PASS, line.result.message
    assert sorted((node / "asked").read_text().splitlines()) == sorted(
        f"{command} {name}"
        for name in PORTS
        for command in (
            "mlnx_qos -i",
            "dcb -j pfc show dev",
            "dcb -j app show dev",
            "ethtool --show-fec",
            "ethtool -S",
        )
    )
    kept = json.loads(texts["ethtool_statistics"])["eth2"]["text"]
    assert "rx_pcs_symbol_err_phy: 3\n" in kept
    assert "rx0_packets" not in kept


def test_a_port_that_is_set_otherwise_is_watched(node: Path, evidence: Path) -> None:
    """One of two ports, by both of its tools."""
    lossy = f'cat {evidence}/mlnx_qos/dscp.txt | sed "/enabled/s/1/0/"'
    (node / "mlnx_qos").write_text(f'#!/bin/sh\n[ "$2" = eth1 ] && {lossy} || cat {evidence}/mlnx_qos/dscp.txt\n')
    off = f"sed s/true/false/ {evidence}/dcb/pfc.json"
    (node / "dcb").write_text(f'#!/bin/sh\n[ "$5" = eth1 ] && {off} || cat {evidence}/dcb/pfc.json\n')
    line, _ = judged(node, PROFILE)
    assert line.result.verdict is Verdict.FAIL
    (finding,) = line.result.findings
    assert (finding.code, finding.remedy) == ("roce.pfc", Remedy.WATCH)
    assert finding.message.startswith("PFC is on for priorities none at eth1, expected 3")


def test_without_the_section_nobody_is_asked(node: Path) -> None:
    line, _ = judged(node, {"hca_interfaces": {"mlx5_2": "eth1"}})
    assert line.result.verdict is Verdict.SKIPPED
    assert not (node / "asked").exists()
