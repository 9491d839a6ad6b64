"""The unit of serve as systemd's own tools see it, where systemd need not run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fleet_runner.adapters.netbox.client import Timeouts
from fleet_runner.core.schedules.health import bound
from fleet_runner.settings import PROJECT_DIR, Settings

UNIT = PROJECT_DIR / "packaging" / "fleet-runner.service"
MOST_EXPOSED = 2.0
"""Of ten, as `systemd-analyze security` counts; sshd's unit has 9.6."""

needed = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="Debian's package `systemd` is missing")


def said(*words: str) -> tuple[int, str]:
    """Run a tool; return how it ended, and all that it said."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that is there in the place of the one that it starts."""
    program = tmp_path / "fleet-runner"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text, count = re.subn(r"^ExecStart=\S+", f"ExecStart={program}", UNIT.read_text(), flags=re.MULTILINE)
    assert count == 1
    made = tmp_path / UNIT.name
    made.write_text(text)
    return made


@needed
def test_systemd_understands_every_line(unit: Path) -> None:
    """An unknown one would be passed over in silence."""
    assert said("systemd-analyze", "verify", "--man=no", str(unit)) == (0, "")


@needed
def test_a_line_that_is_wrong_would_be_found(unit: Path) -> None:
    """The test above can fail."""
    unit.write_text(unit.read_text().replace("KillMode=process", "KillModus=process"))
    assert "KillModus" in said("systemd-analyze", "verify", "--man=no", str(unit))[1]


@needed
def test_little_is_exposed(unit: Path) -> None:
    """By systemd's own count."""
    words = ("systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED * 10:.0f}", "--no-pager")
    code, out = said(*words, str(unit))
    assert code == 0, out


def test_plays_outlive_it_and_it_comes_back() -> None:
    """What ADR 0003 rests on, and what would take plays' files away."""
    lines = UNIT.read_text().splitlines()
    assert {"KillMode=process", "Restart=always", "Type=notify", "NoNewPrivileges=yes"} <= set(lines)
    assert not any(line.startswith(("PrivateTmp=yes", "RuntimeDirectory=", "ExecStop")) for line in lines)


def test_the_watchdog_waits_longer_than_a_source_of_truth_may_take() -> None:
    """A NetBox that answers nothing is no hang: the last good copy stays in use."""
    found = re.search(r"^WatchdogSec=(\d+)min$", UNIT.read_text(), flags=re.MULTILINE)
    assert found is not None
    patience = Timeouts()
    longest = (patience.connect_seconds + patience.read_seconds) * (patience.retries + 1)
    assert int(found[1]) * 60 + bound(Settings().tick_seconds, 0.0) > longest
