"""Resets and restarts through the real play on a lab's node: done once, never to somebody's work, then judged."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.answers import fault_key
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Judged, Line
from fleet_runner.lab import faults, hardware, jobs, plan
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot
from tests.playing import Ansible, spool

NODE = "gpu-01"
STOPPED = ["nvidia-dcgm.service", "nvidia-persistenced.service"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of one server that has booted."""
    made = up(tmp_path_factory.mktemp("resets") / "lab", 1, boot_seconds=0.0)
    try:
        boot(made, NODE)
        yield made
    finally:
        down(made)


@pytest.fixture(autouse=True)
def healed(lab: Lab) -> Iterator[None]:
    """Take every fault out again."""
    yield
    jobs.stop(lab, NODE)
    for each in list(faults.injected(lab, NODE)):
        faults.fix(lab, each, NODE)


class Play:
    """Plays of one stay: the runner tells each what the attempt is."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.folder, self.since = lab, folder, time.time()
        self.spool = folder / "spool.jsonl"
        self.ansible = Ansible(folder / "home", {"FLEET_CONFIG": str(lab.settings), "FLEET_SPOOL": str(self.spool)})

    def __call__(self, stage: str, remedy: str, *found: str, words: tuple[str, ...] = ()) -> dict[str, Result]:
        """Play a stage and return the results by check."""
        self.spool.unlink(missing_ok=True)
        told = {"run": 1, "fence": 1, "since": self.since, "opened_at": self.since}
        told |= {"remedy": remedy, "faults": list(found)}
        extra = json.dumps({"fleet_runs": {NODE: told}, "reset_dir": str(self.folder / "resets")})
        answer = self.ansible("ansible-playbook", f"playbooks/{stage}.yml", "--limit", NODE, "-e", extra, *words)
        assert self.spool.exists(), answer.stdout + answer.stderr
        lines: tuple[Line, ...] = spool(self.spool)
        return {line.result.check: line.result for line in lines if isinstance(line, Judged)}

    def seen(self, event: str) -> list[dict[str, Any]]:
        """Return what the lab itself saw happen since the stay began."""
        lines = [json.loads(line) for line in self.lab.log.read_text().splitlines()]
        return [line for line in lines if line["event"] == event and line["at"] >= self.since]


@pytest.fixture
def play(lab: Lab, tmp_path: Path) -> Play:
    return Play(lab, tmp_path)


def gpu(number: int) -> str:
    return f"GPU 0000:{plan.GPU_BUSES[number].lower()}:00.0"


def test_a_gpu_is_reset_once_alone_and_verified(lab: Lab, play: Play) -> None:
    """What held it of ours is stopped and runs again; what the kernel logged before is over."""
    faults.inject(lab, "row_remap", NODE, {"gpu": 2})
    fault = fault_key(NODE, "gpu.remap_pending", gpu(2))
    assert play("verify", "RESET", fault)["gpu_errors"].verdict is Verdict.FAIL
    first, second = (play("reset", "RESET", fault)["resets"] for _ in range(2))
    assert (first.verdict, second.verdict) == (Verdict.PASS, Verdict.PASS), first.message
    assert "already before" in second.message
    assert [each["gpus"] for each in play.seen("gpu_reset")] == [[2]]
    verbs = [(each["verb"], each["unit"]) for each in play.seen("service")]
    assert verbs == [("stop", each) for each in reversed(STOPPED)] + [("start", each) for each in STOPPED]
    verified = play("verify", "RESET", fault)
    assert (verified["gpu_errors"].verdict, verified["xid"].verdict) == (Verdict.PASS, Verdict.PASS)


@pytest.mark.nightly
def test_an_xid_of_before_the_reset_does_not_send_the_node_up_the_ladder(lab: Lab, play: Play) -> None:
    """The kernel's log goes on through a reset: only what it says since counts."""
    faults.inject(lab, "xid", NODE, {"code": 119, "gpu": 3})
    assert play("verify", "RESET")["xid"].verdict is Verdict.FAIL
    assert play("reset", "RESET", fault_key(NODE, "xid.119", gpu(3)))["resets"].verdict is Verdict.PASS
    assert play("verify", "RESET")["xid"].verdict is Verdict.PASS
    hardware.log_kernel(lab, NODE, "NVRM: Xid (PCI:0000:61:00): 119, pid=1, name=x, Timeout")
    assert play("verify", "RESET")["xid"].verdict is Verdict.FAIL


@pytest.mark.nightly
def test_a_fault_that_a_reset_does_not_clear_is_still_found(lab: Lab, play: Play) -> None:
    faults.inject(lab, "sram_errors", NODE, {"gpu": 7})
    assert play("reset", "RESET", fault_key(NODE, "gpu.sram_errors", gpu(7)))["resets"].verdict is Verdict.PASS
    assert play("verify", "RESET")["gpu_errors"].verdict is Verdict.FAIL


def test_nobodys_work_is_ended_and_nothing_is_reset_under_it(lab: Lab, play: Play) -> None:
    """It is UNKNOWN, and says who is there; so it does where a person has it reset whatever is found."""
    pid = jobs.start(lab, NODE)
    (kept,) = play("reset", "RESET", fault_key(NODE, "xid.48", gpu(1))).values()
    assert (kept.check, kept.verdict) == ("work_ended", Verdict.UNKNOWN)
    assert kept.message == "its work has not ended: 8 of 8 GPUs are in use by 8 processes; nothing was done"
    words = ("-e", f"proof_anyway={NODE}")
    found = play("reset", "RESET", fault_key(NODE, "xid.48", gpu(1)), words=words)["resets"]
    assert found.verdict is Verdict.UNKNOWN
    assert "in use by 8 processes; nothing was done" in found.message
    assert jobs.start(lab, NODE) == pid
    assert play.seen("gpu_reset") == play.seen("service") == []


def test_a_gpu_off_the_bus_cannot_be_reset(lab: Lab, play: Play) -> None:
    faults.inject(lab, "xid", NODE, {"code": 79, "gpu": 3})
    found = play("reset", "RESET", fault_key(NODE, "xid.79", gpu(3)))["resets"]
    assert [each.code for each in found.findings] == ["reset.gpu_lost"]
    assert play.seen("gpu_reset") == []


@pytest.mark.nightly
def test_a_service_that_failed_is_restarted(lab: Lab, play: Play) -> None:
    faults.inject(lab, "service_down", NODE, {})
    fault = fault_key(NODE, "fabric_manager.down", "Fabric Manager")
    assert play("verify", "RESTART", fault)["fabric_manager"].verdict is Verdict.FAIL
    found = play("reset", "RESTART", fault)["resets"]
    assert found.verdict is Verdict.PASS, found.message
    assert [each["verb"] for each in play.seen("service")] == ["reset-failed", "restart"]
    assert play("verify", "RESTART", fault)["fabric_manager"].verdict is Verdict.PASS


@pytest.mark.nightly
def test_a_service_that_does_not_start_fails(lab: Lab, play: Play) -> None:
    faults.inject(lab, "service_down", NODE, {"stays": 1})
    found = play("reset", "RESTART", fault_key(NODE, "fabric_manager.down", "Fabric Manager"))["resets"]
    assert found.verdict is Verdict.FAIL
    assert {each.code for each in found.findings} == {"reset.service_down"}


def test_a_fault_without_a_service_is_unknown(play: Play) -> None:
    found = play("reset", "RESTART", fault_key(NODE, "xid.48", gpu(1)))["resets"]
    assert found.verdict is Verdict.UNKNOWN
    assert "no service is known" in found.message


def test_check_mode_says_what_would_be_done(lab: Lab, play: Play) -> None:
    found = play("reset", "RESET", fault_key(NODE, "xid.48", gpu(1)), words=("--check",))["resets"]
    assert found.verdict is Verdict.UNKNOWN
    assert f"{gpu(1)} would be reset for xid.48" in found.message
    assert play.seen("gpu_reset") == []
