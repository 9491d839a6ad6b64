"""Which source of truth is read, and how often."""

import shutil
from pathlib import Path

import pytest
import structlog

from fleet_runner.adapters import source
from fleet_runner.adapters.source import Reader
from fleet_runner.core.base.errors import SettingsError, SourceError
from fleet_runner.settings import Settings


@pytest.fixture
def site(tmp_path: Path, project: Path) -> Path:
    """The documentation's example, to be written to."""
    return Path(shutil.copytree(project / "docs" / "examples" / "site", tmp_path / "site"))


def test_site_files_are_parsed_again_only_when_one_changed(site: Path) -> None:
    """The same object comes back until then; a broken change is an error and the next good one is read."""
    reader = Reader(Settings(source=str(site)))
    first = reader()
    assert reader() is first
    sites = site / "sites.yml"
    good = sites.read_text("utf-8")
    sites.write_text("- [", "utf-8")
    with pytest.raises(SourceError, match=r"sites\.yml"):
        reader()
    sites.write_text(good + "# seen\n", "utf-8")
    assert reader() is not first
    assert reader().devices == first.devices


@pytest.mark.parametrize(
    ("values", "words"),
    [({}, "netbox_token_file is not set"), ({"netbox_token_file": Path("/nowhere/token")}, "/nowhere/token")],
)
def test_a_netbox_needs_its_token(values: dict[str, Path], words: str) -> None:
    """And the error says where to put it."""
    with pytest.raises(SettingsError, match=words):
        source.read(Settings(source="https://netbox.example", **values))


def test_a_token_file_that_is_no_text_or_not_its_owners_alone_is_named(tmp_path: Path) -> None:
    values = {"netbox_token_file": tmp_path / "token"}
    values["netbox_token_file"].write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="can be read by others than its owner; run: chmod 600"):
        source.read(Settings(source="https://netbox.example", **values))
    values["netbox_token_file"].chmod(0o600)
    with pytest.raises(SettingsError, match="token: it is not plain text; expected a NetBox token"):
        source.read(Settings(source="https://netbox.example", **values))


def test_places_that_the_source_does_not_know_are_told_once(site: Path) -> None:
    """A runner with a typing error there would reach nothing, without a word."""
    reader = Reader(Settings(source=str(site), runner_places="hall-1, hall-*/*, hal-1, hall-1/r99"))
    with structlog.testing.capture_logs() as said:
        reader()
        with (site / "sites.yml").open("a", encoding="utf-8") as file:
            file.write("# seen\n")
        reader()
    assert [each["unknown"] for each in said] == [["hal-1", "hall-1/r99"]]
