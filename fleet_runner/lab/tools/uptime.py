"""`uptime -s`: since when the kernel runs, in the caller's time zone; plain `uptime` in one short line."""

import sys
import time

from fleet_runner.lab.tools.node import Node


def run(node: Node, args: list[str]) -> int:
    """Print the tool's answer."""
    since = node.state["boot"]["kernel"]
    if "-s" in args or "--since" in args:
        sys.stdout.write(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(since)) + "\n")
        return 0
    minutes = int(time.time() - since) // 60
    clock = time.strftime("%H:%M:%S")
    sys.stdout.write(f" {clock} up {minutes // 60}:{minutes % 60:02d},  0 users,  load average: 0.08, 0.03, 0.01\n")
    return 0
