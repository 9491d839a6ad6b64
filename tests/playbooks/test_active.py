"""Active tests of an idle node, by the real playbook in the lab: nobody is in their way, nor they in anybody's."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.lab import faults
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot, wait
from tests.playing import Ansible, spool

PROFILE = {
    "parts": {"gpu": {"count": 8, "model": "NVIDIA H100 80GB HBM3"}},
    "burn_in": {"seconds": 600, "gpu_gflops_share_min": 0.95},
    "health_active": {"tests": ["gpu_burn", "dcgm", "disk_speed"]},
    "active": {"dcgm": {}},
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of one server that has booted."""
    made = up(tmp_path_factory.mktemp("active") / "lab", 1, boot_seconds=0.0)
    try:
        boot(made, "gpu-01")
        yield made
    finally:
        down(made)


@pytest.fixture
def ansible(lab: Lab, tmp_path: Path) -> Ansible:
    """Ansible on that lab, with a spool."""
    return Ansible(
        tmp_path / "home", {"FLEET_CONFIG": str(lab.settings), "FLEET_SPOOL": str(tmp_path / "spool.jsonl")}
    )


ROUND = time.time()
WORK = f"stepd{os.getpid()}"
"""What a scheduler has on a node for a job; of no other test that runs at the same time."""


def play(ansible: Ansible, stage: str, profile: dict[str, Any] | None = None) -> dict[str, Result]:
    """Run a stage's playbook as the runner does; return what its checks answered."""
    path = Path(ansible.variables["FLEET_SPOOL"])
    path.unlink(missing_ok=True)
    run = {"run": 1, "fence": 1, "since": ROUND, "round": ROUND, "opened_at": ROUND}
    told = {"fleet_runs": {"gpu-01": run}, "active_workers": [WORK]}
    told |= {} if stage == "firmware" else {"fleet_profile": profile or PROFILE}
    extra = json.dumps(told)
    answer = ansible("ansible-playbook", f"playbooks/{stage}.yml", "--limit", "gpu-01", "-e", extra)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return {line.result.check: line.result for line in spool(path) if isinstance(line, Judged)}


@pytest.mark.nightly
def test_tests_of_an_idle_node_are_nobodys_use_and_give_way_to_work(
    ansible: Ansible, lab: Lab, tmp_path: Path
) -> None:
    """What the profile names and does not tell enough about is unknown, and says what; a drain ends what runs."""
    found = play(ansible, "health_active", PROFILE | {"active": {"dcgm": {"level": 7}}})
    assert (found["gpu_burn"].verdict, found["gpu_burn"].observed["working"]) == (Verdict.UNKNOWN, True)
    assert "active.dcgm.level" in found["dcgm"].message
    assert found["disk_speed"].verdict is Verdict.UNKNOWN
    assert "the profile has no active.disk_speed" in found["disk_speed"].message
    usage = play(ansible, "drain")["gpu_usage"]
    assert usage.observed["in_use"] is False
    over = lab.node("gpu-01") / "tmp" / "jobs" / f"health_active-{ROUND}" / "over"
    while not over.exists():
        time.sleep(0.05)
    assert play(ansible, "health_active")["gpu_burn"].observed["working"] is True
    step = tmp_path / WORK
    step.symlink_to("/bin/sleep")
    with subprocess.Popen([str(step), "600"]) as work:
        try:
            left = lab.node("gpu-01") / "tmp" / "jobs" / f"health_active-{ROUND}" / "gpu_burn" / "end"
            while not left.exists():
                time.sleep(0.05)
            burn = play(ansible, "health_active")["gpu_burn"]
        finally:
            work.kill()
    assert (burn.verdict, burn.message) == (Verdict.SKIPPED, f"it gave way to {WORK} ({work.pid})")
    assert play(ansible, "drain")["gpu_usage"].message == "no GPU is in use"


@pytest.mark.nightly
def test_a_node_is_flashed_when_its_overdue_burn_in_loads_it_no_more(ansible: Ansible, lab: Lab) -> None:
    """By hand, as after a triage; the boot that follows empties what the chain left, so it is watched meanwhile."""
    assert play(ansible, "burn_in", PROFILE | {"active": {"dcgm": {"level": 3}}})["gpu_burn"].observed["working"]
    over = lab.node("gpu-01") / "tmp" / "jobs" / f"burn_in-{ROUND}" / "over"
    assert not over.exists()

    def ended() -> float:
        wait(over.exists, 120.0)
        return time.time()

    with Store.create(f"sqlite:///{lab.root / 'state' / 'fleet.db'}") as known, ThreadPoolExecutor() as beside:
        known.register([Device("gpu-01", "lab-hgx-h100", "gpu-server", "lab")], time.time())
        faults.inject(lab, "wrong_firmware", "gpu-01", {"component": "BIOS", "version": "1.9a"})
        end = beside.submit(ended)
        assert play(ansible, "firmware")["firmware_update"].verdict is Verdict.PASS
    lines = [json.loads(line) for line in lab.log.read_text().splitlines()]
    [accepted] = [line for line in lines if line["event"] == "firmware_accepted"]
    assert end.result() < accepted["at"]
