"""The wheel: what it holds, and a fleet that runs from it alone, in a folder without a clone."""

import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.wheel import HELD, Installed, installed
from tests.playing import PROJECT

NEEDED = ("ansible.cfg", "docs/examples", "inventory", "packaging", "playbooks", "plugins", "roles")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """fleet-runner, installed from its wheel."""
    return installed(tmp_path_factory.mktemp("wheel"))


def test_it_holds_all_that_a_run_needs_and_nothing_of_the_tests(wheel: Installed) -> None:
    """As git has it: a new role or playbook comes along by itself."""
    listed = subprocess.run(
        ["git", "-C", PROJECT, "ls-files", "-co", "--exclude-standard", "--", *NEEDED],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    expected = {f"{HELD}/{name}" for name in listed if "/molecule/" not in name and (PROJECT / name).is_file()}
    with ZipFile(wheel.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name for name in names if name.startswith(f"{HELD}/")} == expected
    assert {name.partition("/")[0] for name in names} == {"fleet_runner"}
    assert len(expected) > len(NEEDED)


def test_an_installed_one_finds_playbooks_and_roles_in_itself(wheel: Installed, tmp_path: Path) -> None:
    said = wheel.said(tmp_path, "check", "show", "xid")
    assert "health_passive" in said
