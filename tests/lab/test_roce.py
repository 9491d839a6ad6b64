"""A node of the lab with a RoCE port, for a profile that asks for it: it passes, and each fault is found."""

import os
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.reads import READS, gathered, roce_interfaces, spread
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.lab import faults
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.tools.ssh import environment
from fleet_runner.lab.up import up
from fleet_runner.lab.wrappers import TOOLS_DIR
from tests.lab.bench import boot, shell
from tests.lab.test_stand_ins_satisfy_checks import COLLECT

NODE = "gpu-01"
PROFILE: dict[str, Any] = {
    "roce": {
        "interfaces": {"mlx5_8": "eth0"},
        "mtu": 9000,
        "pfc": [3],
        "trust": "dscp",
        "dscp": {26: 3},
        "ecn": [3],
        "fec": ["RS"],
    }
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of one server that is up."""
    made = up(tmp_path_factory.mktemp("roce") / "lab", 1, boot_seconds=0.0)
    try:
        boot(made, NODE)
        yield made
    finally:
        down(made)


def judged(lab: Lab, before: Result | None = None) -> Result:
    """Ask the node as the module on it does, and judge; `before` is a look of an hour ago."""
    check = CHECKS["roce_ports"]
    asked = [each for name in check.reads for each in spread(READS[name], (), (), roce_interfaces(PROFILE))]
    with patch.dict(os.environ, environment(str(lab.root), NODE, TOOLS_DIR), clear=True):
        found = {raw["name"]: Reading.from_json(raw) for raw in COLLECT.collect([each.to_json() for each in asked])}
    run_data: dict[str, Any] = {"now": time.time()}
    if before is not None:
        at = time.time() - 3600
        looks = [look | {"at": at} for look in before.observed["looks"]]
        run_data["before"] = {"roce_ports": {"at": at, "observed": {**before.observed, "looks": looks}}}
    readings = {name: gathered(READS[name], found) for name in check.reads}
    return run(check, readings, Expected(NODE, PROFILE, run=run_data))


def test_a_healthy_port_passes_twice_and_without_the_section_nobody_asks(lab: Lab) -> None:
    first = judged(lab)
    assert (first.verdict, first.findings) == (Verdict.PASS, ()), first.message
    second = judged(lab, first)
    assert (second.verdict, second.findings) == (Verdict.PASS, ()), second.message
    assert second.observed["grown"]["eth0/rx_bits_phy"] > 0
    assert run(CHECKS["roce_ports"], {}, Expected(NODE, {"limits": {}})).verdict is Verdict.SKIPPED


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("pfc_off", {("roce.pfc", Remedy.WATCH)}),
        ("wrong_mtu", {("roce.mtu", Remedy.WATCH)}),
        ("lossy_cable", {("roce.symbol_errors", Remedy.RECABLE)}),
        ("pause_storm", {("roce.pause_storm", Remedy.WATCH), ("roce.lossless_drops", Remedy.WATCH)}),
    ],
)
def test_each_fault_is_found(lab: Lab, fault: str, found: set[tuple[str, Remedy]]) -> None:
    healthy = judged(lab)
    faults.inject(lab, fault, NODE, {})
    try:
        result = judged(lab, healthy)
    finally:
        faults.fix(lab, fault, NODE)
    assert result.verdict is Verdict.FAIL
    assert {(finding.code, finding.remedy) for finding in result.findings} == found, result.message
    assert len(result.findings) == len(found)
    assert faults.FAULTS[fault].seen_by == ("roce_ports",)


@pytest.mark.parametrize("command", ["mlnx_qos -i eth9", "dcb -j pfc show dev eth9", "ethtool -S eth9"])
def test_the_stand_ins_refuse_interfaces_that_are_not_there(lab: Lab, command: str) -> None:
    done = shell(lab, NODE, command)
    assert done.returncode
    assert (done.stdout, bool(done.stderr)) == ("", True)
