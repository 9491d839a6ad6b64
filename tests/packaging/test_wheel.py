"""The wheel: what it holds, and a fleet that runs from it alone, in a folder without a clone."""

import subprocess
import time
from pathlib import Path
from zipfile import ZipFile

import pytest

from fleet_runner.cli.base.session import Exit
from fleet_runner.lab import plan
from tests.packaging.wheel import HELD, Installed, installed
from tests.playing import PROJECT

NODE = plan.server(1)
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


def test_a_fleet_begins_from_it_in_an_empty_folder(wheel: Installed, tmp_path: Path) -> None:
    """From init to the first tick, and nothing is written where it is installed."""
    before, fleet = wheel.files(), tmp_path / "fleet"
    assert wheel.said(tmp_path, "--version").startswith("fleet-runner ")
    wheel.said(tmp_path, "init", "fleet", "--example")
    assert str(wheel.package / "project") in wheel.said(fleet, "doctor")
    wheel.said(fleet, "tick")
    assert "gpu-01" in wheel.said(fleet, "status")
    assert "gpu_errors" in wheel.said(fleet, "check", "list")
    assert wheel.files() == before


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_a_lab_comes_to_its_first_ticket_by_the_installed_playbooks(wheel: Installed, tmp_path: Path) -> None:
    """Through real Ansible, whose caches and temporary files lie elsewhere, too."""
    before, lab = wheel.files(), tmp_path / "lab"
    wheel.said(tmp_path, "lab", "up", "--dir", lab, "--servers", "1")
    try:
        wheel.said(tmp_path, "lab", "inject", "dead_psu", NODE, "--dir", lab)
        wheel.said(lab, "tick")
        ticked(wheel, lab, ("history", NODE), "provision →")
        words = ("fleet-runner", "certify", NODE, "--reason", "inspected", "--wait", "0")  # the next tick answers
        asked = subprocess.run(words, cwd=lab, env=wheel.environment(lab), check=False)
        assert asked.returncode == Exit.WAITING
        ticked(wheel, lab, ("tickets",), "Power Supply")
    finally:
        wheel.said(tmp_path, "lab", "down", "--dir", lab)
    assert wheel.files() == before


def ticked(wheel: Installed, lab: Path, words: tuple[str, ...], expected: str) -> None:
    """Let a lab's fleet go on until a command says what is expected."""
    end = time.monotonic() + 900
    while expected not in (said := wheel.said(lab, *words)):
        assert time.monotonic() < end, said
        wheel.said(lab, "tick")
        time.sleep(1)
