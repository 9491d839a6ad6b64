"""Settings come from arguments, FLEET_ variables and a file, in that order, and an unusable one is named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner import settings
from fleet_runner.core.errors import SettingsError

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put a fleet.toml into a folder of the test's own and make it the one in use."""
    for name in settings.Settings.model_fields:
        monkeypatch.delenv(f"FLEET_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "etc" / "fleet.toml"
    file.parent.mkdir()

    def put(text: str) -> Path:
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv("FLEET_CONFIG", str(file))
        return file

    monkeypatch.delenv("FLEET_CONFIG", raising=False)
    return put


def test_without_a_file_every_setting_has_a_default(write: Write) -> None:
    found = settings.load()
    assert found.project_dir == settings.PROJECT_DIR
    assert found.state_dir.is_absolute()
    assert "~" not in str(found.state_dir)
    assert found.store_url == f"sqlite:///{found.state_dir}/fleet.db"
    assert found.inventory_file == settings.PROJECT_DIR / "inventory" / "fleet.yml"
    assert found.batches_dir == found.state_dir / "batches"


def test_relative_paths_in_a_file_are_relative_to_the_file(write: Write) -> None:
    file = write('source = "site"\nstate_dir = "state"\ninventory = "hosts.yml"\n')
    found = settings.load()
    assert found.source == str(file.parent / "site")
    assert found.state_dir == file.parent / "state"
    assert found.inventory_file == file.parent / "hosts.yml"


def test_a_fleet_toml_in_the_working_directory_is_found(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("forks = 3\n")
    monkeypatch.delenv("FLEET_CONFIG")
    monkeypatch.chdir(file.parent)
    assert settings.load().forks == 3


def test_a_source_with_an_address_stays_one(write: Write) -> None:
    write('source = "https://netbox.example"\ndatabase_url = "postgresql+psycopg:///fleet"\n')
    found = settings.load()
    assert found.source == "https://netbox.example"
    assert found.store_url == "postgresql+psycopg:///fleet"


def test_a_variable_wins_over_the_file_and_an_argument_over_both(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("forks = 3\n")
    monkeypatch.setenv("FLEET_FORKS", "4")
    assert settings.load().forks == 4
    assert settings.load(forks=5).forks == 5


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("forks = 0\n", "'forks'"),
        ('forks = "many"\n', "'forks'"),
        ("max_out_share = 1.5\n", "'max_out_share'"),
        ("forkz = 3\n", "'forkz'"),
        ("forks = \n", "fleet.toml"),
    ],
)
def test_an_unusable_setting_is_named_with_its_file(write: Write, text: str, named: str) -> None:
    file = write(text)
    with pytest.raises(SettingsError) as caught:
        settings.load()
    assert named in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_config_file_that_is_named_must_exist(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CONFIG", "nowhere.toml")
    with pytest.raises(SettingsError, match=r"nowhere\.toml, which is not a file; correct it or unset it"):
        settings.load()


def test_every_setting_says_what_it_is_for() -> None:
    assert all(field.description for field in settings.Settings.model_fields.values())
