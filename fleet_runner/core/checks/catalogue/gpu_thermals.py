"""Are the GPUs far enough from the temperature at which they throttle?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared.gpus import answering, described
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

LIMIT = "gpu_tlimit_margin_celsius"


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the margin to T.Limit, not degrees: from Ada on, limits differ from GPU to GPU (NVML documentation)."""
    least = profile.limit(expected.profile, LIMIT)
    gpus = answering(readings)
    findings = [finding for gpu in gpus for finding in _findings(gpu, least, expected)]
    unread = [
        f"{component(gpu)} reports neither a margin to its limit nor a temperature"
        for gpu in gpus
        if gpu.thermals.margin_celsius is None
    ]
    margins = {gpu.pci: gpu.thermals.margin_celsius for gpu in gpus}
    observed = {
        "margin_celsius": margins,
        "core_celsius": {gpu.pci: gpu.thermals.core_celsius for gpu in gpus},
        "memory_margin_celsius": {gpu.pci: gpu.thermals.memory_margin_celsius for gpu in gpus},
    }
    smallest = min((margin for margin in margins.values() if margin is not None), default=0.0)
    passed = f"every GPU is at least {smallest:g} C from its limit, expected {least:g}"
    return unless_unread(conclude("gpu_thermals", findings, passed, observed), unread)


def _findings(gpu: Gpu, least: float, expected: Expected) -> Iterator[Finding]:
    """A GPU that slows itself serves badly and somebody must look; one that only comes close is looked at sooner."""
    margin = gpu.thermals.margin_celsius
    name = described(gpu, expected)
    slowed = gpu.thermals.slowed or (margin is not None and margin <= 0)
    if slowed:
        told = f"{margin:g} C from its limit" if margin is not None else "at an unknown temperature"
        yield about(expected.node, "gpu.thermal_slowdown", component(gpu))(
            message=f"{name} throttles because it is too hot, {told}",
            remedy=Remedy.TRIAGE,
            steps=(
                "Check the fans, the air baffles and the inlet temperature of the rack.",
                f"If only GPU {gpu.pci} is hot, check how its heat sink is seated.",
            ),
        )
    elif margin is not None and margin < least:
        yield about(expected.node, "gpu.hot", component(gpu))(
            message=f"{name} is {margin:g} C from its limit, expected at least {least:g}", remedy=Remedy.WATCH
        )
    memory = gpu.thermals.memory_margin_celsius
    if memory is not None and memory < least:
        yield about(expected.node, "gpu.memory_hot", component(gpu))(
            message=f"the memory of {name} is {memory:g} C from its limit, expected at least {least:g}",
            remedy=Remedy.WATCH,
        )


CHECK = Check(
    name="gpu_thermals",
    question="Are the GPUs far enough from the temperature at which they throttle?",
    reads=("nvidia_smi",),
    judge=judge,
    codes=(
        Code("gpu.thermal_slowdown", (Remedy.TRIAGE,), "the GPU throttles because it is too hot"),
        Code("gpu.hot", (Remedy.WATCH,), "it is closer to its limit than `limits.gpu_tlimit_margin_celsius`"),
        Code("gpu.memory_hot", (Remedy.WATCH,), "likewise, of its memory"),
    ),
    source="NVML's documentation: from Ada on the margin to T.Limit counts, not degrees. The limit is the profile's.",
)
