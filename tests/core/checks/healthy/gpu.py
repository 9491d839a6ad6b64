"""Of a healthy node: what its GPUs and NVSwitches answer, check by check."""

from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.parsers import fabric_manager, imex, nvidia_smi, nvlink, smi_topology, systemctl
from tests.core.checks.healthy import text_of

ONE = text_of("nvidia_smi/h100_one.xml")

PROFILE: dict[str, Any] = {
    "pcie": {"gpu": {"generation": 5, "width": 16}},
    "gpu_clocks": {"graphics_mhz": 1980, "sm_mhz": 1980, "memory_mhz": 2619, "busy_share_min": 0.5},
    "gpu_power": {"limit_watts": 700},
    "gpu_settings": {
        "drivers": ["580.105.08"],
        "cuda": "13.0",
        "vbios": ["96.00.A5.00.01"],
        "inforom_image": "G520.0200.00.05",
        "persistence": True,
        "gsp_firmware": True,
        "ecc": True,
        "mig": False,
        "confidential_compute": False,
        "compute_mode": "Default",
        "addressing_mode": ["HMM"],
    },
    "gpu_retired": {"retired_pages_max": 63, "remapped_uncorrectable_max": 512},
    "gpu_memory_held": {"idle_mib_max": 1024},
    "gpu_fabric": {"cluster": False},
    "nic_of_gpu": {str(gpu): f"mlx5_{gpu}" for gpu in range(8)},
    "nvlink": {"links": 4, "gbytes_per_second": 26.562},
    "fabric_manager": {"restarts_max": 3},
}
"""Sections of the profile; `parts` are laid over those of `judging`."""

HEALTHY: dict[str, dict[str, str]] = {
    "gpu_pcie": {"nvidia_smi": ONE},
    "gpu_clocks": {"nvidia_smi": ONE},
    "gpu_power": {"nvidia_smi": ONE},
    "gpu_settings": {"nvidia_smi": ONE},
    "gpu_retired": {"nvidia_smi": ONE},
    "gpu_memory_held": {"nvidia_smi": ONE},
    "gpu_fabric": {"nvidia_smi": ONE},
    "gpu_nics": {"nvidia_smi_topology": text_of("nvidia_smi/topo.txt")},
    "nvlink": {
        "nvidia_smi": ONE,
        "nvlink_status": text_of("nvlink/status.txt"),
        "nvlink_errors": text_of("nvlink/errors.txt"),
    },
    "fabric_manager": {
        "nvidia_smi": ONE,
        "fabric_manager_unit": text_of("fabric_manager/unit.txt"),
        "fabric_manager_version": text_of("fabric_manager/version.txt"),
        "fabric_manager_log": text_of("fabric_manager/log.txt"),
    },
}

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "nvidia_smi in full": (nvidia_smi.parse, ONE),
    "smi_topology": (smi_topology.parse, text_of("nvidia_smi/topo.txt")),
    "nvlink.status": (nvlink.status, text_of("nvlink/status.txt")),
    "nvlink.errors": (nvlink.errors, text_of("nvlink/errors.txt")),
    "nvlink.errors of NVLink 5": (nvlink.errors, text_of("nvlink/errors_5.txt")),
    "imex.status": (imex.status, text_of("imex/up.json")),
    "imex.status as text": (imex.status, text_of("imex/degraded.txt")),
    "imex.hosts": (imex.hosts, text_of("imex/nodes_config.cfg")),
    "systemctl.one": (systemctl.one, text_of("fabric_manager/unit.txt")),
    "fabric_manager.errors": (fabric_manager.errors, text_of("fabric_manager/log.txt")),
    "fabric_manager.version": (fabric_manager.version, text_of("fabric_manager/version.txt")),
}
"""Parsers, each with a text that it can read."""
