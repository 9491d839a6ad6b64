"""`lldpctl -f json0`: the neighbours of the node's Ethernet ports, as lldpd writes them: every value in a list."""

import json
import sys
from typing import Any

from fleet_runner.lab import ethernet, plan
from fleet_runner.lab.tools.lldp import Heard, heard
from fleet_runner.lab.tools.node import Node


def run(node: Node, args: list[str]) -> int:
    """Print the neighbours; the lab's tool knows only the json0 form."""
    if "json0" not in " ".join(args):
        sys.stderr.write("lldpctl: the lab prints only -f json0\n")
        return 1
    neighbours = [_neighbour(each) for each in heard(node.lab, node.name)]
    answer = {"lldp": [{"interface": neighbours} if neighbours else {}]}
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    return 0


def _neighbour(each: Heard) -> dict[str, Any]:
    rails = each.system in ethernet.SWITCHES
    last = list(ethernet.SWITCHES).index(each.system) + 2 if rails else 1
    model = ethernet.SWITCHES[each.system].model if rails else "Cumulus Linux version 5.9.2 running on NVIDIA SN2201"
    return {
        "name": each.interface,
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 00:00:17",
        "chassis": [
            {
                "id": [{"type": "mac", "value": f"48:b0:2d:00:00:{last:02x}"}],
                "name": [{"value": each.system}],
                "descr": [{"value": model}],
                "mgmt-ip": [{"value": ethernet.address(each.system) if rails else plan.ETHERNET_SWITCH_ADDRESS}],
                "mgmt-iface": [{"value": "2"}],
                "capability": [{"type": "Bridge", "enabled": True}, {"type": "Router", "enabled": True}],
            }
        ],
        "port": [
            {
                "id": [{"type": "ifname", "value": each.port}],
                "descr": [{"value": each.port}],
                "ttl": [{"value": "120"}],
            }
        ],
    }
