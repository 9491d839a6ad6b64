"""`dcb -j pfc show dev eth0` and `dcb -j app show dev eth0`, as iproute2 prints them."""

import json
import sys

from fleet_runner.lab.tools.node import Node
from fleet_runner.lab.tools.roce import PRIORITIES, is_port, lossless


def run(node: Node, args: list[str]) -> int:
    """Print PFC or the priorities of code points; any other interface has none."""
    asked = args[:1] == ["-j"] and args[1:2] in (["pfc"], ["app"]) and args[2:-1] == ["show", "dev"]
    if not asked or not is_port(node, args[-1]):
        sys.stderr.write("Attribute read: Operation not supported\n")
        return 1
    enabled = lossless(node, args[-1])
    pfc = {"pfc_cap": 8, "macsec_bypass": False, "delay": 0, "prio_pfc": [each in enabled for each in PRIORITIES]}
    points = {"dscp_prio": [[point, point // len(PRIORITIES)] for point in range(64)]}
    sys.stdout.write(json.dumps(pfc if args[1] == "pfc" else points) + "\n")
    return 0
