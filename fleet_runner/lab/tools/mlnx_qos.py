"""`mlnx_qos -i eth0`: what a RoCE port trusts, and where it has PFC, as NVIDIA's driver package prints it."""

import sys

from fleet_runner.lab.tools.node import Node
from fleet_runner.lab.tools.roce import PRIORITIES, is_port, lossless


def run(node: Node, args: list[str]) -> int:
    """Print the port's settings; any other interface is refused."""
    if args[:-1] != ["-i"] or not is_port(node, args[-1]):
        sys.stderr.write("mlnx_qos: the lab has RoCE at eth0, and at the ports of its Ethernet rails\n")
        return 1
    enabled = "   ".join(str(int(each in lossless(node, args[-1]))) for each in PRIORITIES)
    points = "".join(
        f"\tprio:{each} dscp:{''.join(f'{8 * each + low:02d},' for low in reversed(PRIORITIES))}\n"
        for each in PRIORITIES
    )
    sys.stdout.write(
        f"DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n{points}default priority:\n"
        f"Cable len: 7\nPFC configuration:\n\tpriority    {'   '.join(map(str, PRIORITIES))}\n"
        f"\tenabled     {enabled}   \n"
    )
    return 0
