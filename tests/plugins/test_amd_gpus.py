"""One task asks a node with AMD's GPUs with AMD's tool, and its kernel for what uses them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.spool import Judged
from tests.core.checks.catalogue import amd_evidence as amd
from tests.playing import Ansible, inventory, spool

CHECKS = ["gpu_usage", "gpu_errors", "gpu_thermals", "gpu_pcie", "gpu_power", "gpu_settings", "xgmi"]


@pytest.fixture
def node(tmp_path: Path, tool: Callable[[str, str], str]) -> Path:
    """A node's tool, which prints what it would of eight MI300X, and notes what it was asked."""
    answers = amd.texts(amd.rows())
    for name, text in answers.items():
        (tmp_path / f"{name}.json").write_text(text)
    body = (
        f'echo "$@" >> {tmp_path}/asked\ncase "$1 $2" in "xgmi -l") cat {tmp_path}/amd_smi_xgmi.json;;'
        f' "xgmi -m") cat {tmp_path}/amd_smi_xgmi_metric.json;; bad-pages*) cat {tmp_path}/amd_smi_bad_pages.json;;'
        f" *) cat {tmp_path}/amd_smi_$1.json;; esac"
    )
    tool("amd-smi", body)
    return tmp_path


def judged(folder: Path) -> dict[str, Judged]:
    """Ask the node all checks of its GPUs; return the results by check."""
    ansible = Ansible(folder / "home", {"FLEET_SPOOL": str(folder / "spool.jsonl")})
    nodes = inventory(folder / "inventory.yml", {"gpu-01": {"fleet_profile": amd.PROFILE}})
    play = {
        "name": "GPUs are read",
        "hosts": "nodes",
        "gather_facts": False,
        "environment": {"PATH": f"{folder}:/usr/bin:/bin", "FLEET_ROOT": str(folder / "root")},
        "tasks": [{"name": "GPUs are well", "fleet_check": {"checks": CHECKS}}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    answer = ansible("ansible-playbook", "-i", nodes, folder / "play.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return {line.result.check: line for line in spool(folder / "spool.jsonl") if isinstance(line, Judged)}


def test_every_check_of_gpus_is_answered_by_amds_tool_asked_once(node: Path) -> None:
    results = judged(node)
    assert {name: line.result.verdict for name, line in results.items()} == dict.fromkeys(CHECKS, Verdict.PASS)
    assert results["gpu_usage"].result.observed == {"in_use": False, "processes": 0}
    assert sorted((node / "asked").read_text().splitlines()) == [
        "bad-pages --json",
        "metric --json",
        "process --json",
        "static --json",
        "xgmi -l --json",
        "xgmi -m --json",
    ]


def test_a_process_that_only_the_kernel_names_keeps_the_node_busy(node: Path) -> None:
    held = node / "root" / "sys/class/kfd/kfd/proc/4711"
    held.mkdir(parents=True)
    (held / "vram_51140").write_text("4096\n")
    assert judged(node)["gpu_usage"].result.observed == {"in_use": True, "processes": 1}


def test_a_node_without_the_tool_is_unknown(node: Path) -> None:
    (node / "amd-smi").unlink()
    results = judged(node)
    assert {line.result.verdict for line in results.values()} == {Verdict.UNKNOWN}
    assert "amd_smi_static" in results["gpu_usage"].result.message
