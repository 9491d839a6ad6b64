"""verify and health_passive over real ssh, against sshd in network namespaces; the tools are the lab's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.spool import Ended, Line, PlayEnd
from fleet_runner.lab import faults
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot
from tests.playbooks import sshd
from tests.playing import Ansible, spool, unclean, verdicts

NAMES = ("gpu-01", "gpu-02")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sshd.Node, ...]]:
    """Two nodes on a network of their own."""
    if why := sshd.why_not():
        pytest.skip(why)
    with sshd.nodes(tmp_path_factory.mktemp("n"), len(NAMES)) as started:
        yield started


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, nodes: tuple[sshd.Node, ...]) -> Iterator[Lab]:
    """A lab whose source of truth says that its servers are those nodes."""
    made = up(tmp_path_factory.mktemp("l") / "lab", len(NAMES), boot_seconds=0.0)
    try:
        for name in NAMES:
            boot(made, name)
        site = made.site / "devices.yml"
        found: dict[str, Any] = yaml.safe_load(site.read_text())
        for device, node in zip((one for one in found["devices"] if one["name"] in NAMES), nodes, strict=True):
            device["primary_ip"] = f"{node.address}/30"
            context = device["config_context"]
            del context["ansible_ssh_executable"], context["ansible_ssh_transfer_method"]
            context |= {key: value for key, value in node.variables().items() if key != "ansible_host"}
        site.write_text(yaml.safe_dump(found))
        yield made
    finally:
        down(made)


@pytest.fixture
def ansible(lab: Lab, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ansible]:
    """Ansible with a short home, because a path to a socket has at most 108 characters."""
    spool_file = str(tmp_path / "spool.jsonl")
    found = Ansible(tmp_path_factory.mktemp("h"), {"FLEET_CONFIG": str(lab.settings), "FLEET_SPOOL": spool_file})
    yield found
    list(sshd.control_connections(found.home, found.environment()))


def play(ansible: Ansible, stage: str) -> tuple[str, tuple[Line, ...]]:
    answer = ansible("ansible-playbook", f"playbooks/{stage}.yml")
    assert unclean(answer) == []
    return answer.stdout, spool(Path(ansible.variables["FLEET_SPOOL"]))


@pytest.mark.parametrize("stage", ["verify", "health_passive"])
def test_a_stage_passes_over_ssh_and_keeps_its_connections(ansible: Ansible, stage: str) -> None:
    """One kept connection per node, so that the next play does not log in again."""
    said, lines = play(ansible, stage)
    assert said.count("changed=0") == len(NAMES)
    found = verdicts(lines)
    assert {node for node, _ in found} == set(NAMES)
    unlike = {check: verdict for (_, check), verdict in found.items() if verdict is not Verdict.PASS}
    assert unlike in ({}, {"memory_errors": Verdict.UNKNOWN}), "it reads the files of this machine"
    assert len(list(sshd.control_connections(ansible.home, ansible.environment()))) == len(NAMES)


@pytest.mark.nightly
def test_a_fault_and_a_hung_tool_on_one_node_say_nothing_about_the_other(ansible: Ansible, lab: Lab) -> None:
    faults.inject(lab, "missing_gpu", "gpu-01", {})
    faults.inject(lab, "tool_hang", "gpu-02", {"tool": "dmesg"})
    try:
        said, lines = play(ansible, "health_passive")
    finally:
        faults.fix(lab, "missing_gpu", "gpu-01")
        faults.fix(lab, "tool_hang", "gpu-02")
    found = verdicts(lines)
    assert (found["gpu-01", "parts_gpu"], found["gpu-01", "xid"]) == (Verdict.FAIL, Verdict.PASS)
    assert (found["gpu-02", "gpu_usage"], found["gpu-02", "xid"]) == (Verdict.PASS, Verdict.UNKNOWN)
    assert "no end within" in said


def test_a_node_that_loses_its_power_is_unreachable_and_the_other_one_is_not(
    ansible: Ansible, nodes: tuple[sshd.Node, ...]
) -> None:
    """Its sshd is gone for good, therefore this test is the last one of its module."""
    sshd.end(nodes[0])
    answer = ansible("ansible-playbook", "playbooks/health_passive.yml")
    assert answer.returncode == 4
    lines = spool(Path(ansible.variables["FLEET_SPOOL"]))
    ended = {line.node: line for line in lines if isinstance(line, Ended)}
    assert (ended["gpu-01"].end, ended["gpu-02"].end) == (PlayEnd.UNREACHABLE, PlayEnd.OK)
    assert {node for node, _ in verdicts(lines)} == {"gpu-02"}
