"""Who hears whom over LLDP: both ends of a plugged Ethernet cable, if both devices are up."""

import json
import os
from typing import NamedTuple

from fleet_runner.lab import ethernet, plan
from fleet_runner.lab.tools.node import read_state


class Heard(NamedTuple):
    """What a device hears at one of its ports."""

    interface: str
    system: str
    port: str


def fabric(lab: str) -> dict[str, list[list[str]]]:
    """Return the cables as they are plugged, and the dead switches."""
    with open(os.path.join(lab, "fabric.json"), encoding="utf-8") as file:
        found: dict[str, list[list[str]]] = json.load(file)
    return found


def dead(lab: str) -> list[list[str]]:
    """Return the switches without power, each in a list of its own."""
    return fabric(lab).get("dead", [])


def heard(lab: str, device: str) -> list[Heard]:
    """Return all that a device hears, in the order of the design."""
    gone = [name for (name,) in dead(lab)]
    found = [
        Heard(near_port, far, far_port)
        for a, a_port, b, b_port in fabric(lab)["cables"]
        for near, near_port, far, far_port in ((a, a_port, b, b_port), (b, b_port, a, a_port))
        if near == device and near_port not in _INFINIBAND and far not in gone
    ]
    return [each for each in found if _speaks(lab, each.system)]


_INFINIBAND = frozenset(f"ib{rail}" for rail in range(plan.RAILS))


def _speaks(lab: str, device: str) -> bool:
    if device in ethernet.SWITCHES or device == plan.ETHERNET_SWITCH:
        return True
    return bool(read_state(lab, device)["power"] == "On")
