"""`dcgmi diag -r N -j`: the diagnostic's report, in the form of DCGM 3."""

import json
import sys
import time
from typing import Any

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node

DEPLOYMENT = (
    "Denylist",
    "NVML Library",
    "CUDA Main Library",
    "Permissions and OS Blocks",
    "Persistence Mode",
    "Environment Variables",
    "Page Retirement/Row Remap",
    "Graphics Processes",
    "Inforom",
)
BY_LEVEL: dict[int, tuple[tuple[str, str], ...]] = {
    1: (),
    2: (("Integration", "PCIe"), ("Hardware", "GPU Memory")),
    3: (("Hardware", "Diagnostic"), ("Stress", "Targeted Stress"), ("Stress", "Targeted Power"),
        ("Stress", "Memory Bandwidth")),
    4: (("Hardware", "Memtest"), ("Hardware", "Pulse Test")),
}  # fmt: skip
"""What each level adds to the one below it."""

SECONDS = 0.2
"""How long it runs here; level 3 takes a quarter of an hour on real GPUs."""


def run(node: Node, args: list[str]) -> int:
    """Print the report; exit 226 where a test failed, as dcgmi does."""
    if args[:1] != ["diag"] or "-j" not in args:
        sys.stderr.write("dcgmi: the lab knows only diag -r N -j\n")
        return 1
    level = int(args[args.index("-r") + 1]) if "-r" in args else 1
    time.sleep(SECONDS * (level - 1))
    gpus = [gpu for gpu in range(plan.GPUS) if node.has_gpu(gpu)]
    bad = node.fault("bad_gpu")
    categories: dict[str, list[dict[str, Any]]] = {
        "Deployment": [{"name": name, "results": [{"status": "Pass"}]} for name in DEPLOYMENT]
    }
    tests = [test for step in range(1, level + 1) for test in BY_LEVEL.get(step, ())]
    for category, name in tests:
        faulty = bad["gpu"] if bad is not None and name == "Diagnostic" else None
        results = [_result(gpu, at, faulty == gpu) for at, gpu in enumerate(gpus)]
        categories.setdefault(category, []).append({"name": name, "results": results})
    listed = [{"category": category, "tests": tests} for category, tests in categories.items()]
    report = {
        "DCGM GPU Diagnostic": {"test_categories": listed},
        "Driver Version Detected": "550.127.05",
        "GPU Device IDs": ["2330"] * len(gpus),
        "version": "3.3.9",
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 226 if bad is not None and any(name == "Diagnostic" for _, name in tests) else 0


def _result(gpu: int, at: int, faulty: bool) -> dict[str, Any]:  # noqa: FBT001  one caller, two lines above
    if not faulty:
        return {"gpu_ids": str(at), "status": "Pass"}
    return {
        "gpu_ids": str(at),
        "status": "Fail",
        "warnings": [
            f"GPU {gpu} There were 3 miscompares in the arithmetic test. Run a field diagnostic on the GPU."
        ],
    }
