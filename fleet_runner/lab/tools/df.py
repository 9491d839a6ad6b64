"""`df --local --block-size=1 --output=…`: how full the node's file systems are."""

import sys

from fleet_runner.lab.tools.findmnt import SCRATCH
from fleet_runner.lab.tools.node import Node

BYTES, INODES = 30_718_463_000_576, 1_875_027_968
FULL_SHARE = 0.98


def run(node: Node, args: list[str]) -> int:
    """Print a line for each."""
    del args
    used = FULL_SHARE if node.fault("full_disk") is not None else 0.12
    free = int(BYTES * (1 - used))
    sys.stdout.write(
        "Type       1B-blocks          Avail     Inodes      IFree Mounted on\n"
        "tmpfs  1081920700416  1068998459392  264140796  264121043 /\n"
        f"ext4  {BYTES} {free:14d} {INODES} {INODES - 48_211} {SCRATCH}\n"
    )
    return 0
