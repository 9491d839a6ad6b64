"""Faults go in and out by name, twice is the same as once, and what is taken out leaves nothing behind."""

import json
from typing import Any

import pytest

from fleet_runner.lab import faults, hardware, jobs, plan
from fleet_runner.lab.folder import Lab, LabError, read
from tests.lab.bench import boot, shell, wait


def everything(lab: Lab, node: str) -> tuple[Any, Any]:
    """Return all that a fault could have changed."""
    return hardware.state_of(lab, node), read(lab.fabric)


@pytest.mark.parametrize("fault", sorted(faults.FAULTS.keys() - faults.RAIL_FAULTS.keys()))
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


def test_a_reset_clears_what_waits_for_one_and_nothing_else(lab: Lab, node: str) -> None:
    """Of the GPUs that are reset; what a reset cannot mend stays."""
    boot(lab, node)
    faults.inject(lab, "row_remap", node, {"gpu": 2})
    faults.inject(lab, "sram_errors", node, {"gpu": 2})
    other = shell(lab, node, "nvidia-smi --gpu-reset --id=0000:1b:00.0").stdout
    assert "GPU 0000:1b:00.0 was successfully reset." in other
    assert set(faults.injected(lab, node)) == {"row_remap", "sram_errors"}
    assert "All done." in shell(lab, node, "nvidia-smi --gpu-reset").stdout
    assert set(faults.injected(lab, node)) == {"sram_errors"}


def test_a_gpu_that_is_in_use_or_gone_is_not_reset(lab: Lab, node: str) -> None:
    boot(lab, node)
    faults.inject(lab, "missing_gpu", node, {"gpu": 5})
    gone = shell(lab, node, f"nvidia-smi --gpu-reset --id=0000:{plan.GPU_BUSES[5].lower()}:00.0")
    assert (gone.returncode, "No devices were found" in gone.stdout) == (6, True)
    faults.inject(lab, "row_remap", node, {"gpu": 2})
    jobs.start(lab, node)
    held = shell(lab, node, "nvidia-smi --gpu-reset")
    jobs.stop(lab, node)
    assert (held.returncode, "In use by another client" in held.stdout) == (255, True)
    assert "row_remap" in faults.injected(lab, node)


def test_a_service_that_failed_runs_again_once_it_is_restarted_unless_it_stays_broken(lab: Lab, node: str) -> None:
    boot(lab, node)
    state = "systemctl show nvidia-fabricmanager --property=ActiveState"
    faults.inject(lab, "service_down", node, {"stays": 1})
    assert shell(lab, node, "systemctl restart nvidia-fabricmanager").returncode == 1
    assert shell(lab, node, state).stdout == "ActiveState=failed\n"
    faults.inject(lab, "service_down", node, {})
    assert shell(lab, node, "systemctl restart nvidia-fabricmanager").returncode == 0
    assert shell(lab, node, state).stdout == "ActiveState=active\n"
    assert shell(lab, node, "systemctl stop nvidia-dcgm.service").returncode == 0
    shown = shell(lab, node, "systemctl show --property Id,LoadState,ActiveState nope.service '*.service'").stdout
    assert "Id=nope.service\nLoadState=not-found" in shown
    assert "Id=nvidia-dcgm.service\nLoadState=loaded\nActiveState=inactive" in shown
    assert shell(lab, node, "systemctl start nope").returncode == 5
    assert shell(lab, node, "systemctl mask nope").returncode == 1


def test_a_node_that_is_told_to_reboot_boots(lab: Lab, node: str) -> None:
    """As its operating system does it, without its BMC."""
    boot(lab, node)
    before = hardware.state_of(lab, node)["boot"]["count"]
    assert shell(lab, node, "systemctl reboot").returncode == 0
    wait(lambda: hardware.state_of(lab, node)["boot"]["count"] != before)
    assert hardware.state_of(lab, node)["boot"]["count"] == before + 1


def test_what_the_kernels_log_is_told_stands_there_until_the_next_boot(lab: Lab, node: str) -> None:
    boot(lab, node)
    shell(lab, node, 'echo "fleet-runner: reset of all GPUs" >> "$FLEET_ROOT/dev/kmsg"')
    assert shell(lab, node, "dmesg").stdout.endswith(" fleet-runner: reset of all GPUs\n")
    hardware.power(lab, node, "ForceRestart")
    boot(lab, node)
    assert "fleet-runner" not in shell(lab, node, "dmesg").stdout
