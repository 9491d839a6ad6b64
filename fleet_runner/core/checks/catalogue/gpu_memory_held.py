"""Is memory of a GPU held that no process uses?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared import previous_look
from fleet_runner.core.checks.shared.gpus import answering, described
from fleet_runner.core.checks.shared.previous_look import Earlier
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "gpu_memory_held", "gpu_memory_held"


def judge(readings: Readings, expected: Expected) -> Result:
    """Look at GPUs without processes and without work: what they still hold, the next tenant lacks."""
    most = profile.section(expected.profile, SECTION).number("idle_mib_max")
    gpus, before = answering(readings), previous_look.look(expected, NAME)
    findings = [finding for gpu in gpus for finding in _findings(gpu, most, before, expected)]
    unread = [
        f"{component(gpu)} does not report how much of its memory is used" for gpu in gpus if gpu.used_mib is None
    ]
    held = {gpu.pci: gpu.used_mib if _idle(gpu) else None for gpu in gpus}
    passed = f"no GPU without work holds more than {most:g} MiB"
    return unless_unread(conclude(NAME, findings, passed, {"held_mib": held}), unread)


def _idle(gpu: Gpu) -> bool:
    """Whether nothing runs on a GPU; with MIG on, or in a container's view, its processes may be hidden."""
    return gpu.processes == 0 and gpu.used_percent == 0 and gpu.settings.mig is not True


def _findings(gpu: Gpu, most: float, before: Earlier | None, expected: Expected) -> Iterator[Finding]:
    """A process that has just ended frees its memory within seconds; what is held at two looks stays."""
    if not _idle(gpu) or gpu.used_mib is None or gpu.used_mib <= most:
        return
    then = before.again("held_mib", gpu.pci) if before else None
    # Only NVIDIA's GPUs can be reset one by one here.
    again = isinstance(then, int | float) and then > most and profile.gpu_maker(expected.profile) == "NVIDIA"
    yield about(expected.node, "gpu.memory_held", component(gpu))(
        message=f"{described(gpu, expected)} holds {gpu.used_mib:g} MiB though no process uses it, expected at most"
        f" {most:g}; a reset frees it",
        remedy=Remedy.RESET if again else Remedy.WATCH,
    )


CHECK = Check(
    name=NAME,
    question="Is the memory of every unused GPU free?",
    reads=("nvidia_smi",),
    judge=judge,
    remembers=True,
    section=SECTION,
    codes=(
        Code("gpu.memory_held", (Remedy.WATCH, Remedy.RESET), "memory held without a process, at one check or two"),
    ),
    source="GCM's check of memory still used between jobs (its limit is 15 MiB; drivers keep more or less).",
)
