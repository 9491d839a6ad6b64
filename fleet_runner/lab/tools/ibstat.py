"""`ibstat` and `ibstat -l`: the node's own HCAs, and whether their links are up."""

import sys

from fleet_runner.lab import plan
from fleet_runner.lab.tools.fabric import links, port
from fleet_runner.lab.tools.node import Node

RATES = {"NDR": 400, "HDR": 200}


def run(node: Node, args: list[str]) -> int:
    """Print the names, or a record for each HCA."""
    if "-l" in args or "--list_of_cas" in args:
        sys.stdout.write("".join(f"mlx5_{rail}\n" for rail in range(plan.RAILS)))
        return 0
    speeds = {end.guid: link.speed for link in links(node) for end in (link.a, link.b)}
    sys.stdout.write("".join(_record(node, rail, speeds) for rail in range(plan.RAILS)))
    return 0


def _record(node: Node, rail: int, speeds: dict[str, str]) -> str:
    mine = port(node.name, f"ib{rail}")
    active = mine.guid in speeds
    return f"""CA 'mlx5_{rail}'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.3560
\tHardware version: 0
\tNode GUID: 0x{mine.guid}
\tSystem image GUID: 0x{mine.guid}
\tPort 1:
\t\tState: {"Active" if active else "Down"}
\t\tPhysical state: {"LinkUp" if active else "Polling"}
\t\tRate: {RATES[speeds[mine.guid]] if active else 10}
\t\tBase lid: {mine.lid if active else 65535}
\t\tLMC: 0
\t\tSM lid: {1 if active else 0}
\t\tCapability mask: 0xa741e848
\t\tPort GUID: 0x{mine.guid}
\t\tLink layer: InfiniBand
"""
