"""What a node's own tools tell for a device type's profile: of each read, what a check would ask for.

Only what is alike within the node is told: figures that differ between its parts are nobody's rule.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc import parts
from fleet_runner.core.bmc.proposed import Told, Value
from fleet_runner.core.checks.parsers import (
    amd_xgmi,
    dmidecode,
    files,
    ibstat,
    kernel_files,
    lscpu,
    nvlink,
    nvme_files,
    pci_files,
    smi_topology,
)
from fleet_runner.core.checks.parsers.dmidecode import GIB
from fleet_runner.core.checks.parsers.pci_files import Device
from fleet_runner.core.checks.parsers.smi_topology import BEHIND_SWITCH, DISTANCES

Texts = Mapping[str, str]
"""Texts by the names of their reads."""

GB = 1e9

DRIVERS = ("nvidia", "amdgpu", "mlx5_core", "mlx_compat")
"""Modules whose versions a site releases together; the kernel's own have its version."""

DEVICES: Mapping[str, Callable[[Device], bool]] = {
    "HCA": lambda each: each.id.startswith("15b3:") and each.kind.startswith("02"),
    "NVSwitch": lambda each: each.id.startswith("10de:") and each.kind.startswith("0680"),
    "NVMe": lambda each: each.kind.startswith("0108"),
}
"""Kinds of PCIe devices that are counted: NVIDIA's adapters and switches by their ids, drives by their class. A GPU
lowers its link when it is idle, and is counted by its own tool."""


def told(texts: Texts) -> tuple[list[Told], list[str]]:
    """Return what a node's tools tell, and a sentence for each read that nothing can be drawn from."""
    found: list[Told] = []
    unread: list[str] = []
    for read, facts in FACTS.items():
        if read in texts:
            try:
                found += [*facts(texts)]
            except EvidenceError as error:
                unread.append(f"nothing is drawn from {read}: {error}")
    return found, unread


def one(key: str, values: Iterable[Value], why: str) -> Iterator[Told]:
    """Yield a value that all have; nothing where they differ, or one of them is not told."""
    every = list(values)
    if every and every[0] not in (None, "") and all(value == every[0] for value in every):
        yield Told(key, every[0], why)


def _cpus(texts: Texts) -> Iterator[Told]:
    seen = lscpu.parse(texts["lscpu"])
    if seen.offline:
        raise EvidenceError(f"{seen.offline} CPUs are offline, so that cores cannot be counted; boot the node again")
    for key, value in (
        ("sockets", seen.sockets),
        ("cores_per_socket", seen.cores),
        ("threads_per_core", seen.threads),
        ("numa_nodes", seen.numa_nodes),
        ("model", seen.model),
    ):
        yield from one(f"parts.cpu.{key}", [value], "lscpu")


def _microcodes(texts: Texts) -> Iterator[Told]:
    found = files.parse(texts["cpu_microcode"])
    names = sorted({files.word(text) for text in found.values() if files.word(text)})
    if len(names) == 1:
        yield Told("parts.cpu.microcodes", tuple(names), "the kernel's cpu/microcode/version")


def _dimms(texts: Texts) -> Iterator[Told]:
    memory = dmidecode.parse(texts["dmidecode"])
    there = [each for each in memory.slots if each.bytes != 0]
    if not memory.complete or not there or any(each.bytes is None for each in there):
        raise EvidenceError("dmidecode does not describe all modules to the table's end; read it again")
    yield Told("parts.dimm.count", len(there), "dmidecode: slots with a module")
    sizes = [int(each.bytes / GIB) if each.bytes and each.bytes % GIB == 0 else None for each in there]
    yield from one("parts.dimm.gib", sizes, "dmidecode: size of each module")
    if all(each.rated is None or each.rated >= (each.configured or 0) for each in there):
        speeds = [each.configured for each in there]
        yield from one("parts.dimm.megatransfers", speeds, "dmidecode: speed that each module is configured for")
    if models := _names(each.model for each in there):
        yield Told("parts.dimm.models", models, "dmidecode: part numbers")


def _drives(texts: Texts) -> Iterator[Told]:
    drives = nvme_files.controllers(files.parse(texts["nvme_controllers"]))
    if not drives:
        return
    yield Told("parts.nvme.count", len(drives), "the kernel's NVMe controllers")
    sizes = [each.bytes for each in drives if each.bytes is not None]
    if len(sizes) == len(drives):
        yield Told("parts.nvme.gigabytes_min", int(min(sizes) / GB), "the smallest of them")
    if models := _names(each.model for each in drives):
        yield Told("parts.nvme.models", models, "the kernel: models of the drives")
    if firmware := _names(each.firmware for each in drives):
        yield Told("parts.nvme.firmware", firmware, "the kernel: firmware that the drives run, no recommendation")


def _hcas(texts: Texts) -> Iterator[Told]:
    hcas = ibstat.parse(texts["ibstat"])
    listed = ibstat.names(texts["ibstat_list"]) if "ibstat_list" in texts else ()
    if sorted(hca.name for hca in hcas) != sorted(listed):
        raise EvidenceError("ibstat does not describe the adapters that ibstat -l lists; check again")
    fabric = [hca for hca in hcas if hca.link_layer == "InfiniBand"]
    if fabric:
        yield Told("parts.hca.count", len(fabric), "ibstat: adapters whose link layer is InfiniBand")


def _nvlinks(texts: Texts) -> Iterator[Told]:
    every = nvlink.status(texts["nvlink_status"]).values()
    if any(each.dead or each.inactive or each.reason for each in every):
        raise EvidenceError("an NVLink is down or was not told; look at the check nvlink")
    yield from one("nvlink.links", [len(each.gbytes_per_second) for each in every], "nvidia-smi nvlink -s")
    speeds = [speed for each in every for speed in each.gbytes_per_second.values()]
    yield from one("nvlink.gbytes_per_second", speeds, "nvidia-smi nvlink -s: each link")


def _xgmi(texts: Texts) -> Iterator[Told]:
    every = amd_xgmi.parse(texts["amd_smi_xgmi"], texts.get("amd_smi_xgmi_metric")).values()
    if any(each.down for each in every):
        raise EvidenceError("an xGMI link is down; look at the check xgmi")
    yield from one("xgmi.links", [len(each.up) for each in every], "amd-smi xgmi: links of each GPU that are up")
    yield from one("xgmi.gbits_per_lane", [each.gbits for each in every], "amd-smi xgmi: speed of each GPU's links")


def _adapters(texts: Texts) -> Iterator[Told]:
    """Yield the adapter beside each GPU, where each has one of its own behind its switch."""
    table = smi_topology.parse(texts["nvidia_smi_topology"])
    near: dict[str, Value] = {}
    for gpu, distances in table.gpus.items():
        least = min(distances.values(), key=DISTANCES.index, default=DISTANCES[-1])
        names = [name for name, distance in distances.items() if distance == least]
        if least in BEHIND_SWITCH and len(names) == 1:
            near[str(gpu)] = names[0]
    if near and len({*near.values()}) == len(table.gpus):
        yield Told("nic_of_gpu", near, "nvidia-smi topo -m: the one adapter behind the switch of each GPU")


def _kernel(texts: Texts) -> Iterator[Told]:
    seen = kernel_files.kernel(files.parse(texts["kernel_files"]))
    yield Told("kernel.release", (parts.escaped(seen.release),), "the kernel's osrelease")
    if seen.system:
        yield Told("kernel.system", (parts.escaped(seen.system),), "/etc/os-release")
    if seen.bios_date:
        yield Told("kernel.bios_date", (parts.escaped(seen.bios_date),), "the kernel's dmi/id/bios_date")
    for name in DRIVERS:
        if name in seen.versions:
            yield Told(f"kernel.drivers.{name}", (parts.escaped(seen.versions[name]),), f"/sys/module/{name}/version")
    kind = ("passthrough" if seen.iommu == {"identity"} else "translating") if seen.iommu else "off"
    yield Told("kernel.iommu", (kind,), "the kernel's IOMMU groups")
    for name, values in seen.settings.items():
        yield from one(f"kernel.settings.{name}", values, kernel_files.SETTINGS[name])


def _devices(texts: Texts) -> Iterator[Told]:
    every = [each for each in pci_files.devices(files.parse(texts["pci_devices"])) if each.pci.endswith(".0")]
    for name, is_one in DEVICES.items():
        mine = [each for each in every if is_one(each)]
        if mine:
            key = f"pcie_devices.devices.{name}"
            which = ("classes", ["0108"]) if name == "NVMe" else ("ids", sorted({each.id for each in mine}))
            yield Told(f"{key}.{which[0]}", tuple(which[1]), "the kernel's PCI devices")
            yield Told(f"{key}.count", len(mine), "the kernel's PCI devices")
            if _are_full(mine):
                yield Told(f"{key}.full_link", value=True, why="each runs at all the width and speed that it can")


def _are_full(mine: Sequence[Device]) -> bool:
    told = all(each.width is not None and each.speed is not None for each in mine)
    return told and all(each.width == each.width_most and each.speed == each.speed_most for each in mine)


def _names(found: Iterable[str]) -> tuple[str, ...]:
    """Return the names that parts have, each once; none where one of the parts tells none."""
    every = list(found)
    return tuple(sorted(set(every))) if all(every) else ()


FACTS: Mapping[str, Callable[[Texts], Iterator[Told]]] = {
    "lscpu": _cpus,
    "cpu_microcode": _microcodes,
    "dmidecode": _dimms,
    "nvme_controllers": _drives,
    "ibstat": _hcas,
    "nvlink_status": _nvlinks,
    "amd_smi_xgmi": _xgmi,
    "nvidia_smi_topology": _adapters,
    "kernel_files": _kernel,
    "pci_devices": _devices,
}
"""What is drawn from each read; GPUs are in `gpu_facts`."""
