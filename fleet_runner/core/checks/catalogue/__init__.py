"""The catalogue of checks: one module each, and one line each in NAMES."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import cast

from fleet_runner.core.checks.check import Check

NAMES = (
    "cabling_infiniband",
    "cabling_ethernet",
    "fabric_cabling",
    "fabric_counters",
    "network_boot",
    "cloud_init",
    "rebooted",
    "resets",
    "gathered",
    "steady",
    "work_ended",
    "wiped",
    "parts_gpu",
    "parts_hca",
    "power_supplies",
    "power_redundancy",
    "sensors",
    "sel",
    "chassis_health",
    "machine_identity",
    "ib_ports",
    "hca_events",
    "nic_ports",
    "gpu_errors",
    "gpu_thermals",
    "gpu_pcie",
    "gpu_clocks",
    "gpu_power",
    "gpu_settings",
    "gpu_retired",
    "gpu_memory_held",
    "nvlink",
    "gpu_fabric",
    "fabric_manager",
    "xid",
    "link_flaps",
    "optics",
    "gpu_usage",
    "scheduler",
    "machine_power",
    "node_up",
    "firmware_pins",
    "firmware_update",
    "bios_settings",
    "gpu_burn",
    "dcgm",
    "nccl_allreduce",
    "gpu_bandwidth",
    "ib_write",
    "parts_cpu",
    "parts_dimm",
    "parts_nvme",
    "disk_health",
    "file_systems",
    "memory_errors",
    "pcie_devices",
    "pcie_settings",
    "kernel",
    "kernel_log",
    "time_sync",
    "services",
    "processes",
    "cpu_stress",
    "memory_bandwidth",
    "disk_speed",
    "network_speed",
    "gemm",
    "training",
    "allreduce",
)
"""Every check, by the name of its module, in the order of lists."""


class Checks(Mapping[str, Check]):
    """The checks by name; the module of one is imported when that one is asked for.

    All of them are half a second of imports, and commands that only look need none or few.
    """

    def __init__(self) -> None:
        self._imported: dict[str, Check] = {}

    def __getitem__(self, name: str) -> Check:
        if name not in self._imported:
            if name not in NAMES:
                raise KeyError(name)
            self._imported[name] = cast("Check", import_module(f"{__name__}.{name}").CHECK)
        return self._imported[name]

    def __contains__(self, name: object) -> bool:
        return name in NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


CHECKS = Checks()
