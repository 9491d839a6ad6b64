"""What the checks of GPUs share: which report counts, whoever made them, and how a GPU is named to people."""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import text_of
from fleet_runner.core.checks.check import Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import amd_smi, files, nvidia_smi, uptime
from fleet_runner.core.inventory import profile

BUSY_PERCENT = 50.0
"""Of its time at work, from which on a GPU has left its power saving: what only shows under load is judged then."""

SETTLING_SECONDS = 600.0
"""After a boot, until which Fabric Manager has started and GPUs have joined their fabric."""

INFOROM_CORRUPTED = 14
"""nvidia-smi's exit status for a whole report with a warning about an InfoROM (its manual, return value)."""


def presence(readings: Readings) -> nvidia_smi.Report:
    """Return a report that may have lost GPUs or none at all: nvidia-smi exits non-zero to say just that."""
    if is_amd(readings):
        return _of_amd(readings)
    reading = readings["nvidia_smi"]
    if not reading.text.strip():
        text_of(reading)
    report = nvidia_smi.parse(reading.text)
    if not report.complete:
        return report
    if report.gpus and not report.lost and reading.rc != INFOROM_CORRUPTED:
        text_of(reading)
    return nvidia_smi.whole(reading.text)


def is_amd(readings: Readings) -> bool:
    """Whether AMD's tool was asked."""
    return "amd_smi_static" in readings


def _of_amd(readings: Readings) -> nvidia_smi.Report:
    static, metric, process = (text_of(readings[f"amd_smi_{each}"]) for each in ("static", "metric", "process"))
    return amd_smi.parse(static, metric, process, files.parse(readings["kfd_processes"].text))


def answering(readings: Readings) -> tuple[nvidia_smi.Gpu, ...]:
    """Return the GPUs that answer; EvidenceError when none does or the report is not whole."""
    report = presence(readings)
    if not report.complete:
        return nvidia_smi.whole(readings["nvidia_smi"].text).gpus
    gpus = tuple(gpu for gpu in report.gpus if not gpu.lost)
    if not gpus:
        raise EvidenceError("nvidia-smi sees no GPU that answers; look at parts_gpu first")
    return gpus


def busy(gpu: nvidia_smi.Gpu) -> bool:
    """Whether a GPU works hard enough for its clocks and its link to be up; with MIG it is not told, and false."""
    return (gpu.used_percent or 0.0) >= BUSY_PERCENT


def settling(readings: Readings) -> bool:
    """Whether the node booted so lately that GPUs and switches may still find one another; no where nobody tells."""
    reading = readings.get("uptime")
    if reading is None or reading.rc != 0:
        return False
    try:
        return reading.at - uptime.parse(reading.text) < SETTLING_SECONDS
    except EvidenceError:
        return False


def described(gpu: nvidia_smi.Gpu, expected: Expected) -> str:
    """Return "GPU 0000:9b:00.0 (SXM4, serial 165...)": the slot where the source of truth knows the serial.

    GPUs of one board share its serial (a GB200's two do): then it is one of their slots, "SXM1 or SXM2".
    """
    if gpu.serial is None:
        return nvidia_smi.component(gpu)
    slots = [part.slot for part in profile.device_parts(expected.device, "gpu") if part.serial == gpu.serial]
    slot = f"{' or '.join(filter(None, slots))}, " if any(slots) else ""
    return f"{nvidia_smi.component(gpu)} ({slot}serial {gpu.serial})"
