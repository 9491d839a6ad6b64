"""Does every GPU's PCIe link have its generation and its lanes, and does it carry what it is given the first time?"""

from collections.abc import Iterator
from typing import NamedTuple

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared import previous_look
from fleet_runner.core.checks.shared.gpus import answering, busy, described
from fleet_runner.core.checks.shared.previous_look import Earlier
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "gpu_pcie", "pcie.gpu"

REPLAYS_MAX = {3: 0.48, 4: 0.96, 5: 1.92, 6: 3.84}
"""Packets sent again per lane and minute, by generation, beyond which a link is bad (DCGM's hardware limits)."""


class ExpectedLink(NamedTuple):
    """The link that the profile wants."""

    generation: int
    width: int


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge lanes always, the generation in use only under load (an idle GPU lowers it), and replays as a rate."""
    section = profile.section(expected.profile, SECTION)
    wanted = ExpectedLink(section.whole("generation"), section.whole("width"))
    gpus, before = answering(readings), previous_look.look(expected, NAME)
    rates = {gpu.pci: _rate(gpu, before) for gpu in gpus}
    over = {gpu.pci: (rates[gpu.pci] or 0.0) > _limit(gpu, wanted) for gpu in gpus}
    findings = [finding for gpu in gpus for finding in _link(gpu, wanted, expected)]
    for gpu in gpus:
        if over[gpu.pci]:
            again = before is not None and before.again("gpus", gpu.pci, "over") is True
            findings.append(_replays(gpu, expected, (rates[gpu.pci] or 0.0, _limit(gpu, wanted)), again=again))
        if before is not None and before.growth(gpu.link.rollovers, "gpus", gpu.pci, "rollovers"):
            findings.append(_rollovers(gpu, expected))
    unread = [text for gpu in gpus for text in _unread(gpu)]
    observed = {
        gpu.pci: {
            "generation": gpu.link.generation,
            "width": gpu.link.width,
            "replays": gpu.link.replays,
            "rollovers": gpu.link.rollovers,
            "over": over[gpu.pci],
        }
        for gpu in gpus
    }
    passed = f"{len(gpus)} GPUs have PCIe generation {wanted.generation} x{wanted.width}"
    return unless_unread(conclude(NAME, findings, passed, {"gpus": observed}), unread)


def _link(gpu: Gpu, wanted: ExpectedLink, expected: Expected) -> Iterator[Finding]:
    name, link = described(gpu, expected), gpu.link
    if link.width is not None and link.width < wanted.width:
        yield about(expected.node, "gpu.pcie_width", component(gpu))(
            message=f"{name} has {link.width} PCIe lanes, expected {wanted.width}",
            remedy=Remedy.TRIAGE,
            steps=_seat(gpu),
        )
    most = link.generation_max
    if most is not None and most < wanted.generation:
        yield about(expected.node, "gpu.pcie_generation_max", component(gpu))(
            message=f"{name} and its slot reach PCIe generation {most} at most, expected {wanted.generation}",
            remedy=Remedy.TRIAGE,
            steps=(f"Compare the BIOS's link speed of GPU {gpu.pci} with another node's.", *_seat(gpu)),
        )
    elif busy(gpu) and link.generation is not None and link.generation < wanted.generation:
        yield about(expected.node, "gpu.pcie_generation", component(gpu))(
            message=f"{name} runs at PCIe generation {link.generation}, expected {wanted.generation} under load;"
            " a reboot retrains the link",
            remedy=Remedy.REBOOT,
        )


def _seat(gpu: Gpu) -> tuple[str, ...]:
    which = f"{gpu.pci}, serial {gpu.serial or 'unknown'}"
    return (
        f"Power the node off, reseat GPU {which} and the cables or riser before it.",
        "If its link stays as it is, put the GPU into another slot: a fault that moves with it is the GPU's.",
    )


def _rate(gpu: Gpu, before: Earlier | None) -> float | None:
    """Return replays per lane and minute since the last look, as if that had been a minute ago at least."""
    grown = before.growth(gpu.link.replays, "gpus", gpu.pci, "replays") if before else None
    if grown is None or before is None or not gpu.link.width:
        return None
    return grown / gpu.link.width / max(1.0, before.seconds / 60)


def _limit(gpu: Gpu, wanted: ExpectedLink) -> float:
    generation = gpu.link.generation_max or wanted.generation
    return REPLAYS_MAX[min(max(generation, min(REPLAYS_MAX)), max(REPLAYS_MAX))]


def _replays(gpu: Gpu, expected: Expected, rate: tuple[float, float], *, again: bool) -> Finding:
    """One bad stretch is watched; two looks in a row are nobody's accident."""
    message = (
        f"{described(gpu, expected)} replayed {rate[0]:.2f} PCIe packets per lane and minute,"
        f" expected at most {rate[1]:g}"
    )
    steps = _seat(gpu) if again else ()
    finding = about(expected.node, "gpu.pcie_replays", component(gpu))
    return finding(message=message, remedy=Remedy.TRIAGE if again else Remedy.WATCH, steps=steps)


def _rollovers(gpu: Gpu, expected: Expected) -> Finding:
    return about(expected.node, "gpu.pcie_rollovers", component(gpu))(
        message=f"the PCIe link of {described(gpu, expected)} was retrained after failed replays"
        " since the last look, expected never",
        remedy=Remedy.WATCH,
    )


def _unread(gpu: Gpu) -> Iterator[str]:
    link = gpu.link
    told = {"lanes": link.width, "generation": link.generation_max, "replays": link.replays}
    missing = [what for what, value in told.items() if value is None]
    if missing:
        yield f"{component(gpu)} does not report its PCIe {', '.join(missing)}"


CHECK = Check(
    name=NAME,
    question="Does every GPU's PCIe link have its generation and lanes, and few replays?",
    reads=("nvidia_smi",),
    judge=judge,
    remembers=True,
    section=SECTION,
    codes=(
        Code("gpu.pcie_width", (Remedy.TRIAGE,), "fewer PCIe lanes than the profile's"),
        Code("gpu.pcie_generation_max", (Remedy.TRIAGE,), "GPU and slot together reach a lower generation"),
        Code("gpu.pcie_generation", (Remedy.REBOOT,), "a lower generation in use while the GPU works"),
        Code("gpu.pcie_replays", (Remedy.WATCH, Remedy.TRIAGE), "replays beyond DCGM's limit, once or in two looks"),
        Code("gpu.pcie_rollovers", (Remedy.WATCH,), "the link was retrained after failed replays"),
    ),
    source="DCGM's hardware limits for replays per lane-minute (0.48, 0.96, 1.92, 3.84 for generations 3 to 6);"
    " NVML: an idle GPU lowers its link's generation, never its width.",
)
