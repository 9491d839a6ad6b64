"""Of a healthy node: what its kernel, disks and memory answer, check by check."""

from collections.abc import Callable
from typing import Any

from fleet_runner.core.parsers import (
    clocks,
    dmidecode,
    edac,
    files,
    kernel_files,
    kernel_log,
    lscpu,
    lspci,
    meminfo,
    mounts,
    nvme_files,
    pci_files,
    processes,
    smart,
    systemctl,
)
from tests.core.checks.healthy import text_of

PROFILE: dict[str, Any] = {
    "parts": {
        "cpu": {
            "sockets": 2,
            "cores_per_socket": 56,
            "threads_per_core": 2,
            "numa_nodes": 2,
            "model": "Intel(R) Xeon(R) Platinum 8480C",
            "microcodes": ["0x2b0004b1"],
        },
        "dimm": {
            "count": 2,
            "gib": 64,
            "megatransfers": 4800,
            "models": ["M321R8GA0BB0-CQKZJ"],
            "usable_share_min": 0.95,
        },
        "nvme": {
            "count": 2,
            "models": ["SAMSUNG MZQL23T8HCLS-00A07"],
            "gigabytes_min": 3800,
            "firmware": ["EPK9CB5Q"],
        },
    },
    "disk_health": {"used_percent_max": 80, "celsius_max": 70, "ata": True},
    "file_systems": {"mounts": ["/", "/raid", "/home"], "free_share_min": 0.15, "free_inodes_share_min": 0.1},
    "memory_errors": {"corrected_per_day_max": 100, "poisoned_kib_max": 0},
    "pcie_devices": {"devices": {"HCA": {"ids": ["15b3:1021"], "count": 2, "lanes": 16, "gigatransfers": 32}}},
    "pcie_settings": {
        "acs": False,
        "ids": ["15b3:1021"],
        "read_request_bytes": 4096,
        "payload_bytes_min": 256,
        "relaxed_ordering": True,
    },
    "kernel": {
        "release": ["5.15.0-*-nvidia"],
        "system": ["ubuntu 22.04"],
        "bios_date": ["08/04/2023"],
        "drivers": {"nvidia": ["550.127.*"], "mlx_compat": ["23.10-1.1.9"]},
        "modules": ["nvidia", "nvidia_peermem", "mlx5_core"],
        "modules_forbidden": ["nouveau"],
        "cmdline": ["iommu=pt"],
        "cmdline_forbidden": ["nosmt*"],
        "iommu": ["off", "passthrough"],
        "settings": {
            "numa_balancing": "0",
            "transparent_hugepage": ["madvise", "always"],
            "clocksource": "tsc",
            "governor": "performance",
            "swaps": "off",
        },
    },
    "kernel_log": {},
    "time_sync": {"offset_seconds_max": 0.01},
    "services": {
        "active": ["nvidia-fabricmanager.service", "dcgm.service"],
        "failed_ignored": ["motd-news.service"],
        "restarts_per_day_max": 3,
    },
    "processes": {"zombies_max": 100, "load_max": 500, "open_files_share_max": 0.8, "ignored": ["jbd2/*"]},
}
"""Sections of the profile; `parts` are laid over those of `judging`."""

DMESG = text_of("dmesg/boot.txt")
NVME, SMART = text_of("sys/nvme_controllers.json"), text_of("nvme/smart_two.txt")
MEMINFO, MICROCODE = text_of("sys/meminfo.json"), text_of("sys/cpu_microcode.json")

HEALTHY: dict[str, dict[str, str]] = {
    "parts_cpu": {"lscpu": text_of("lscpu/two_sockets.json"), "cpu_microcode": MICROCODE},
    "parts_dimm": {"dmidecode": text_of("dmidecode/two_of_four.txt"), "meminfo": MEMINFO},
    "parts_nvme": {"nvme_controllers": NVME},
    "disk_health": {
        "nvme_smart": SMART,
        "nvme_controllers": NVME,
        "ata_smart": text_of("smartctl/one_sata.txt"),
        "dmesg": DMESG,
    },
    "file_systems": {"findmnt": text_of("findmnt/two.json"), "df": text_of("df/two.txt"), "dmesg": DMESG},
    "memory_errors": {"edac": text_of("sys/edac.json"), "meminfo": MEMINFO, "dmesg": DMESG},
    "pcie_devices": {"pci_devices": text_of("sys/pci_devices.json"), "dmesg": DMESG},
    "pcie_settings": {"lspci": text_of("lspci/switch_and_hca.txt")},
    "kernel": {"kernel_files": text_of("sys/kernel_files.json")},
    "kernel_log": {"dmesg": DMESG},
    "time_sync": {"chronyc": text_of("chronyc/tracking.txt"), "timedatectl": "NTP=yes\nNTPSynchronized=yes\n"},
    "services": {"units": text_of("systemctl/show.txt")},
    "processes": {"ps": text_of("ps/idle.txt"), "loads": text_of("sys/loads.json")},
}


def _logged(text: str) -> object:
    """Every rule of every check, over one log."""
    from fleet_runner.core.checks import disk_health, file_systems, memory_errors, pcie_devices  # noqa: PLC0415  the catalogue imports this
    from fleet_runner.core.checks import kernel_log as check  # noqa: PLC0415  likewise

    tables = (disk_health, file_systems, memory_errors, pcie_devices, check)
    return kernel_log.parse(text, [each.rule for table in tables for each in table.LOGGED])


PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "lscpu": (lscpu.parse, text_of("lscpu/two_sockets.json")),
    "lscpu, flat": (lscpu.parse, text_of("lscpu/flat_grace.json")),
    "dmidecode": (dmidecode.parse, text_of("dmidecode/two_of_four.txt")),
    "meminfo": (meminfo.parse, "MemTotal:       131072000 kB\nHugePages_Total:       0\n"),
    "nvme files": (lambda text: nvme_files.controllers(files.parse(text)), NVME),
    "smart": (smart.parse, SMART),
    "smart of SATA": (smart.parse, text_of("smartctl/one_sata.txt")),
    "smart of one": (smart.health, '{"critical_warning": {"value": 0}, "media_errors": "0"}'),
    "mounts": (mounts.mounts, text_of("findmnt/two.json")),
    "mounts.space": (mounts.space, text_of("df/two.txt")),
    "edac": (lambda text: edac.counted(files.parse(text)), text_of("sys/edac.json")),
    "pci files": (lambda text: pci_files.devices(files.parse(text)), text_of("sys/pci_devices.json")),
    "lspci": (lspci.parse, text_of("lspci/switch_and_hca.txt")),
    "kernel files": (lambda text: kernel_files.kernel(files.parse(text)), text_of("sys/kernel_files.json")),
    "kernel log": (_logged, text_of("dmesg/host_faults.txt")),
    "chronyc": (clocks.tracking, text_of("chronyc/tracking.txt")),
    "timedatectl": (clocks.timedatectl, "NTP=yes\nNTPSynchronized=yes\n"),
    "systemctl": (systemctl.parse, text_of("systemctl/show.txt")),
    "ps": (processes.parse, text_of("ps/idle.txt")),
}
"""Parsers, each with a text that it can read."""
