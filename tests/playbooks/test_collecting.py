"""What only a node and its BMC have, through the real play, and the archive that is made of it."""

import gzip
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.lab import faults, hardware
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from fleet_runner.settings import load
from tests.adapters.files.test_archive import opened
from tests.lab.bench import boot
from tests.playbooks.test_resetting import NODE, Play


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of one server that has booted, and has lost a GPU since."""
    made = up(tmp_path_factory.mktemp("collects") / "lab", 1, boot_seconds=0.0)
    try:
        boot(made, NODE)
        faults.inject(made, "xid", NODE, {"code": 79, "gpu": 3})
        yield made
    finally:
        down(made)


@pytest.fixture
def bundles(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLEET_CONFIG", str(lab.settings))
    return load().state_dir / "bundles" / NODE


def test_it_is_gathered_for_nobody_else_to_read_and_packed_without_secrets(
    lab: Lab, bundles: Path, tmp_path: Path
) -> None:
    """Of a node that answers: its tools' texts, its bug report in pieces, its BMC's logs."""
    found = Play(lab, tmp_path)("collect", "TRIAGE")["gathered"]
    assert found.verdict is Verdict.PASS, found.message
    [stay] = bundles.iterdir()
    assert {"dmesg.txt", "nvidia-smi-xml.txt", "nvidia-bug-report.log.gz", "bmc-logs.json"} <= {
        each.name for each in stay.iterdir()
    }
    assert {stat.S_IMODE(each.stat().st_mode) for each in stay.iterdir()} == {0o600}
    assert b"abcdef.0123456789abcdef" in gzip.decompress((stay / "nvidia-bug-report.log.gz").read_bytes())
    assert not list((lab.node(NODE) / "tmp").glob("tmp.*")), "nothing is left on the node"
    with Store.create(load().store_url) as store:
        store.register(read(load()).devices.values(), time.time())
    command = [sys.executable, "-m", "fleet_runner.cli", "bundle", NODE, "--out", str(tmp_path / "all.tar.gz")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    files = opened(tmp_path / "all.tar.gz")
    texts = {name.partition("/")[2]: data for name, data in files.items()}
    assert {"README.txt", "history.json", "gathered/dmesg.txt", "gathered/bmc-logs.json"} <= set(texts)
    report = gzip.decompress(texts["gathered/nvidia-bug-report.log.gz"])
    assert b"join_token=[removed]" in report
    assert b"Xid (PCI:0000:61:00): 79" in report
    assert b"PROPOSED DIAGNOSIS" in texts["README.txt"]
    assert "taken out" in said.stdout, "how many secrets were in it"


def test_a_dead_node_gives_what_its_bmc_tells(lab: Lab, bundles: Path, tmp_path: Path) -> None:
    hardware.power(lab, NODE, "ForceOff")
    found = Play(lab, tmp_path)("collect", "TRIAGE")["gathered"]
    assert found.verdict is Verdict.PASS
    assert "dmesg.txt: the node does not answer" in found.message
    newest = max(bundles.iterdir())
    assert {each.name for each in newest.iterdir()} >= {"bmc-logs.json", "bmc-health.json"}


def test_of_many_stays_the_newest_are_kept(lab: Lab, bundles: Path, tmp_path: Path) -> None:
    for number in range(2):
        play = Play(lab, tmp_path / str(number))
        (tmp_path / str(number)).mkdir()
        play("collect", "TRIAGE")
    assert len(list(bundles.iterdir())) == 3
