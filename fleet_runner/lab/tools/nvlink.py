"""`nvidia-smi nvlink -s` and `-e`: the NVLinks of each GPU, their speed, and the errors that they count."""

import sys

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node

LINKS = 18
SPEED = "26.562 GB/s"
COUNTERS = ("Replay Errors", "Recovery Errors", "CRC Errors")


def run(node: Node, gpus: list[int], args: list[str]) -> int:
    """Print a block for each GPU, in the order of nvidia-smi."""
    number = node.state["index"]
    tell = _errors if "-e" in args else _status
    for at, gpu in enumerate(gpus):
        sys.stdout.write(f"GPU {at}: {plan.GPU_MODEL} (UUID: {plan.gpu_uuid(number, gpu)})\n{tell(node, gpu)}")
    return 0


def _status(node: Node, gpu: int) -> str:
    down = node.fault("nvlink_down")
    dead = down["link"] if down is not None and down["gpu"] == gpu else None
    return "".join(f"\t Link {link}: {'<inactive>' if link == dead else SPEED}\n" for link in range(LINKS))


def _errors(node: Node, gpu: int) -> str:
    del node, gpu
    return "".join(f"\t Link {link}: {counter}: 0\n" for link in range(LINKS) for counter in COUNTERS)
