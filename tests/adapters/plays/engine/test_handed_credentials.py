"""BMC credentials in the runner's environment reach a play, and are written down nowhere on their way."""

import os
import re
import sys
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.credentials import HANDED, PASSWORD, USERNAME, handed
from fleet_runner.adapters.plays.engine import BatchState
from tests.adapters.plays.engine.conftest import B1, EITHER, Site

SECRET = "Tr0ub4dor-of-the-bmc"  # nothing else in this computer is called so
READ = (
    "from fleet_runner.adapters.redfish import credentials; from fleet_runner.settings import Settings;"
    "user, password = credentials(Settings());"
    "print(user, len(password), password[::-1])"
)


@EITHER
def test_credentials_of_the_environment_reach_a_play_and_no_file_and_no_process_list(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked at while the play runs, when ansible-runner's copy of the environment is there, and after it."""
    monkeypatch.setenv(USERNAME, "operator")
    monkeypatch.setenv(PASSWORD, SECRET)
    site.play(f"say $({sys.executable} -c '{READ}' | tr ' ' '|'); until_ gate", "env > {{ playbook_dir }}/env")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness(f"operator|{len(SECRET)}|{SECRET[::-1]}")
    command = site.file(B1, "runner") / "artifacts" / "play" / "command"
    assert HANDED in command.read_text(), "what is looked through is what ansible-runner writes"
    assert holding(site.folder) == []
    assert listed() == []
    site.open_gate("gate")
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert holding(site.folder) == []
    assert f"{HANDED}=/proc/" in (site.project / "playbooks" / "env").read_text()


def test_what_was_handed_over_ends_with_the_play(tmp_path: Path) -> None:
    environment = {USERNAME: "operator", PASSWORD: SECRET, "PATH": "/bin"}
    with handed(environment):
        assert set(environment) == {HANDED, "PATH"}
        made = Path(environment[HANDED])
        assert SECRET in made.read_text()
        assert re.fullmatch(rf"/proc/{os.getpid()}/fd/\d+", str(made))
        assert made.stat().st_mode & 0o077 == 0
        target = made.readlink()
    assert not made.exists() or made.readlink() != target


def test_an_environment_without_credentials_is_left_as_it_is() -> None:
    environment = {"PATH": "/bin"}
    with handed(environment):
        assert environment == {"PATH": "/bin"}


def holding(folder: Path) -> list[str]:
    """Return the files that hold the secret."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert files
    return [str(each) for each in files if SECRET.encode() in each.read_bytes()]


def listed() -> list[str]:
    """Return the processes whose command line shows the secret, to any user."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = each.read_bytes()
        except OSError:  # it has ended
            continue
        found += [str(each)] if SECRET.encode() in line else []
    return found
