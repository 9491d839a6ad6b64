"""Before a play acts it proves the machine and that its work has ended: real plays on a lab's node."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.lab import faults, hardware, jobs
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot, wait
from tests.playbooks.test_resetting import NODE, Play

ACTS = ("provision", "reboot", "reset", "firmware", "wipe")
OTHER = "LAB-S99999"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of one server that has booted."""
    made = up(tmp_path_factory.mktemp("proofs") / "lab", 1, boot_seconds=0.0)
    try:
        boot(made, NODE)
        yield made
    finally:
        down(made)


@pytest.fixture
def play(lab: Lab, tmp_path: Path) -> Iterator[Play]:
    """A stay that begins a while after the last boot; the BMC tells whole seconds."""
    with hardware.changing(lab, NODE) as state:
        state["last_reset"] -= 2.0
    yield Play(lab, tmp_path)
    jobs.stop(lab, NODE)
    for each in list(faults.injected(lab, NODE)):
        faults.fix(lab, each, NODE)


def done(play: Play) -> list[str]:
    """Return what was done to the node in this stay, as the lab saw it."""
    kinds = ("power", "reboot", "gpu_reset", "service", "firmware", "erase", "job_stop")
    return [kind for kind in kinds for _ in play.seen(kind)]


def described(**device: Any) -> tuple[str, ...]:
    """Return the words by which the source of truth says something else of the node."""
    return ("-e", json.dumps({"fleet_device": {"name": NODE, "interfaces": [], **device}}))


def only(results: dict[str, Result], check: str, verdict: Verdict) -> str:
    """Return what the one result says that there is."""
    assert {name: each.verdict for name, each in results.items()} == {check: verdict}
    return results[check].message


@pytest.mark.parametrize("stage", ACTS)
def test_nothing_is_done_to_a_machine_with_another_serial_number(lab: Lab, play: Play, stage: str) -> None:
    """Whoever swapped two machines, or two addresses, is told so."""
    faults.inject(lab, "other_serial", NODE, {"serial": OTHER})
    said = only(play(stage, "REBOOT" if stage == "reboot" else "RESET"), "machine_identity", Verdict.FAIL)
    assert f"its BMC says serial number {OTHER}, the source of truth LAB-S00001" in said
    assert f"its system says serial number {OTHER}" in said
    assert done(play) == []


@pytest.mark.parametrize("stage", ACTS)
def test_no_work_is_ended_by_any_play(lab: Lab, play: Play, stage: str) -> None:
    """A tenant's job goes on, whatever led to the play."""
    pid = jobs.start(lab, NODE)
    said = only(play(stage, "POWER_CYCLE" if stage == "reboot" else "RESET"), "work_ended", Verdict.UNKNOWN)
    assert said.startswith("its work has not ended: 8 of 8 GPUs are in use")
    assert jobs.start(lab, NODE) == pid
    assert done(play) == []


def test_a_machine_of_which_nobody_tells_anything_is_not_touched(lab: Lab, play: Play) -> None:
    """Its BMC does not answer, and the source of truth knows it by nothing; a person may do it all the same."""
    faults.inject(lab, "bmc_down", NODE, {})
    blank = described(serial="")
    said = only(play("reboot", "REBOOT", words=blank), "machine_identity", Verdict.UNKNOWN)
    assert "the source of truth has no serial number and no MAC address of it" in said
    assert done(play) == []
    assert play("reboot", "REBOOT", words=(*blank, "-e", f"proof_anyway={NODE}"))["rebooted"].verdict is Verdict.PASS
    assert done(play) == ["power", "reboot"]
    wait(lambda: hardware.up(lab, NODE))


def test_its_mac_address_proves_a_machine_without_a_serial_number(lab: Lab, play: Play) -> None:
    """As in a source of truth that nobody has typed serial numbers into."""
    here = described(interfaces=[{"name": "eth0", "kind": "1000base-t", "mac": "b8:3f:d2:1e:00:01"}])
    assert play("reboot", "REBOOT", words=here)["rebooted"].verdict is Verdict.PASS
    assert done(play) == ["power"]
    wait(lambda: hardware.up(lab, NODE))


def test_a_node_that_is_dead_is_proven_by_its_bmc(lab: Lab, play: Play) -> None:
    """It answers nothing, and is not waited for before its power is taken away."""
    with hardware.changing(lab, NODE) as state:
        state["boot"]["ready"] = None
    assert play("reboot", "POWER_CYCLE")["rebooted"].verdict is Verdict.PASS
    assert [each["action"] for each in play.seen("power")] == ["PowerCycle"]
    wait(lambda: hardware.up(lab, NODE))
