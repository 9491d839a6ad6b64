"""`lldpctl -f json0`: the neighbour at eth0, as lldpd writes it with every value in a list."""

import json
import sys
from typing import Any

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node, plugged


def run(node: Node, args: list[str]) -> int:
    """Print the neighbours; the lab's tool knows only the json0 form."""
    if "json0" not in " ".join(args):
        sys.stderr.write("lldpctl: the lab prints only -f json0\n")
        return 1
    neighbours = [
        _neighbour(b_port)
        for a, a_port, b, b_port in plugged(node.lab)
        if (a, a_port, b) == (node.name, "eth0", plan.ETHERNET_SWITCH)
    ]
    answer = {"lldp": [{"interface": neighbours} if neighbours else {}]}
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    return 0


def _neighbour(port: str) -> dict[str, Any]:
    return {
        "name": "eth0",
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 00:00:17",
        "chassis": [
            {
                "id": [{"type": "mac", "value": "48:b0:2d:00:00:01"}],
                "name": [{"value": plan.ETHERNET_SWITCH}],
                "descr": [{"value": "Cumulus Linux version 5.9.2 running on NVIDIA SN2201"}],
                "mgmt-ip": [{"value": "127.20.0.2"}],
                "mgmt-iface": [{"value": "2"}],
                "capability": [{"type": "Bridge", "enabled": True}, {"type": "Router", "enabled": True}],
            }
        ],
        "port": [
            {
                "id": [{"type": "ifname", "value": port}],
                "descr": [{"value": port}],
                "ttl": [{"value": "120"}],
            }
        ],
    }
