"""How findings name a GPU that a test under load knows only by a number of its own."""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.check import Readings
from fleet_runner.core.checks.parsers import nvidia_smi
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu
from fleet_runner.core.checks.shared.gpus import presence

BY_PCI = ("env", "CUDA_DEVICE_ORDER=PCI_BUS_ID")
"""Before a command that uses CUDA: it then numbers GPUs as nvidia-smi does, not the fastest first."""


def listed(readings: Readings) -> tuple[Gpu, ...]:
    """Return the node's GPUs in the order in which tools number them; none unless nvidia-smi tells them all."""
    if "nvidia_smi" not in readings:
        return ()
    try:
        report = presence(readings)
    except EvidenceError:
        return ()
    whole = report.complete and not report.lost and not any(gpu.lost for gpu in report.gpus)
    return tuple(sorted(report.gpus, key=lambda gpu: gpu.pci)) if whole else ()


def component(gpus: tuple[Gpu, ...], number: int, serial: str = "") -> str:
    """Return "GPU 0000:9b:00.0" for the GPU of a serial number, else of a number; "GPU 3" where nothing tells it.

    GPUs of one board share its serial number: of them it is the one with that number, if there is one.
    """
    same = [gpu for gpu in gpus if serial in {"", gpu.serial}]
    if len(same) > 1 or not serial:
        same = [gpu for gpu in gpus[number : number + 1] if gpu in same]
    return nvidia_smi.component(same[0]) if same else f"GPU {number}"
