"""The folder of a new fleet: it can be used as it is, and nothing that is there is overwritten."""

import os
from pathlib import Path

import pytest

from fleet_runner import settings
from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.files import catalogues, policy
from fleet_runner.adapters.plays import profiles
from fleet_runner.core.faults.rules.rules import DEFAULT
from tests.commands import entered


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("FLEET_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", [(), ("--example",)])
def test_what_it_writes_can_be_used_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    said = entered(monkeypatch, capsys, "init", "new/fleet", *words)
    root = tmp_path / "new" / "fleet"
    assert (said.code, said.err) == (0, "")
    assert len(said.out.splitlines()) == 4  # what was written, and three lines of what comes next
    assert "only observes" in said.out
    monkeypatch.chdir(root)
    found = settings.load()
    assert (found.source, found.inventory_file) == (str(root / "site"), root / "inventory" / "fleet.yml")
    assert found.state_dir == root / "state"
    fleet = sitefiles.load(Path(found.source))
    assert bool(fleet.devices) == bool(words)
    assert found.policy == root / "inventory" / "policy.yml"
    assert policy.rules(found) == DEFAULT
    assert catalogues.check_files(found, images=False) == []
    for device_type in {device.device_type for device in fleet.devices.values() if device.role == "gpu-server"}:
        assert profiles.read(found, device_type)


def test_nothing_of_the_lab_is_in_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    entered(monkeypatch, capsys, "init", "fleet")
    names = [path.name for path in (tmp_path / "fleet" / "inventory" / "group_vars").iterdir()]
    assert names
    assert not [name for name in names if "lab" in name]


@pytest.mark.parametrize("there", ["fleet.toml", "site/devices.yml", "inventory/policy.yml"])
def test_a_folder_that_has_one_of_them_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, there: str
) -> None:
    file = tmp_path / "fleet" / there
    file.parent.mkdir(parents=True)
    file.write_text("mine\n")
    said = entered(monkeypatch, capsys, "init", "fleet", "--example")
    assert said.code == 2
    assert there in said.err
    assert [path for path in (tmp_path / "fleet").rglob("*") if path.is_file()] == [file]
    assert file.read_text() == "mine\n"


def test_a_link_that_leads_nowhere_is_not_written_through(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "fleet.toml").symlink_to(tmp_path / "elsewhere")
    assert entered(monkeypatch, capsys, "init", "fleet").code == 2
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_has_other_files_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "README").write_text("mine\n")
    assert entered(monkeypatch, capsys, "init", ".").code == 0
    assert (tmp_path / "fleet.toml").is_file()


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "site").write_text("a file where a folder is to be\n")
    said = entered(monkeypatch, capsys, "init", ".")
    assert said.code == 2
    assert len(said.err.strip().splitlines()) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "site"]
