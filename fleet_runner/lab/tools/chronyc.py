"""`chronyc -n -c tracking`: how far the node's clock is from the time servers."""

import sys
import time

from fleet_runner.lab.tools.node import Node

USUAL_SECONDS = 0.000012345


def run(node: Node, args: list[str]) -> int:
    """Print chronyd's line of fields."""
    del args
    off = node.fault("clock_off")
    offset = off["seconds"] if off is not None else USUAL_SECONDS
    rest = "-0.000004321,0.000031000,-12.345,0.001,0.021,0.000402000,0.000110000,64.5,Normal"
    sys.stdout.write(f"C0000201,192.0.2.1,2,{time.time() - 20:.9f},{offset:.9f},{rest}\n")
    return 0
