"""`nvidia-smi topo -m`: which adapter lies behind which GPU's PCIe switch."""

import sys

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node

HALF = plan.GPUS // 2
"""GPUs of one processor."""


def run(node: Node, gpus: list[int]) -> int:
    """Print the table and the names of its adapters; two rails' adapters may be in each other's slots."""
    exchanged = node.fault("exchanged_adapters") or {"rail": 0, "with_rail": 0}
    one, other = exchanged["rail"], exchanged["with_rail"]
    slots = {**{rail: rail for rail in range(plan.RAILS)}, one: other, other: one}
    columns = [*(f"GPU{at}" for at in range(len(gpus))), *(f"NIC{rail}" for rail in slots)]
    lines = ["\t".join(["", *columns, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for at, gpu in enumerate(gpus):
        beside = [" X " if each == gpu else "NV18" for each in gpus]
        beside += [_distance(gpu, slot) for slot in slots.values()]
        lines.append(
            "\t".join([f"GPU{at}", *beside, "0-55" if gpu < HALF else "56-111", str(gpu // HALF), "", "N/A"])
        )
    lines += ["", "Legend:", "", "  X    = Self", "", "NIC Legend:", ""]
    lines += [f"  NIC{rail}: mlx5_{rail}" for rail in slots]
    sys.stdout.write("\n".join(lines) + "\n\n")
    return 0


def _distance(gpu: int, slot: int) -> str:
    if gpu == slot:
        return "PXB"
    return "NODE" if gpu // HALF == slot // HALF else "SYS"
