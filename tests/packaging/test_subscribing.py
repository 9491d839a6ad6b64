"""The units that subscribe to BMCs' events: systemd takes them, and they run a command that is there."""

import re
import shutil
import subprocess

import pytest
from typer.main import get_command

from fleet_runner.cli.faults.signals.commands import app
from tests.playing import PROJECT

UNITS = [PROJECT / "packaging" / f"fleet-runner-subscribe.{kind}" for kind in ("service", "timer")]


def test_the_service_runs_a_command_of_signals() -> None:
    (words,) = re.findall(r"^ExecStart=fleet-runner signals (.+)$", UNITS[0].read_text(), re.MULTILINE)
    name, option = words.split()
    command = get_command(app).commands[name]  # type: ignore[attr-defined]  # a group has them
    assert option in {each for parameter in command.params for each in parameter.opts}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_takes_both() -> None:
    """But for the program, which is not installed here."""
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *UNITS], capture_output=True, text=True, check=False
    )
    told = [line for line in said.stderr.splitlines() if "fleet-runner-subscribe" in line]
    assert [line for line in told if "is not executable" not in line] == []
