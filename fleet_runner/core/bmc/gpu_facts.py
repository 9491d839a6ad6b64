"""What the GPUs' own tool tells for a device type's profile, whoever made them."""

from collections.abc import Iterator, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc.host_facts import Texts, one
from fleet_runner.core.bmc.proposed import Told
from fleet_runner.core.checks.catalogue.gpu_clocks import MOST
from fleet_runner.core.checks.catalogue.gpu_fabric import JOINED
from fleet_runner.core.checks.catalogue.gpu_settings import modes
from fleet_runner.core.checks.check import OF_MAKER
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, Report
from fleet_runner.core.checks.parsers.smi_fabric import NO_CLUSTER
from fleet_runner.core.checks.shared.gpus import busy, is_amd, presence

AMD = OF_MAKER["AMD"]["nvidia_smi"]
"""The reads that tell of AMD's GPUs; only whole they do."""

WORDS = ("vbios", "inforom_image", "compute_mode", "addressing_mode", "compute_partition", "memory_partition")


def told(texts: Texts) -> Iterator[Told]:
    """Yield what is alike on all GPUs of a node; nothing where no tool of GPUs was asked.

    Raises:
        EvidenceError: the report cannot be read, or not all of its GPUs answer.
    """
    names = AMD if all(name in texts for name in AMD) else ("nvidia_smi",)
    if not all(name in texts for name in names):
        return
    readings = {name: Reading(name, ReadEnd.OK, texts[name]) for name in names}
    report = presence(readings)
    if not report.complete or report.lost or any(gpu.lost for gpu in report.gpus):
        raise EvidenceError("a GPU does not answer, or the report was cut; look at the check parts_gpu")
    if not report.gpus:
        return
    tool = "amd-smi" if is_amd(readings) else "nvidia-smi"
    yield Told("parts.gpu.count", len(report.gpus), f"{tool}: GPUs")
    yield from one("parts.gpu.model", [gpu.model for gpu in report.gpus], f"{tool}: model of each")
    if is_amd(readings):
        yield Told("parts.gpu.maker", "AMD", "amd-smi knows them")
    yield from _link(report.gpus, tool)
    yield from one("gpu_power.limit_watts", [_watts(gpu) for gpu in report.gpus], f"{tool}: limit of each")
    for clock, key in MOST.items():
        most = [gpu.clocks.most.get(clock) for gpu in report.gpus]
        yield from one(f"gpu_clocks.{key}", most, f"{tool}: the highest that each can reach")
    yield from _settings(report, tool)
    yield from _cluster(report.gpus, tool)


def _link(gpus: Sequence[Gpu], tool: str) -> Iterator[Told]:
    """Yield the link of all GPUs: an idle one lowers its generation, and is held against what it can."""
    links = [(gpu.link.generation if busy(gpu) else gpu.link.generation_max, gpu.link.width) for gpu in gpus]
    if len({*links}) == 1 and None not in links[0]:
        yield Told("pcie.gpu.generation", links[0][0], f"{tool}: PCIe generation of each")
        yield Told("pcie.gpu.width", links[0][1], f"{tool}: lanes of each")


def _watts(gpu: Gpu) -> float | None:
    limit, default = gpu.power.limit_watts, gpu.power.default_watts
    return limit if limit is None or default is None else min(limit, default)


def _settings(report: Report, tool: str) -> Iterator[Told]:
    for key, found in (("drivers", report.driver), ("cuda", report.cuda)):
        if found:
            yield Told(f"gpu_settings.{key}", (found,), f"{tool}, no recommendation")
    every = [gpu.settings for gpu in report.gpus]
    for key in WORDS:
        values = [gpu.vbios if key == "vbios" else getattr(gpu.settings, key) for gpu in report.gpus]
        for each in one(f"gpu_settings.{key}", values, f"{tool}: each GPU"):
            yield each._replace(value=(each.value,))
    yield from one("gpu_settings.ecc", [each.ecc for each in every], f"{tool}: each GPU")
    for place, mode in enumerate(modes(every[0])):
        yield from one(f"gpu_settings.{mode.key}", [modes(each)[place].value for each in every], f"{tool}: each GPU")
    if report.driver and all(each.gsp_firmware == report.driver for each in every):
        yield Told("gpu_settings.gsp_firmware", value=True, why=f"{tool}: it runs on each GPU, as new as the driver")


def _cluster(gpus: Sequence[Gpu], tool: str) -> Iterator[Told]:
    """Yield whether the GPUs are part of a rack's, where all have joined a fabric."""
    if all(gpu.fabric.state == JOINED and gpu.fabric.cluster is not None for gpu in gpus):
        clustered = {gpu.fabric.cluster != NO_CLUSTER and gpu.fabric.clique != "0" for gpu in gpus}
        yield from one("gpu_fabric.cluster", clustered, f"{tool}: the cluster that each GPU names")
