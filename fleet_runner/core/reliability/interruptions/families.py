"""Which kind of component interrupted a job: one table from codes of events to families."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from fleet_runner.core.jobs.event import Area


class Family(StrEnum):
    """A kind of component; the value is what it is called."""

    GPU = "GPU"
    GPU_MEMORY = "GPU memory (HBM)"
    GPU_SRAM = "GPU SRAM"
    GSP = "GPU system processor (GSP)"
    GPU_RESULTS = "GPU, wrong results"
    GPU_HEAT = "GPU, too hot"
    NVLINK = "NVLink and NVSwitch"
    HOST_MEMORY = "host memory"
    CPU = "CPU"
    PCIE = "PCIe board or slot"
    NIC = "NIC or HCA"
    CABLE = "cable or link"
    SWITCH = "network switch"
    DISK = "disk"
    FILE_SYSTEM = "file system"
    POWER = "power"
    COOLING = "cooling"
    NODE = "node, part not known"
    SOFTWARE = "software"
    UNKNOWN = "not known"


_GPU_MEMORY = (
    "xid.48", "xid.63", "xid.64", "xid.92", "xid.94", "xid.95", "xid.140", "xid.156", "xid.157", "xid.160", "xid.161",
    "xid.168", "xid.171", "gpu.remap_failed", "gpu.remap_pending", "gpu.unrepairable", "gpu.retirement_pending",
    "gpu.repair_pending", "gpu.uncorrectable", "gpu.retired_pages", "gpu.remapped_rows", "gpu.no_spare_rows",
    "amdgpu.uncorrected", "amdgpu.poison", "amdgpu.bad_pages", "gpu.bad_pages", "gpu.bad_pages_kept",
    "dcgm.memory", "dcgm.memtest", "dcgm.page_retirement_row_remap", "job.gpu_ecc",
)  # fmt: skip
_NVLINK = (
    "xid.74", "xid.136", "xid.137", "xid.144", "xid.145", "xid.146", "xid.147", "xid.148", "xid.149", "xid.150",
    "xid.155", "xid.166", "xid.170", "gpu.driver_nvlink", "gpu.fabric_state", "gpu.fabric_status",
    "gpu.fabric_health", "gpu.fabric_recovering", "gpu.fabric_apart", "gpu.fabric_cluster", "job.nvlink",
    "job.fabric_manager",
)  # fmt: skip
_GPU_RESULTS = (
    "gpu_burn.faulty", "gpu_bandwidth.wrong", "gemm.wrong", "gemm.unsteady", "training.corrupt", "training.unsteady",
    "training.disagreement", "allreduce.wrong", "nccl_allreduce.wrong",
)  # fmt: skip
_GPU_HEAT = (
    "gpu.thermal_slowdown", "gpu.hot", "gpu.memory_hot", "gpu.hw_thermal_slowdown", "gpu.sw_thermal_slowdown",
)  # fmt: skip

CODES: Mapping[str, Family] = MappingProxyType({
    **dict.fromkeys(_GPU_MEMORY, Family.GPU_MEMORY),
    **dict.fromkeys(_NVLINK, Family.NVLINK),
    **dict.fromkeys(_GPU_RESULTS, Family.GPU_RESULTS),
    **dict.fromkeys(_GPU_HEAT, Family.GPU_HEAT),
    **dict.fromkeys(("xid.172", "gpu.sram_threshold", "gpu.sram_errors", "gpu.sram_sources"), Family.GPU_SRAM),
    **dict.fromkeys(("xid.119", "xid.120", "gpu.driver_stuck", "gpu.gsp_firmware"), Family.GSP),
    **dict.fromkeys(("xid.54", "gpu.power_brake", "sel.power"), Family.POWER),
    **dict.fromkeys(("gpu.pcie_width", "gpu.pcie_replays", "gpu.pcie_rollovers", "sel.pcie_fatal"), Family.PCIE),
    **dict.fromkeys(("nic.down", "nic.slow", "nic.errors", "nic.carrier_changes", "job.ib_retry"), Family.CABLE),
    **dict.fromkeys(("cabling.wrong_switch", "cabling.replaced_switch"), Family.SWITCH),
    **dict.fromkeys(("health.dimm", "sel.memory_uncorrectable", "sel.memory_correctable"), Family.HOST_MEMORY),
    **dict.fromkeys(("health.cpu", "sel.cpu", "kernel.machine_check"), Family.CPU),
    **dict.fromkeys(("health.storage", "sel.drive"), Family.DISK),
    **dict.fromkeys(("sel.thermal_trip", "sel.fan"), Family.COOLING),
    **dict.fromkeys(("job.gpu_lost", "job.gpu_error"), Family.GPU),
    **dict.fromkeys(("job.file_system", "job.no_space"), Family.FILE_SYSTEM),
    "job.port_error": Family.NIC,
})  # fmt: skip
"""Codes of one family whose other codes are of another."""

KINDS: Mapping[str, Family] = MappingProxyType({
    **dict.fromkeys(("xid", "gpu", "amdgpu", "gpu_burn", "gpu_bandwidth", "gemm"), Family.GPU),
    **dict.fromkeys(("dcgm", "rvs", "training", "reset"), Family.GPU),
    **dict.fromkeys(("sxid", "nvlink", "fabric_manager", "xgmi", "imex"), Family.NVLINK),
    **dict.fromkeys(("memory", "dimm", "memory_bandwidth"), Family.HOST_MEMORY),
    **dict.fromkeys(("cpu", "cpu_stress"), Family.CPU),
    "pcie": Family.PCIE,
    **dict.fromkeys(("hca", "nic"), Family.NIC),
    **dict.fromkeys(("ib", "cabling", "link", "optics", "network_speed"), Family.CABLE),
    **dict.fromkeys(("ib_write", "ib_write_pair", "paths"), Family.CABLE),
    **dict.fromkeys(("disk", "nvme", "disk_speed"), Family.DISK),
    "fs": Family.FILE_SYSTEM,
    **dict.fromkeys(("psu", "power", "voltage"), Family.POWER),
    **dict.fromkeys(("sensor", "fan", "leak"), Family.COOLING),
})  # fmt: skip
"""What stands before a code's point, for all other codes."""

AREAS: Mapping[Area, Family] = MappingProxyType(
    {Area.HARDWARE: Family.NODE, Area.FABRIC: Family.CABLE, Area.STORAGE: Family.FILE_SYSTEM}
)
"""For codes of neither table, by whose doing it was."""

STORAGE = frozenset({Family.DISK, Family.FILE_SYSTEM})


def family(area: Area, code: str, component: str) -> Family:
    """Return the family of the component that interrupted a job: its area decides, then the code of its event.

    A link's other end is a switch where the component is called one.
    """
    if area is Area.SOFTWARE:
        return Family.SOFTWARE
    if area is Area.UNKNOWN:
        return Family.UNKNOWN
    if area is Area.FABRIC and component.casefold().startswith("switch"):
        return Family.SWITCH
    found = CODES.get(code) or KINDS.get(code.partition(".")[0]) or AREAS[area]
    return AREAS[area] if area is Area.STORAGE and found not in STORAGE else found


class Published(NamedTuple):
    """A row of a published table: what it calls the component, how many interruptions, and our family, if any."""

    component: str
    interruptions: int
    family: Family | None


LLAMA_3 = (
    Published("faulty GPU", 148, Family.GPU),
    Published("GPU HBM3 memory", 72, Family.GPU_MEMORY),
    Published("software bug", 54, Family.SOFTWARE),
    Published("network switch or cable", 35, Family.CABLE),
    Published("unplanned maintenance of hosts", 32, None),
    Published("GPU SRAM", 19, Family.GPU_SRAM),
    Published("GPU system processor", 17, Family.GSP),
    Published("NIC", 7, Family.NIC),
    Published("NCCL watchdog timeouts, cause unknown", 7, Family.UNKNOWN),
    Published("silent data corruption", 6, Family.GPU_RESULTS),
    Published("GPU thermal interface and sensor", 6, Family.GPU_HEAT),
    Published("SSD", 3, Family.DISK),
    Published("power supply", 3, Family.POWER),
    Published("server chassis", 2, Family.NODE),
    Published("IO expansion board", 2, Family.PCIE),
    Published("dependency", 2, Family.SOFTWARE),
    Published("CPU", 2, Family.CPU),
    Published("system memory", 2, Family.HOST_MEMORY),
)
"""The 419 unexpected interruptions of 54 days of Llama 3 405B on up to 16,384 H100 (47 more were planned).

Llama Team, The Llama 3 Herd of Models, 2024 (arXiv 2407.21783), table 5. The paper prints 30.1 % beside 148 of 419,
which are 35.3 %; shares here are counted from its numbers. Its "faulty GPU" has NVLink's failures, its "network" has
switches and cables together.
"""
