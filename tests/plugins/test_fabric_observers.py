"""A fabric is read through the first node that can, and whatever happens each check gets exactly one result."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd, Progress
from tests.playing import PROJECT, Ansible, spool, unclean

CAPTURED = (PROJECT / "tests" / "evidence" / "ibnetdiscover" / "by_port.txt").read_text()
BY_PORT = "".join(line for line in CAPTURED.splitlines(keepends=True) if "rack:7" not in line)
"""The fabric below, without the adapter that is not designed."""

FABRIC = "infiniband.h"
NDR = "infiniband-ndr"
LINKS = [
    *([f"gpu-0{node}", f"ib{rail}", f"leaf-{rail + 1}", str(node), NDR, []] for node in (1, 2) for rail in (0, 1)),
    *([f"leaf-{leaf}", "33", "spine-1", str(leaf), NDR, []] for leaf in (1, 2)),
]
ROLES = {"gpu": "gpu-server", "leaf": "leaf", "spine": "spine"}
CHECKED = ("fabric_cabling", "rebooted")
PROFILE = {"hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"}}


@dataclass
class Site:
    """A fabric of two servers, each a folder of tools on this machine, and Ansible to play on it."""

    ansible: Ansible
    folder: Path
    nodes: dict[str, dict[str, Any]]
    observers: list[list[str]]

    def tool(self, node: str, body: str, name: str = "ibnetdiscover") -> None:
        """Have a node's tool do something else."""
        path = self.folder / node / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def play(self, **extra: Any) -> tuple[Result, ...]:
        """Play the fabric's stage and return the results under its name."""
        device = {"name": FABRIC, "switches": ["leaf-1", "leaf-2", "spine-1"]}
        fabric = {"fleet_device": device, "fleet_observers": self.observers}
        found = {
            "all": {"vars": {"fleet_fabric_file": str(self.folder / "fabric.json")}},
            "fabrics": {"hosts": {FABRIC: fabric}},
            "nodes": {"hosts": self.nodes},
        }
        (self.folder / "inventory.yml").write_text(yaml.safe_dump(json.loads(json.dumps(found))))
        self.spool.unlink(missing_ok=True)
        words = (
            "-i",
            self.folder / "inventory.yml",
            "-e",
            json.dumps({"fabric_checks": CHECKED[:1]} | extra),
            "--limit",
            FABRIC,
        )
        answer = self.ansible("ansible-playbook", *words, "playbooks/fabric.yml")
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert unclean(answer) == []
        assert "changed=0" in answer.stdout
        lines = spool(self.spool)
        assert {line.node for line in lines} == {FABRIC}
        [ended] = [line for line in lines if isinstance(line, Ended)]
        assert ended.end is PlayEnd.OK
        return tuple(line.result for line in lines if isinstance(line, Judged))

    @property
    def spool(self) -> Path:
        """What the play told."""
        return self.folder / "spool.jsonl"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The site as designed: either node can read it."""
    devices = {
        name: {"role": ROLES[name.partition("-")[0]], "device_type": name[:3]} for row in LINKS for name in row[:4:2]
    }
    (tmp_path / "fabric.json").write_text(json.dumps({"links": LINKS, "devices": devices}))
    here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "fleet_profile": PROFILE}
    nodes = {
        name: here | {"fleet_environment": {"PATH": f"{tmp_path / name}:/usr/bin:/bin"}}
        for name in ("gpu-01", "gpu-02")
    }
    ansible = Ansible(tmp_path / "home", {"FLEET_SPOOL": str(tmp_path / "spool.jsonl")})
    made = Site(ansible, tmp_path, nodes, [["gpu-01", "ib0"], ["gpu-02", "ib1"]])
    (tmp_path / "by_port.txt").write_text(BY_PORT)
    for name in nodes:
        made.tool(name, f"echo {name} $* >> {tmp_path}/asked; cat {tmp_path}/by_port.txt")
    return made


def off(site: Site, node: str) -> None:
    """Take a node from the network."""
    site.tool(node, "echo no route to host >&2; exit 255", "ssh")
    site.nodes[node] |= {"ansible_connection": "ssh", "ansible_ssh_executable": str(site.folder / node / "ssh")}


def asked(site: Site) -> list[str]:
    return (site.folder / "asked").read_text().splitlines()


def test_the_first_observer_reads_it_through_its_adapter_there_and_nobody_else_is_asked(site: Site) -> None:
    [result] = site.play()
    assert (result.check, result.verdict) == ("fabric_cabling", Verdict.PASS), result.message
    assert asked(site) == ["gpu-01 -p -C mlx5_0 -P 1"]
    lines = spool(site.spool)
    [evidence] = [line for line in lines if isinstance(line, Evidence)]
    assert (evidence.text, result.evidence) == (BY_PORT, (evidence.hash,))
    task = "fabric : Read the InfiniBand fabric and compare it with the design"
    assert any(isinstance(line, Progress) and line.task == task for line in lines)


def test_the_runners_choice_of_observers_goes_before_the_inventorys(site: Site) -> None:
    run = {"run": 1, "fence": 1, "since": 1.0, "attempt": 1, "observers": [["gpu-02", "ib1"]]}
    [result] = site.play(fleet_runs={FABRIC: run})
    assert result.verdict is Verdict.PASS
    assert asked(site) == ["gpu-02 -p -C mlx5_1 -P 1"]


def exits(site: Site, node: str) -> None:
    site.tool(node, "echo can not open the port >&2; exit 1")


def missing(site: Site, node: str) -> None:
    (site.folder / node / "ibnetdiscover").unlink()


@pytest.mark.parametrize("trouble", [off, exits, missing], ids=lambda trouble: trouble.__name__)
def test_one_that_cannot_read_it_is_no_news_and_the_next_is_asked(
    site: Site, trouble: Callable[[Site, str], None]
) -> None:
    trouble(site, "gpu-01")
    [result] = site.play()
    assert result.verdict is Verdict.PASS, result.message
    assert asked(site)[-1] == "gpu-02 -p -C mlx5_1 -P 1"


def test_if_nobody_can_it_is_unknown_with_each_ones_reason(site: Site) -> None:
    off(site, "gpu-01")
    exits(site, "gpu-02")
    [result] = site.play()
    assert result.verdict is Verdict.UNKNOWN
    first, second = result.message.split("; gpu-02: ibnetdiscover ")
    assert first.startswith("no observer could read the fabric: gpu-01: ibnetdiscover: ")
    assert "no route to host" in first
    assert second.startswith("exited with 1: can not open the port")


def test_a_fabric_without_any_observer_is_unknown(site: Site) -> None:
    site.observers = []
    [result] = site.play()
    assert (result.verdict, result.message) == (
        Verdict.UNKNOWN,
        "no node with a port in the fabric can be asked",
    )


def test_an_observer_that_the_inventory_does_not_know_is_passed_over(site: Site) -> None:
    site.tool("gone", "echo cannot resolve >&2; exit 255", "ssh")
    site.observers = [["gpu-99.invalid", "ib0"], ["gpu-02", "ib1"]]
    [result] = site.play(ansible_ssh_executable=str(site.folder / "gone" / "ssh"))
    assert result.verdict is Verdict.PASS, result.message


def test_an_answer_that_cannot_be_understood_is_unknown_and_no_second_one_is_wanted(site: Site) -> None:
    """The tool ended well: another node would print the same."""
    site.tool("gpu-01", "echo garbage")
    [result] = site.play()
    assert result.verdict is Verdict.UNKNOWN
    assert not (site.folder / "asked").exists()


def test_each_check_is_answered_by_the_first_that_can(site: Site) -> None:
    """The first one reads the links, and only what it leaves is asked of the next."""
    site.tool("gpu-01", "exit 1", "uptime")
    site.tool("gpu-02", "echo 2026-01-02 03:04:05", "uptime")
    results = site.play(fabric_checks=CHECKED)
    assert {result.check: result.verdict for result in results} == dict.fromkeys(CHECKED, Verdict.PASS)
    assert len(results) == len(CHECKED)
    assert [line.split()[0] for line in asked(site)] == ["gpu-01"]


def test_a_slip_in_a_device_types_profile_is_unknown_and_names_its_key(site: Site) -> None:
    site.nodes["gpu-01"]["fleet_profile"] = {"hca_interfaces": "wrong"}
    [result] = site.play()
    assert result.verdict is Verdict.UNKNOWN
    assert "fleet_profile.hca_interfaces: found 'wrong'" in result.message


def test_a_fault_is_one_finding_under_the_fabrics_name(site: Site) -> None:
    (site.folder / "by_port.txt").write_text(
        "".join(line for line in BY_PORT.splitlines(keepends=True) if "gpu-02 mlx5_0" not in line)
    )
    [result] = site.play()
    assert result.verdict is Verdict.FAIL
    [finding] = result.findings
    assert (finding.code, finding.nodes) == ("cabling.missing", ("gpu-02",))
