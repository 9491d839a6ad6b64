"""Of a healthy node: what the tests that load its GPUs and adapters print, check by check."""

import json
from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.parsers import dcgm, gpu_burn, nccl_tests, nvbandwidth, perftest
from tests.core.checks.healthy import text_of

PROFILE: dict[str, Any] = {
    "active": {
        "dcgm": {"level": 3},
        "nccl_allreduce": {"bus_gbps_min": 460, "compare": True},
        "gpu_bandwidth": {
            "host_to_device_gbps_min": 48,
            "device_to_host_gbps_min": 48,
            "device_to_device_gbps_min": 335,
        },
        "ib_write": {"write_gbitps_min": 380, "latency_us_max": 3},
        "ib_write_pair": {"write_gbitps_min": 380},
    }
}
"""Sections of the profile; `parts` and `active` are laid over those of `judging`."""


def ended(output: str, /, **changed: Any) -> str:
    """Return the state of a job that ended well with an output, with changes."""
    return json.dumps({"state": "ended", "rc": 0, "elapsed": 100.4, "seconds": 100.0, "output": output} | changed)


HEALTHY: dict[str, dict[str, str]] = {
    "gpu_burn": {"gpu_burn_job": ended(text_of("gpu_burn/ok.txt"))},
    "nccl_allreduce": {"nccl_allreduce_job": ended(text_of("nccl_tests/h100_two.txt"))},
    "gpu_bandwidth": {"gpu_bandwidth_job": ended(text_of("nvbandwidth/v0.8_two.txt"))},
    "ib_write": {"ib_write_job": ended(text_of("perftest/two_rails.jsonl"))},
    "ib_write_pair": {"ib_write_pair_job": ended(text_of("perftest/pair.jsonl"))},
    "dcgm": {"dcgm_job": ended(text_of("dcgm/v3_pass.json"))},
}

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "nccl_tests": (nccl_tests.parse, text_of("nccl_tests/h100_two.txt")),
    "nccl_tests, crashed": (nccl_tests.parse, text_of("nccl_tests/crashed.txt")),
    "nvbandwidth": (nvbandwidth.parse, text_of("nvbandwidth/v0.8_two.txt")),
    "nvbandwidth's JSON": (nvbandwidth.parse, text_of("nvbandwidth/v0.7_two.json")),
    "perftest": (perftest.parse, text_of("perftest/sweep_both_ways.txt")),
    "perftest, by our program": (perftest.measured, "\n" + text_of("perftest/two_rails.jsonl")),
    "dcgm v3": (dcgm.parse, text_of("dcgm/v3_pass.json")),
    "dcgm v4": (dcgm.parse, text_of("dcgm/v4_persistence_off.json")),
    "gpu_burn": (gpu_burn.parse, text_of("gpu_burn/ok.txt")),
    "gpu_burn.progress": (gpu_burn.progress, text_of("gpu_burn/ok.txt")),
}
"""Parsers, each with a text that it can read."""
