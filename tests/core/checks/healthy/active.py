"""Of a healthy node: what its tests under load print, check by check."""

import json
from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.parsers import allreduce, fio, gemm, iperf3, rvs, stress_ng, training
from tests.core.checks.healthy import text_of

STRESS = text_of("stress_ng/stress.txt")
STREAM = text_of("stress_ng/stream.txt")
FIO = text_of("fio/folder_and_device.txt")
IPERF = text_of("iperf3/two_streams.json")
TRAINING = text_of("training/two_gpus.txt")
GEMM = text_of("gemm/two_gpus.txt")
RVS = text_of("rvs/two_gpus.txt")
ALLREDUCE = text_of("allreduce/three_nodes.txt")

TOPOLOGY = json.dumps({
    f"/sys/class/kfd/kfd/topology/nodes/{node}/{name}": text
    for node, (number, place) in enumerate(((0, 0), (42583, 0x0500), (27226, 0x1500)))
    for name, text in (("gpu_id", f"{number}\n"), ("properties", f"simd_count 1216\nlocation_id {place}\ndomain 0\n"))
})  # fmt: skip
"""The kernel driver's numbers of GPUs, as sysfs has them; node 0 is a processor."""

NOISE = "UserWarning: libraries say what they like\n"

DIGEST = "7f9dc53da69e6837fc650b84640b592cca04ae888201a9408ac01f700b65b558"

PROFILE: dict[str, Any] = {
    "active": {
        "cpu_stress": {"seconds": 60, "memory_share": 0.7, "cpu_bogo_ops_per_second_min": 1000},
        "memory_bandwidth": {"seconds": 60, "gbps_min": 20},
        "disk_speed": {
            "folders": ["/mnt/scratch"],
            "devices": ["/dev/nvme1n1"],
            "file_gb": 4,
            "seconds": 30,
            "read_gbps_min": 5,
            "write_gbps_min": 4,
            "random_read_iops_min": 500_000,
            "random_read_p99_ms_max": 1,
        },
        "network_speed": {"server": "192.0.2.7", "seconds": 10, "gbitps_min": 90, "retransmit_share_max": 0.001},
        "training": {
            "seconds": 300,
            "steps": 2000,
            "precision": "bf16",
            "tokens_per_second_min": 700_000,
            "tokens_share_min": 0.95,
            "reference": {"2.3.1+cu121/NVIDIA H100 80GB HBM3": DIGEST},
        },
        "gemm": {"seconds_each": 5, "bf16_tflops_min": 600, "tflops_share_min": 0.95},
        "rvs": {"level": 3, "seconds": 1800},
        "allreduce": {"nccl_bus_gbps_min": 350},
    }
}
"""Sections of the profile; `parts` and `active` are laid over those of `judging`."""


def ended(output: str, /, **changed: Any) -> str:
    """Return the state of a job that ended well with an output, with changes."""
    return json.dumps({"state": "ended", "rc": 0, "elapsed": 60.5, "seconds": 60.0, "output": output} | changed)


HEALTHY: dict[str, dict[str, str]] = {
    "cpu_stress": {"cpu_stress_job": ended(STRESS)},
    "memory_bandwidth": {"memory_bandwidth_job": ended(STREAM)},
    "disk_speed": {"disk_speed_job": ended(FIO)},
    "network_speed": {"network_speed_job": ended(IPERF)},
    "training": {"training_job": ended(TRAINING)},
    "gemm": {"gemm_job": ended(GEMM)},
    "rvs": {"rvs_job": ended(RVS), "kfd_topology": TOPOLOGY},
    "allreduce": {"allreduce_job": ended(ALLREDUCE)},
}

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "stress_ng": (stress_ng.parse, STRESS),
    "stress_ng, memory": (stress_ng.parse, STREAM),
    "fio": (fio.parse, NOISE + FIO),
    "iperf3": (iperf3.parse, IPERF),
    "training": (training.parse, NOISE + TRAINING),
    "training.progress": (training.progress, NOISE + TRAINING),
    "gemm": (gemm.parse, NOISE + GEMM),
    "gemm.progress": (gemm.progress, NOISE + GEMM),
    "rvs": (rvs.parse, NOISE + RVS),
    "rvs.addresses": (rvs.addresses, TOPOLOGY),
    "allreduce": (allreduce.parse, NOISE + ALLREDUCE),
}
"""Parsers, each with a text that it can read."""
