"""What `amd-smi` says of a node with AMD's GPUs, in the forms of two releases.

Keys, units and words are those of ROCm's own tool (`amdsmi_cli`, releases 6.3 and 7.0) and of AMD's node-scraper,
which reads them; the numbers are made up for an MI300X.
"""

import json
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.checks import check
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result
from tests.core.checks.catalogue.judging import DMESG, NODE, READ_AT, documented

GPUS = 8
MODEL = "AMD Instinct MI300X"

PROFILE: dict[str, Any] = {
    "parts": {"gpu": {"count": GPUS, "model": MODEL, "maker": "AMD"}},
    "limits": {"gpu_tlimit_margin_celsius": 5},
    "pcie": {"gpu": {"generation": 5, "width": 16}},
    "gpu_power": {"limit_watts": 750},
    "gpu_settings": {
        "drivers": ["6.12.12"],
        "vbios": ["022.040.003.043.000001"],
        "ecc": True,
        "compute_partition": "SPX",
        "memory_partition": "NPS1",
    },
    "xgmi": {"links": 7, "gbits_per_lane": 32},
}

DEVICE = {
    "serial": "X1",
    "parts": [
        {"slot": f"OAM {gpu}", "kind": "gpu", "model": MODEL, "serial": f"69225100{gpu:04d}"} for gpu in range(GPUS)
    ],
}


def pci(gpu: int) -> str:
    """Return a GPU's address, as MI300X machines have them."""
    return f"0000:{0x05 + 0x10 * gpu:02x}:00.0"


def quantity(value: float, unit: str) -> dict[str, Any]:
    """Return a number as the tool writes it."""
    return {"value": value, "unit": unit}


def static(gpu: int) -> dict[str, Any]:
    """Return what `static` says of a GPU."""
    return {
        "gpu": gpu,
        "asic": {"market_name": MODEL, "vendor_id": "0x1002", "asic_serial": f"0xABC{gpu}", "oam_id": gpu},
        "bus": {
            "bdf": pci(gpu),
            "max_pcie_width": 16,
            "max_pcie_speed": quantity(32, "GT/s"),
            "pcie_interface_version": "Gen 5",
            "slot_type": "OAM",
        },
        "ifwi": {"name": "AMD MI300X_HW_SRIOV", "version": "022.040.003.043.000001"},
        "limit": {
            "max_power": quantity(750, "W"),
            "socket_power": quantity(750, "W"),
            "slowdown_hotspot_temperature": quantity(100, "C"),
            "slowdown_vram_temperature": quantity(105, "C"),
        },
        "driver": {"name": "amdgpu", "version": "6.12.12"},
        "board": {"model_number": "102-G30211-0C", "product_serial": f"69225100{gpu:04d}"},
        "ras": {
            "eeprom_version": "0x30000",
            "bad_page_threshold": 128,
            "bad_page_threshold_exceeded": "False",
            "ecc_block_state": {"UMC": "ENABLED", "GFX": "ENABLED"},
        },
        "partition": {"accelerator_partition": "SPX", "memory_partition": "NPS1", "partition_id": 0},
    }


def metric(gpu: int) -> dict[str, Any]:
    """Return what `metric` says of a GPU that does nothing."""
    none = {"correctable_count": 0, "uncorrectable_count": 0, "deferred_count": 0}
    return {
        "gpu": gpu,
        "usage": {"gfx_activity": quantity(0, "%"), "umc_activity": quantity(0, "%")},
        "power": {"socket_power": quantity(140, "W"), "throttle_status": "N/A"},
        "temperature": {"edge": "N/A", "hotspot": quantity(46, "C"), "mem": quantity(40, "C")},
        "pcie": {
            "width": 16,
            "speed": quantity(32, "GT/s"),
            "replay_count": 0,
            "replay_roll_over_count": 0,
        },
        "ecc_blocks": {"UMC": dict(none), "GFX": dict(none), "XGMI_WAFL": dict(none)},
        "mem_usage": {"total_vram": quantity(196592, "MB"), "used_vram": quantity(283, "MB")},
        "throttle": {
            f"{name}_violation_activity": quantity(0, "%")
            for name in ("prochot", "ppt", "socket_thermal", "hbm_thermal")
        },
    }


def process(gpu: int, *pids: int) -> dict[str, Any]:
    """Return what `process` says of a GPU and the processes on it."""
    listed: list[dict[str, Any]] = [{"process_info": {"name": "python3", "pid": pid}} for pid in pids]
    return {"gpu": gpu, "process_list": listed or [{"process_info": "No running processes detected"}]}


def bad_pages(gpu: int) -> dict[str, Any]:
    """Return what `bad-pages` says of a GPU without any."""
    return {"gpu": gpu, "retired": "No bad pages found.", "pending": "No bad pages found.", "un_res": "N/A"}


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return what each command says of a healthy node, to be changed."""
    every = range(GPUS)
    status = ["U"] * 7 + ["X"]
    lanes = {
        "bit_rate": quantity(32, "Gb/s"),
        "max_bandwidth": quantity(512, "Gb/s"),
        "link_type": "XGMI",
        "links": [],
    }
    return {
        "amd_smi_static": [static(gpu) for gpu in every],
        "amd_smi_metric": [metric(gpu) for gpu in every],
        "amd_smi_process": [process(gpu) for gpu in every],
        "amd_smi_bad_pages": [bad_pages(gpu) for gpu in every],
        "amd_smi_xgmi": [{"gpu": gpu, "bdf": pci(gpu), "link_status": list(status)} for gpu in every],
        "amd_smi_xgmi_metric": [{"gpu": gpu, "bdf": pci(gpu), "link_metrics": dict(lanes)} for gpu in every],
    }


WRAPPED = ("amd_smi_static", "amd_smi_metric")


def texts(found: Mapping[str, list[dict[str, Any]]], *, rocm: int = 7, kfd: tuple[int, ...] = ()) -> dict[str, str]:
    """Return the readings of a node in the form of a release of ROCm (6 or 7)."""
    written: dict[str, Any] = dict(found)
    if rocm >= 7:
        written |= {name: {"gpu_data": found[name]} for name in WRAPPED if name in found}
        written["amd_smi_xgmi"] = {"link_status": found["amd_smi_xgmi"]}
        written["amd_smi_xgmi_metric"] = {"xgmi_metric": [found["amd_smi_xgmi_metric"]]}
    answers = {name: json.dumps(value, indent=4) for name, value in written.items()}
    answers["kfd_processes"] = json.dumps({f"/sys/class/kfd/kfd/proc/{pid}/vram_51140": "4096\n" for pid in kfd})
    return answers | {"dmesg": DMESG}


def judged(
    name: str,
    answers: Mapping[str, str],
    rc: int = 0,
    profile: Mapping[str, Any] = PROFILE,
    run: Mapping[str, Any] | None = None,
) -> Result:
    """Run a check over what a node with AMD's GPUs answered."""
    expected = Expected(NODE, profile, DEVICE, run={"id": 1, "since": 1_740_821_000.0, **(run or {})})
    readings = {read: Reading(read, ReadEnd.OK, text, rc=rc, at=READ_AT) for read, text in answers.items()}
    return documented(CHECKS[name], check.run(CHECKS[name], readings, expected))
