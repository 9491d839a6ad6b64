"""What an Ethernet switch of the lab answers over ssh: its LLDP neighbours, and the state of its ports."""

import json
import sys
from typing import Any

from fleet_runner.lab import ethernet
from fleet_runner.lab.tools import switch_ports
from fleet_runner.lab.tools.lldp import Heard, dead, heard

COMMANDS = {
    ethernet.EOS: "show lldp neighbors detail | json",
    ethernet.SONIC: "show lldp table",
    ethernet.NVUE: "nv show interface lldp-detail -o json || nv show interface lldp -o json || lldpctl -f json0",
}


def run(lab: str, switch: str, command: str) -> int:
    """Answer as the switch does: it knows no other command, and only reads."""
    if [switch] in dead(lab):
        sys.stderr.write(f"ssh: connect to host {switch} port 22: No route to host\r\n")
        return 255
    maker = ethernet.SWITCHES[switch]
    if (said := switch_ports.answer(lab, switch, command)) is not None:
        sys.stdout.write(said)
        return 0
    if command != COMMANDS[maker]:
        sys.stderr.write(f"% Invalid input: the lab's {switch} knows {COMMANDS[maker]}, and what tells its ports\n")
        return 1
    tell = {ethernet.EOS: _eos, ethernet.SONIC: _sonic, ethernet.NVUE: _nvue}[maker]
    sys.stdout.write(tell(heard(lab, switch)) + "\n")
    return 0


def _eos(found: list[Heard]) -> str:
    ports: dict[str, Any] = {
        each.interface: {
            "lldpNeighborInfo": [
                {
                    "systemName": each.system,
                    "neighborInterfaceInfo": {
                        "interfaceIdType": "interfaceName",
                        "interfaceId": f'"{each.port}"',
                        "interfaceId_v2": each.port,
                        "interfaceDescription": each.port,
                    },
                }
            ]
        }
        for each in found
    }
    return json.dumps({"lldpNeighbors": ports})


def _nvue(found: list[Heard]) -> str:
    ports = {
        each.interface: {
            "lldp": {
                "neighbor": {
                    each.system: {
                        "chassis": {"system-name": each.system},
                        "port": {"name": each.port, "type": "ifname", "description": each.port},
                    }
                }
            }
        }
        for each in found
    }
    return json.dumps(ports)


def _sonic(found: list[Heard]) -> str:
    titles = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    rows = [(each.interface, each.system, each.port, "O", each.port) for each in found]
    told = switch_ports.table([titles, *rows])
    legend = "Capability codes: (R) Router, (B) Bridge, (O) Other"
    return f"{legend}\n{told}\n{'-' * 70}\nTotal entries displayed:  {len(found)}"
