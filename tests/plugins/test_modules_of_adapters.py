"""One task asks every adapter of a node for its module, in one round trip and without a shell."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from tests.playing import Ansible, inventory, spool

Tool = Callable[[str, str], str]
PROFILE = {
    "hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"},
    "optics": {"celsius_max": 70, "celsius_change_max": 10},
}


def judged(ansible: Ansible, folder: Path, profile: dict[str, object], *checks: str) -> tuple[Judged, dict[str, str]]:
    """Ask the node for its modules; return the result and the texts that it was drawn from, by read."""
    nodes = inventory(folder / "inventory.yml", {"gpu-01": {"fleet_profile": profile}})
    play = {
        "name": "Modules are read",
        "hosts": "nodes",
        "gather_facts": False,
        "environment": {"PATH": f"{folder}:/usr/bin:/bin"},
        "tasks": [{"name": "Modules are well", "fleet_check": {"checks": list(checks) or ["optics"]}}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    answer = ansible("ansible-playbook", "-i", nodes, folder / "play.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = spool(folder / "spool.jsonl")
    result = next(line for line in lines if isinstance(line, Judged) and line.result.check == "optics")
    return result, {line.read: line.text for line in lines if isinstance(line, Evidence)}


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Ansible that writes a spool."""
    return Ansible(tmp_path / "home", {"FLEET_SPOOL": str(tmp_path / "spool.jsonl")})


def test_every_adapter_is_asked_by_its_name(ansible: Ansible, tool: Tool, tmp_path: Path, evidence: Path) -> None:
    optical = evidence / "mlxlink" / "optical.json"
    hot = f'if [ "$2" = mlx5_1 ]; then sed "s/61 \\[/75 [/" {optical}; else cat {optical}; fi'
    tool("mlxlink", f'echo "$@" >> {tmp_path}/asked\n{hot}')
    line, texts = judged(ansible, tmp_path, PROFILE)
    assert sorted((tmp_path / "asked").read_text().splitlines()) == ["-d mlx5_0 -m --json", "-d mlx5_1 -m --json"]
    assert line.result.verdict is Verdict.FAIL
    assert [finding.component for finding in line.result.findings] == ["ib1"]
    assert sorted(json.loads(texts["mlxlink"])) == ["mlx5_0", "mlx5_1"]


def test_a_node_without_the_tool_is_unknown_and_told_what_to_do(ansible: Ansible, tmp_path: Path) -> None:
    line, _ = judged(ansible, tmp_path, PROFILE)
    assert line.result.verdict is Verdict.UNKNOWN
    assert "mlx5_0: mlxlink is not on the node; install NVIDIA's mft" in line.result.message


def test_where_the_profile_asks_for_nothing_no_tool_is_called(ansible: Ansible, tool: Tool, tmp_path: Path) -> None:
    """Beside a read that is asked, and alone."""
    tool("mlxlink", f"touch {tmp_path}/asked")
    tool("uptime", 'echo "2026-01-02 03:04:05"')
    for checks in (("optics",), ("rebooted", "optics")):
        (tmp_path / "spool.jsonl").unlink(missing_ok=True)
        line, _ = judged(ansible, tmp_path, {"hca_interfaces": {"mlx5_0": "ib0"}}, *checks)
        assert line.result.verdict is Verdict.PASS
    assert not (tmp_path / "asked").exists()
