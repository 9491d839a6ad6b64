"""Do the GPUs' own error counters and flags ask for something?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared import amd_errors
from fleet_runner.core.checks.shared.gpus import answering, described, is_amd
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.faults.xid import RECOVERY

PARITY_MAX, SECDED_MAX = 4, 2
"""Uncorrectable SRAM errors of one bank beyond which the GPU goes back (NVIDIA's A100 memory error management)."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Look at row remapping first: it says more than any count of errors."""
    if is_amd(readings):
        return amd_errors.judge(readings, expected)
    gpus = answering(readings)
    findings = [finding for gpu in gpus for finding in _findings(gpu, expected)]
    unread = [text for gpu in gpus for text in _unread(gpu)]
    observed = {
        gpu.pci: {"uncorrectable": gpu.memory.uncorrectable, "remap_pending": gpu.memory.remap_pending}
        for gpu in gpus
    }
    passed = f"{len(gpus)} GPUs: no row remap pending or failed, no uncorrectable errors beyond the limits"
    return unless_unread(conclude("gpu_errors", findings, passed, {"gpus": observed}), unread)


def _findings(gpu: Gpu, expected: Expected) -> Iterator[Finding]:
    name, memory = described(gpu, expected), gpu.memory
    if memory.remap_failed:
        yield _finding(gpu, expected, "remap_failed", (Remedy.RMA, f"{name} could not remap a memory row"))
    if memory.unrepairable:
        yield _finding(gpu, expected, "unrepairable", (Remedy.RMA, f"{name} says its memory cannot be repaired"))
    for what, pending, told in (
        ("remap_pending", memory.remap_pending, "a row remap"),
        ("retirement_pending", memory.retirement_pending, "the retirement of memory pages"),
        ("repair_pending", memory.repair_pending, "the repair of a memory channel or a core"),
    ):
        if pending:
            yield _finding(gpu, expected, what, (Remedy.RESET, f"{name} has {told} pending until its reset"))
    if memory.sram_over_threshold:
        yield _finding(
            gpu, expected, "sram_threshold", (Remedy.RMA, f"{name} says its SRAM errors are over their limit")
        )
    elif (memory.sram_parity or 0) > PARITY_MAX or (memory.sram_secded or 0) > SECDED_MAX:
        # These are sums over all banks while the limits are per bank: a person finds out with a field diagnostic.
        counts = (
            f"parity {memory.sram_parity or 0} (limit {PARITY_MAX}), SECDED {memory.sram_secded or 0} ({SECDED_MAX})"
        )
        yield _finding(
            gpu, expected, "sram_errors", (Remedy.TRIAGE, f"{name} has uncorrectable SRAM errors: {counts}")
        )
    if memory.uncorrectable:
        told = f"{name} had {memory.uncorrectable} uncorrectable memory errors since its driver was loaded"
        yield _finding(gpu, expected, "uncorrectable", (Remedy.RECORD, told))
    asked = RECOVERY.get(gpu.recovery, Remedy.WATCH)
    if asked is not Remedy.RECORD and not (
        memory.remap_pending or memory.retirement_pending or memory.repair_pending
    ):
        yield _finding(gpu, expected, "recovery", (asked, f"the driver asks for {gpu.recovery!r:.40} of {name}"))


def _finding(gpu: Gpu, expected: Expected, what: str, answer: tuple[Remedy, str]) -> Finding:
    remedy, message = answer
    which = f"{gpu.pci}, serial {gpu.serial or 'unknown'}"
    steps = {
        Remedy.RMA: (f"Confirm it with a field diagnostic of GPU {which}.", "Send the GPU back and put another in."),
        Remedy.TRIAGE: (f"Run a field diagnostic of GPU {which}.",),
    }.get(remedy, ())
    return about(expected.node, f"gpu.{what}", component(gpu))(message=message, remedy=remedy, steps=steps)


def _unread(gpu: Gpu) -> Iterator[str]:
    memory = gpu.memory
    # Before Ampere there are no rows to remap: pages are retired instead.
    if memory.retirement_pending is None and (memory.remap_pending is None or memory.remap_failed is None):
        yield f"{component(gpu)} does not report its row-remap state (with MIG on it never does)"
    if memory.uncorrectable is None:
        yield f"{component(gpu)} counts no memory errors; is its ECC on?"


CHECK = Check(
    name="gpu_errors",
    question="Is any GPU's memory worn, waiting for a reset, or beyond its error limits?",
    reads=("nvidia_smi",),
    judge=judge,
    also=("amd_smi_bad_pages",),
    codes=(
        Code("gpu.remap_failed", (Remedy.RMA,), "a memory row could not be remapped"),
        Code("gpu.remap_pending", (Remedy.RESET,), "a memory row is to be remapped at the next reset"),
        Code("gpu.unrepairable", (Remedy.RMA,), "the GPU says that its memory cannot be repaired"),
        Code("gpu.retirement_pending", (Remedy.RESET,), "memory pages are to be retired at the next reset"),
        Code("gpu.repair_pending", (Remedy.RESET,), "a channel or core is to be repaired at the next reset"),
        Code("gpu.sram_threshold", (Remedy.RMA,), "the GPU says that its SRAM errors are over their limit"),
        Code("gpu.sram_errors", (Remedy.TRIAGE,), "more uncorrectable SRAM errors than 4 (parity) or 2 (SECDED)"),
        Code("gpu.uncorrectable", (Remedy.RECORD,), "uncorrectable memory errors since the driver was loaded"),
        *amd_errors.CODES,
        Code("gpu.recovery", (Remedy.WATCH, Remedy.RESET, Remedy.REBOOT), "the driver asks for a recovery action"),
    ),
    source="NVIDIA's A100 memory error management: row remapping, limits of SRAM errors, what sends a GPU back."
    " AMD: the driver's documents on RAS, and amd-smi's on its limit of bad pages.",
)
