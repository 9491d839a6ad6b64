"""Reboots and power cycles through the real play: as gentle as it can be, with the BMC and without."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.lab import faults, hardware
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot
from tests.playbooks.test_resetting import NODE, Play

SECONDS = 3.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of one server that has booted, and takes a moment to."""
    made = up(tmp_path_factory.mktemp("reboots") / "lab", 1, boot_seconds=SECONDS)
    try:
        boot(made, NODE)
        yield made
    finally:
        down(made)


@pytest.fixture
def play(lab: Lab, tmp_path: Path) -> Play:
    with hardware.changing(lab, NODE) as state:
        state["last_reset"] -= 2.0  # its BMC tells whole seconds
    return Play(lab, tmp_path)


def sent(play: Play) -> list[str]:
    """Return what the node's power was told since the stay began."""
    return [each["action"] for each in play.seen("power")]


@pytest.mark.parametrize(
    ("remedy", "action"),
    [
        ("REBOOT", "GracefulRestart"),
        pytest.param("POWER_CYCLE", "PowerCycle", marks=pytest.mark.nightly),
    ],
)
def test_a_remedy_is_what_the_bmc_is_asked_for(play: Play, remedy: str, action: str) -> None:
    """The fault is looked for afterwards, in the same state."""
    assert play("reboot", remedy)["rebooted"].verdict is Verdict.PASS
    assert sent(play) == [action]
    assert play("reboot", remedy)["rebooted"].verdict is Verdict.PASS
    assert sent(play) == [action]


def test_without_an_answer_of_its_bmc_a_node_reboots_itself_once(lab: Lab, play: Play) -> None:
    faults.inject(lab, "bmc_down", NODE, {})
    try:
        results = [play("reboot", "REBOOT")["rebooted"].verdict for _ in range(2)]
    finally:
        faults.fix(lab, "bmc_down", NODE)
    assert results == [Verdict.PASS, Verdict.PASS]
    assert len(play.seen("reboot")) == 1
    assert sent(play) == ["GracefulRestart"]


def test_its_power_nobody_takes_away_without_its_bmc(lab: Lab, play: Play) -> None:
    """There is no verdict, and it is tried again: the node itself cannot do it."""
    faults.inject(lab, "bmc_down", NODE, {})
    try:
        assert play("reboot", "POWER_CYCLE") == {}
    finally:
        faults.fix(lab, "bmc_down", NODE)
    assert sent(play) == []


@pytest.mark.nightly
def test_a_node_without_a_bmc_in_the_source_of_truth_reboots_itself(play: Play) -> None:
    words = ("-e", json.dumps({"fleet_bmc_url": ""}))
    assert play("reboot", "REBOOT", words=words)["rebooted"].verdict is Verdict.PASS
    assert len(play.seen("reboot")) == 1


@pytest.mark.nightly
def test_standby_power_is_taken_away_where_the_profile_says_so(play: Play) -> None:
    """All of it goes, the BMC's own as well, and the node comes back."""
    words = ("-e", json.dumps({"network_boot_ac": True}))
    assert play("reboot", "POWER_CYCLE", words=words)["rebooted"].verdict is Verdict.PASS
    assert len(play.seen("firmware_ac_drain")) == 1
