"""What a shell needs to run playbooks by hand, from any folder."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from fleet_runner.settings import PROJECT_DIR
from tests.commands import entered


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A new fleet's folder, with a blank in its name; it is the working directory."""
    for name in [name for name in os.environ if name.startswith(("FLEET_", "ANSIBLE_"))]:
        monkeypatch.delenv(name)
    root = tmp_path / "my fleet"
    entered(monkeypatch, capsys, "init", str(root), "--example")
    monkeypatch.chdir(root)
    return root


def test_a_shell_that_takes_it_runs_a_playbook_from_any_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fleet: Path
) -> None:
    said = entered(monkeypatch, capsys, "env")
    assert (said.code, said.err) == (0, "")
    typed = f'{said.out}\nansible-playbook "$FLEET_PLAYBOOKS/health_passive.yml" --limit gpu-01 --list-hosts'
    answer = subprocess.run(["sh", "-ec", typed], cwd="/", capture_output=True, text=True, check=False)
    assert "gpu-01" in answer.stdout, answer.stderr
    assert "gpu-02" not in answer.stdout


def test_it_names_the_fleets_own_roles_before_the_projects(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fleet: Path
) -> None:
    found = json.loads(entered(monkeypatch, capsys, "env", "--json").out)
    assert found["FLEET_CONFIG"] == str(fleet / "fleet.toml")
    assert found["ANSIBLE_ROLES_PATH"] == f"{fleet / 'roles'}:{PROJECT_DIR / 'roles'}"
    assert Path(found["ANSIBLE_CONFIG"]).is_file()


def test_taken_twice_it_says_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fleet: Path
) -> None:
    first = json.loads(entered(monkeypatch, capsys, "env", "--json").out)
    for name, value in first.items():
        monkeypatch.setenv(name, value)
    said = entered(monkeypatch, capsys, "env", "--json")
    assert (json.loads(said.out), said.err) == (first, "")
