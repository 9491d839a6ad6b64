"""Faults go in and out by name, twice is the same as once, and what is taken out leaves nothing behind."""

import json
from typing import Any

import pytest

from fleet_runner.lab import faults, hardware, plan
from fleet_runner.lab.folder import Lab, LabError, read
from tests.lab.bench import boot, shell


def everything(lab: Lab, node: str) -> tuple[Any, Any]:
    """Return all that a fault could have changed."""
    return hardware.state_of(lab, node), read(lab.fabric)


@pytest.mark.parametrize("fault", faults.FAULTS)
def test_a_fault_that_is_fixed_leaves_nothing_behind(lab: Lab, node: str, fault: str) -> None:
    before = everything(lab, node)
    options = faults.inject(lab, fault, node, {})
    once = everything(lab, node)
    assert once != before
    assert faults.inject(lab, fault, node, {}) == options
    assert everything(lab, node) == once
    assert faults.fix(lab, fault, node)
    assert everything(lab, node) == before
    assert not faults.fix(lab, fault, node)
    assert everything(lab, node) == before


def test_other_options_replace_a_fault(lab: Lab, node: str) -> None:
    before = everything(lab, node)
    faults.inject(lab, "swapped_cables", node, {"rail": 0, "with_rail": 1})
    faults.inject(lab, "swapped_cables", node, {"rail": 3, "with_rail": 7})
    moved = {tuple(cable) for cable in read(lab.fabric)["cables"]} - {tuple(plug) for plug in plan.cables(2)}
    assert moved == {(node, "ib3", "leaf-8", "1"), (node, "ib7", "leaf-4", "1")}
    faults.fix(lab, "swapped_cables", node)
    assert everything(lab, node) == before


def test_cables_are_exchanged_with_the_same_rail_of_another_node(lab: Lab, node: str) -> None:
    faults.inject(lab, "swapped_cables", node, {"rail": 4, "with": "gpu-02"})
    cables = {tuple(cable) for cable in read(lab.fabric)["cables"]}
    assert {(node, "ib4", "leaf-5", "2"), ("gpu-02", "ib4", "leaf-5", "1")} <= cables


def test_the_uplinks_of_two_leaves_are_exchanged_at_the_spine(lab: Lab, node: str) -> None:
    faults.inject(lab, "swapped_uplinks", node, {"rail": 0, "with_rail": 1})
    moved = {tuple(cable) for cable in read(lab.fabric)["cables"]} - {tuple(plug) for plug in plan.cables(2)}
    assert moved == {("leaf-1", "33", "spine-1", "3"), ("leaf-2", "33", "spine-1", "1")}


def test_an_xid_79_takes_the_gpu_away_until_the_next_boot(lab: Lab, node: str) -> None:
    faults.inject(lab, "xid", node, {"code": 79, "gpu": 3})
    log = shell(lab, node, "dmesg --time-format iso").stdout
    assert "NVRM: Xid (PCI:0000:61:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus." in log
    assert len(shell(lab, node, "nvidia-smi -L").stdout.splitlines()) == 7
    hardware.power(lab, node, "ForceRestart")
    assert "Xid" not in shell(lab, node, "dmesg --time-format iso").stdout
    assert len(shell(lab, node, "nvidia-smi -L").stdout.splitlines()) == 8
    assert faults.injected(lab, node) == {}


def test_a_node_stops_at_the_milestone_it_was_told(lab: Lab) -> None:
    faults.inject(lab, "no_boot", "gpu-02", {"at": "dhcp"})
    hardware.power(lab, "gpu-02", "On")
    assert not hardware.up(lab, "gpu-02")
    faults.inject(lab, "no_boot", "gpu-02", {"at": "phone_home"})
    boot(lab, "gpu-02")
    answer = shell(lab, "gpu-02", "cloud-init status --format json")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["status"] == "error"
    faults.fix(lab, "no_boot", "gpu-02")
    boot(lab, "gpu-02")
    assert json.loads(shell(lab, "gpu-02", "cloud-init status --format json").stdout)["status"] == "done"


@pytest.mark.parametrize(
    ("fault", "options", "says"),
    [
        ("gremlins", {}, "no fault named 'gremlins'"),
        ("bmc_down", {"gpu": 1}, "bmc_down takes no options, not --gpu"),
        ("hot_gpu", {"gpu": 8}, "--gpu is 8, expected 0 to 7"),
        ("no_boot", {"at": "lunch"}, "expected one of dhcp, script, kernel, cloud_init, phone_home, ssh"),
        ("wrong_firmware", {"component": "Toaster"}, "no component 'Toaster'"),
        ("swapped_cables", {"rail": 1, "with_rail": 1}, "cannot be exchanged with itself"),
        ("swapped_cables", {"with": "gpu-77"}, "no node named 'gpu-77'"),
        ("tool_hang", {"tool": "vi"}, "no tool 'vi'"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    lab: Lab, fault: str, options: dict[str, Any], says: str
) -> None:
    before = everything(lab, "gpu-01")
    with pytest.raises(LabError, match=says):
        faults.inject(lab, fault, "gpu-01", options)
    assert everything(lab, "gpu-01") == before
