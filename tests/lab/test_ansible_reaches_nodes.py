"""Real Ansible, with its own ssh plugin, reaches the lab's nodes and tells an unreachable node from a failed task."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.lab import faults, site
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up

UNREACHABLE = 4
"""Exit status of an ad-hoc command whose node was unreachable."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A lab in a folder without a space: Ansible's piped transfer does not quote the paths it is given."""
    made = up(tmp_path / "lab", 2, boot_seconds=0.0)
    try:
        yield made
    finally:
        down(made)


def ansible(lab: Lab, node: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run an ad-hoc command with the variables of the lab's site files."""
    variables = json.dumps(site.context(lab, node, 1))
    command = [Path(sys.executable).with_name("ansible"), "all", "-i", f"{node},", "-e", variables, *words]
    config = lab.root / "ansible.cfg"
    config.write_text("[defaults]\n", "utf-8")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(lab.root / "controller"),
        "ANSIBLE_CONFIG": str(config),
        "ANSIBLE_PIPELINING": "1",
        "FLEET_BATCH": "b-1",
        "LANG": "C.UTF-8",
    }
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=120)


def test_a_module_runs_on_the_node_and_leaves_its_files_there(lab: Lab, node: str) -> None:
    answer = ansible(lab, node, "-m", "command", "-a", "nvidia-smi -L")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.count("NVIDIA H100") == 8


def test_a_file_is_copied_to_the_node(lab: Lab, node: str, tmp_path: Path) -> None:
    """Copying goes through ssh itself (`piped`): the lab has no sftp."""
    (tmp_path / "file").write_text("content", "utf-8")
    answer = ansible(lab, node, "-m", "copy", "-a", f"src={tmp_path / 'file'} dest=~/there")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert (lab.node(node) / "home" / "there").read_text("utf-8") == "content"


@pytest.mark.parametrize("words", [("-m", "ping"), ("-m", "command", "-a", "true")])
def test_a_node_that_is_off_is_unreachable(lab: Lab, words: tuple[str, ...]) -> None:
    answer = ansible(lab, "gpu-02", *words)
    assert answer.returncode == UNREACHABLE
    assert "UNREACHABLE!" in answer.stdout
    assert "No route to host" in answer.stdout


def test_a_hanging_tool_can_be_ended_by_its_caller(lab: Lab, node: str) -> None:
    faults.inject(lab, "tool_hang", node, {"tool": "dmesg"})
    answer = ansible(lab, node, "-m", "command", "-a", "timeout 1 dmesg")
    assert "rc=124" in answer.stdout
