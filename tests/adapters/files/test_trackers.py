"""The file of trackers, and the secrets that it names."""

from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.files import trackers
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.tickets.trackers.configuration import Configured, TrackerKind
from fleet_runner.settings import Settings

GOOD = """\
trackers:
  - name: halls
    kind: github
    repository: acme/halls
    token_file: halls.token
"""
OF = Configured("halls", TrackerKind.GITHUB, "https://api.github.com", token_file="halls.token")


def given(folder: Path, text: str) -> Settings:
    """Settings with a file of trackers beside the inventory."""
    (folder / "trackers.yml").write_text(text)
    return Settings(inventory=folder / "fleet.yml")


def test_without_a_file_there_is_no_tracker(tmp_path: Path) -> None:
    """Nor with an empty one."""
    assert trackers.trackers(Settings(inventory=tmp_path / "fleet.yml")) == ()
    assert trackers.trackers(given(tmp_path, "")) == ()


def test_the_file_beside_the_inventory_is_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    """As with the policy."""
    (found,) = trackers.trackers(given(tmp_path, GOOD))
    assert (found.name, found.project, found.token_file) == ("halls", "acme/halls", "halls.token")
    named = Settings(trackers_file=tmp_path / "trackers.yml", inventory=tmp_path / "elsewhere" / "fleet.yml")
    assert trackers.trackers(named) == (found,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("github", "hub"), "trackers.yml:3: trackers[0].kind: found 'hub', expected one of jira"),
        (GOOD + "    url: http://x.example\n    urls: 1\n", "trackers.yml:6: trackers[0].url: found"),
        (GOOD + "    kind: jira\n", "trackers.yml:6: trackers[0].kind: found again, expected once"),
        ("trackers: [", "trackers.yml:1: this is no YAML"),
    ],
)
def test_a_slip_is_told_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    """With what was found and what was expected."""
    with pytest.raises(SettingsError, match="yml") as raised:
        trackers.trackers(given(tmp_path, text))
    assert said in str(raised.value)


def test_the_example_of_the_documents_can_be_used_as_it_is(tmp_path: Path, project: Path) -> None:
    """Each kind once."""
    page = (project / "docs" / "trackers.md").read_text(encoding="utf-8")
    found = trackers.trackers(given(tmp_path, page.split("```yaml\n")[1].split("```")[0]))
    assert {each.kind for each in found} == set(TrackerKind)


def test_a_secret_comes_from_a_file_of_its_owners_alone_or_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end of line is not part of it."""
    (tmp_path / "halls.token").write_text("s3cret\n")
    (tmp_path / "halls.token").chmod(0o600)
    assert trackers.secret(OF, tmp_path) == "s3cret"
    monkeypatch.setenv("HALLS_TOKEN", "other")
    assert trackers.secret(replace(OF, token_file="", token_variable="HALLS_TOKEN"), tmp_path) == "other"


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("s3cret", 0o644, "can be read by others"),
        ("", 0o600, "holds no token"),
        ("s3cret two", 0o600, "holds no token"),
    ],
)
def test_a_secret_that_cannot_be_used_is_not_quoted(tmp_path: Path, text: str, mode: int, said: str) -> None:
    """What is wrong is said without it."""
    (tmp_path / "halls.token").write_text(text)
    (tmp_path / "halls.token").chmod(mode)
    with pytest.raises(SettingsError, match=said) as raised:
        trackers.secret(OF, tmp_path)
    assert "s3cret" not in str(raised.value)


def test_a_secret_or_an_authority_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the next step."""
    with pytest.raises(SettingsError, match=r"halls\.token: No such file or directory; expected a file of mode 0600"):
        trackers.secret(OF, tmp_path)
    assert trackers.authority(OF, tmp_path) is True
    with pytest.raises(SettingsError, match="ca_file"):
        trackers.authority(replace(OF, ca_file="ca.pem"), tmp_path)
    (tmp_path / "ca.pem").write_text("-")
    assert trackers.authority(replace(OF, ca_file="ca.pem"), tmp_path) == str(tmp_path / "ca.pem")
