"""`nvidia-smi --gpu-reset`: what waits for a reset is over with it; nothing else is, and no GPU in use is reset."""

import sys
from typing import Any

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node, witness

CLEARED = frozenset({"row_remap", "nvlink_down", "xid"})
"""Faults that a reset of their GPU clears; a GPU that fell off the bus is not even seen by it."""

OTHER = 255
"""The tool's exit status for anything that has no status of its own."""


def run(node: Node, gpus: list[int], args: list[str]) -> int:
    """Reset the GPUs that are named (--id=), else all that the driver sees."""
    named = next((word.partition("=")[2].split(",") for word in args if word.startswith("--id=")), [])
    mine = {address(gpu): gpu for gpu in gpus}
    unknown = [each for each in named if each not in mine]
    if unknown:
        sys.stdout.write(f"No devices were found: {', '.join(unknown)}\n")
        return 6
    chosen = [mine[each] for each in named] or gpus
    if node.processes():
        lines = [f"  GPU {address(gpu)}: In use by another client" for gpu in chosen]
        sys.stdout.write("\n".join(["The following GPUs could not be reset:", *lines]) + "\n")
        return OTHER
    from pathlib import Path  # noqa: PLC0415  only what changes a node pays for it

    from fleet_runner.lab import hardware  # noqa: PLC0415  likewise
    from fleet_runner.lab.folder import Lab  # noqa: PLC0415  likewise

    with hardware.changing(Lab(Path(node.lab)), node.name) as state:
        state["faults"] = {name: how for name, how in state["faults"].items() if not _cleared(name, how, chosen)}
    witness(node.lab, "gpu_reset", node.name, gpus=chosen)
    sys.stdout.write("".join(f"GPU {address(gpu)} was successfully reset.\n" for gpu in chosen) + "All done.\n")
    return 0


def address(gpu: int) -> str:
    """Return a GPU's PCI address as the kernel writes it."""
    return f"0000:{plan.GPU_BUSES[gpu].lower()}:00.0"


def _cleared(name: str, how: dict[str, Any], chosen: list[int]) -> bool:
    return name in CLEARED and how["gpu"] in chosen
