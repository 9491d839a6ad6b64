"""May every GPU draw the full power of its type?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared.gpus import answering, described
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "gpu_power", "gpu_power"


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold the limit in force against the profile's, or against the GPU's own where the profile names none."""
    section = profile.section(expected.profile, SECTION)
    gpus = answering(readings)
    findings = [finding for gpu in gpus for finding in _findings(gpu, section, expected)]
    unread = [text for gpu in gpus for text in _unread(gpu, section)]
    observed = {gpu.pci: {"watts": gpu.power.draw_watts, "limit_watts": gpu.power.limit_watts} for gpu in gpus}
    least = min((gpu.power.limit_watts for gpu in gpus if gpu.power.limit_watts is not None), default=0.0)
    passed = f"every one of {len(gpus)} GPUs may draw at least {least:g} W"
    return unless_unread(conclude(NAME, findings, passed, {"gpus": observed}), unread)


def _findings(gpu: Gpu, section: Section, expected: Expected) -> Iterator[Finding]:
    name, power = described(gpu, expected), gpu.power
    wanted = section.number("limit_watts") if section.has("limit_watts") else power.default_watts
    if wanted is not None and power.limit_watts is not None and power.limit_watts < wanted:
        yield about(expected.node, "gpu.power_limit", component(gpu))(
            message=f"{name} may draw {power.limit_watts:g} W, expected {wanted:g}; who set it? A reboot resets it",
            remedy=Remedy.REBOOT,
        )
    if power.default_watts is not None and wanted is not None and power.default_watts < wanted:
        yield about(expected.node, "gpu.power_default", component(gpu))(
            message=f"{name} is made for {power.default_watts:g} W, expected {wanted:g}",
            remedy=Remedy.TRIAGE,
            steps=(f"Compare the part number and the VBIOS of GPU {gpu.pci} with another node's.",),
        )
    module = power.module_limit_watts
    if section.has("module_watts") and module is not None and module < section.number("module_watts"):
        yield about(expected.node, "gpu.module_limit", component(gpu))(
            message=f"the module of {name} may draw {module:g} W, expected {section.number('module_watts'):g}",
            remedy=Remedy.REBOOT,
        )


def _unread(gpu: Gpu, section: Section) -> Iterator[str]:
    power = gpu.power
    told = {"power limit": power.limit_watts, "power draw": power.draw_watts}
    if section.has("module_watts"):
        told["module's power limit"] = power.module_limit_watts
    missing = [what for what, watts in told.items() if watts is None]
    if missing:
        yield f"{component(gpu)} does not report its {', '.join(missing)}"


CHECK = Check(
    name=NAME,
    question="May every GPU draw the full power of its type?",
    reads=("nvidia_smi",),
    judge=judge,
    section=SECTION,
    codes=(
        Code("gpu.power_limit", (Remedy.REBOOT,), "a power limit in force below the profile's, or the GPU's own"),
        Code("gpu.power_default", (Remedy.TRIAGE,), "a GPU that is made for less power than the profile's"),
        Code("gpu.module_limit", (Remedy.REBOOT,), "a power limit of the module of GPU and CPU below the profile's"),
    ),
    source="NVML: a power limit that was set lasts until the driver is loaded again; watts from data sheets.",
)
