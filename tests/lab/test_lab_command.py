"""`fleet-runner lab`, as a person types it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fleet_runner.cli.lab.lab import app
from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab import faults, hardware
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import open_lab
from tests.lab.bench import boot


def typed(folder: Path, *words: str) -> Result:
    """Run a command about the lab in a folder."""
    return CliRunner().invoke(app, [*words, "--dir", str(folder)], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A lab that was brought up by its command."""
    answer = typed(tmp_path / "lab", "up", "--servers", "2", "--boot-seconds", "0", "--no-boot-service")
    assert answer.exit_code == 0
    assert "2 servers in" in answer.output
    assert "export FLEET_CONFIG=" in answer.output
    try:
        yield tmp_path / "lab"
    finally:
        down(open_lab(tmp_path / "lab"))


def test_a_fault_is_injected_with_its_options_and_fixed(folder: Path) -> None:
    answer = typed(folder, "inject", "xid", "gpu-01", "--code", "94", "--gpu", "6")
    assert answer.output == "gpu-01: xid (code 94, gpu 6)\n"
    assert faults.injected(open_lab(folder), "gpu-01") == {"xid": {"code": 94, "gpu": 6}}
    assert typed(folder, "fix", "xid", "gpu-01").output == "gpu-01: xid is put right\n"
    assert typed(folder, "fix", "xid", "gpu-01").output == "gpu-01: xid was not there\n"


def test_a_job_starts_and_stops(folder: Path) -> None:
    boot(open_lab(folder), "gpu-01")
    assert "gpu-01: job runs as process" in typed(folder, "job", "start", "gpu-01").output
    assert typed(folder, "job", "stop", "gpu-01").output == "gpu-01: 1 job(s) stopped\n"
    events = [json.loads(line)["event"] for line in open_lab(folder).log.read_text("utf-8").splitlines()]
    assert events[-2:] == ["job_start", "job_stop"]


def test_every_fault_is_listed_with_a_sentence() -> None:
    answer = CliRunner().invoke(app, ["faults"], env={"COLUMNS": "200"})
    for name, fault in faults.FAULTS.items():
        assert name in answer.output
        assert fault.sentence.endswith(".")


def test_down_keeps_the_folder_unless_told_otherwise(folder: Path) -> None:
    assert typed(folder, "down").output == "1 process(es) ended\n"
    assert hardware.state_of(open_lab(folder), "gpu-01")["power"] == "Off"
    typed(folder, "up")
    typed(folder, "down", "--delete")
    assert not folder.exists()
    typed(folder, "up", "--servers", "1")
    assert typed(folder, "down").output == "2 process(es) ended\n", "BMCs and boot service"


def test_a_lab_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match=r"holds no lab; run `fleet-runner lab up --dir"):
        typed(tmp_path / "nowhere", "down")
