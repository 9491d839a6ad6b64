"""Which service is restarted for a fault, and which GPUs are reset together."""

from collections.abc import Mapping
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import fault_key
from fleet_runner.core.checks.parsers import nvidia_smi
from fleet_runner.core.checks.parsers.nvidia_smi import Report
from fleet_runner.core.checks.parsers.systemctl import Unit
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.reset import plan
from fleet_runner.core.faults.reset.plan import FABRIC_MANAGER, Fault, Order
from tests.core.checks.catalogue.judging import SMI

FIRST, SECOND = (f"GPU {gpu.pci}" for gpu in nvidia_smi.parse(SMI).gpus)
PROFILE: Mapping[str, Any] = {"services": {"active": ["nvidia-dcgm.service", "munge"]}}


def unit(active: str = "active", load: str = "loaded") -> Unit:
    """Return Fabric Manager as systemd shows it."""
    return Unit(FABRIC_MANAGER, frozenset([FABRIC_MANAGER]), load, active, "running", "success", 0, "")


def report(model: str = "NVIDIA H100 80GB HBM3", *, text: str = SMI) -> Report:
    """Return what nvidia-smi says of two GPUs."""
    return nvidia_smi.parse(text.replace("NVIDIA H100 80GB HBM3", model))


def test_a_fault_is_read_from_its_key_and_what_is_no_key_is_about_nothing() -> None:
    keys = [fault_key("gpu-01", "xid.48", FIRST), "nonsense", fault_key("gpu-01", "fs.full", "/raid/a")]
    assert plan.named(keys) == (Fault("xid.48", FIRST), Fault("fs.full", "/raid/a"))


@pytest.mark.parametrize(
    ("fault", "restarted"),
    [
        (Fault("fabric_manager.down", "Fabric Manager"), FABRIC_MANAGER),
        (Fault("gpu.fabric_state", FIRST), FABRIC_MANAGER),
        (Fault("gpu.persistence", FIRST), "nvidia-persistenced.service"),
        (Fault("service.down", "nvidia-dcgm.service"), "nvidia-dcgm.service"),
        (Fault("service.down", "munge"), "munge.service"),
    ],
)
def test_the_service_of_a_fault_is_restarted(fault: Fault, restarted: str) -> None:
    assert plan.restart([fault, fault], PROFILE).units == (restarted,)


@pytest.mark.parametrize(
    ("fault", "profile"),
    [
        (Fault("xid.48", FIRST), PROFILE),
        (Fault("service.down", "sshd.service"), PROFILE),
        (Fault("service.down", "nvidia-dcgm.service"), {}),
        (Fault("service.down", "-H tcp://x; rm.service"), {"services": {"active": ["-H tcp://x; rm.service"]}}),
    ],
)
def test_no_other_service_is_restarted_whatever_a_fault_names(fault: Fault, profile: Mapping[str, Any]) -> None:
    """A fault comes from outside; a unit that the profile does not list is nobody's to restart."""
    with pytest.raises(EvidenceError, match="no service is known"):
        plan.restart([fault], profile)


def test_without_any_fault_nothing_is_known_to_be_restarted() -> None:
    with pytest.raises(EvidenceError, match=r"these faults \(none\)"):
        plan.restart([], PROFILE)


def test_from_ampere_on_the_named_gpus_are_reset_alone() -> None:
    """With Fabric Manager up, or where there is none."""
    faults = [Fault("xid.48", SECOND), Fault("gpu.uncorrectable", f"{SECOND} (SXM4)")]
    for known in (unit(), unit(load="not-found", active="inactive"), None):
        found = plan.reset(faults, report(), known)
        assert found.gpus == (SECOND.removeprefix("GPU "),)
        assert found.gone == ()


@pytest.mark.parametrize(
    ("faults", "found", "known", "why"),
    [
        ([], report(), unit(), "not every fault names a GPU"),
        ([Fault("xid.48", FIRST), Fault("node.x", "node")], report(), unit(), "not every fault names a GPU"),
        ([Fault("xid.48", "GPU ")], report(), unit(), "not every fault names a GPU"),
        ([Fault("xid.48", "GPU seven")], report(), unit(), "not every fault names a GPU"),
        ([Fault("sxid.11001", FIRST)], report(), unit(), "an NVSwitch is among them"),
        ([Fault("xid.48", FIRST)], report("Tesla V100-SXM2-32GB"), unit(), "before Ampere"),
        ([Fault("xid.48", FIRST)], report(), unit("failed"), "Fabric Manager does not run"),
    ],
)
def test_else_all_gpus_are_reset_in_one_command(faults: list[Fault], found: Report, known: Unit, why: str) -> None:
    """As NVIDIA's manual has it: nvidia-smi would refuse to reset only some of those that NVLink connects."""
    made = plan.reset(faults, found, known)
    assert made.gpus == ()
    assert why in made.because


def test_a_gpu_that_the_driver_does_not_reach_is_gone() -> None:
    """Nothing is reset then: the driver cannot, and the others have no fault."""
    gone = plan.reset([Fault("xid.79", "GPU 0000:ff:00.0")], report(), unit())
    lost = plan.reset(
        [Fault("xid.79", FIRST)], report(text=SMI.replace("<gpu_util>0 %", "<gpu_util>GPU is lost")), None
    )
    assert gone.gone == ("0000:ff:00.0",)
    assert lost.gone == (FIRST.removeprefix("GPU "),)


def test_an_order_is_plain_json() -> None:
    made = Order(Remedy.RESET, gpus=("0000:1b:00.0",), because="x")
    assert made.to_json() == {"remedy": "RESET", "units": [], "gpus": ["0000:1b:00.0"], "because": "x", "gone": []}
