"""`mlxlink -d mlx5_N -m --json`: one adapter's port and its module, as NVIDIA's mft prints them."""

import json
import sys
from typing import Any

from fleet_runner.lab import plan
from fleet_runner.lab.tools.fabric import links, port
from fleet_runner.lab.tools.node import Node

CELSIUS, HOT_CELSIUS = 51, 74
RX_DBM, DIM_DBM, DARK_DBM = 1.9, -13.8, -40.0
COPPER = 7
"""The rail whose cable is of copper, as in a rack where one switch is near: its module measures nothing."""


def run(node: Node, args: list[str]) -> int:
    """Print one adapter's answer; one that is not there is an error of the tool's own."""
    device = args[args.index("-d") + 1] if "-d" in args[:-1] else ""
    known = {f"mlx5_{rail}": rail for rail in range(plan.RAILS)}
    if device not in known:
        print(f'-E- Failed to open device: "{device}". No such file or directory', file=sys.stderr)  # noqa: T201  as the tool does
        return 1
    rail = known[device]
    mine = port(node.name, f"ib{rail}")
    speed = next((link.speed for link in links(node) if mine in {link.a, link.b}), "")
    up = bool(speed)
    output = {
        "Operational Info": {
            "State": "Active" if up else "Polling",
            "Physical state": "LinkUp" if up else "ETH_AN_FSM_ENABLE",
            "Speed": f"IB-{speed}" if up else "N/A",
            "Width": "4x" if up else "N/A",
            "Loopback Mode": "No Loopback",
        },
        "Module Info": _copper() if rail == COPPER else _optical(node, rail, up=up),
    }
    answer = {"result": {"output": output}, "status": {"code": 0, "message": "success"}}
    sys.stdout.write(json.dumps(answer, indent="\t", separators=(",", " : "), sort_keys=True) + "\n")
    return 0


def _optical(node: Node, rail: int, *, up: bool) -> dict[str, Any]:
    hot, dim = node.fault("hot_module"), node.fault("dim_module")
    celsius = HOT_CELSIUS if hot and hot["rail"] == rail else CELSIUS
    light = [RX_DBM if up else DARK_DBM] * 4
    if up and dim and dim["rail"] == rail:
        light[2] = DIM_DBM
    return {
        "Identifier": "OSFP",
        "Cable Type": "Optical Module (separated)",
        "Vendor Name": "NVIDIA",
        "Vendor Part Number": "MMA4Z00-NS400",
        "Vendor Serial Number": f"MT2344FT{node.state['index']:03d}{rail:02d}",
        "Temperature [C]": f"{celsius} [-10..80]",
        "Voltage [mV]": "3267.3 [2970..3630]",
        "Bias Current [mA]": "7.420,7.420,7.420,7.420 [2..15]",
        "Rx Power Current [dBm]": f"{','.join(f'{value:g}' for value in light)} [-10.41..6]",
        "Tx Power Current [dBm]": "1.562,1.427,1.559,1.761 [-8.508..5]",
        "Rx LOS [per lane]": {"values": ["0" if up else "1"] * 4},
    }


def _copper() -> dict[str, Any]:
    return {
        "Identifier": "OSFP",
        "Cable Type": "Passive copper cable",
        "Vendor Name": "NVIDIA",
        "Vendor Part Number": "MCP4Y10-N001",
        "Vendor Serial Number": "MT2341VB00001",
        "Temperature [C]": "0 [0..0]",
        "Voltage [mV]": "0 [0..0]",
        "Bias Current [mA]": "0,0,0,0 [0..0]",
        "Rx Power Current [dBm]": "0,0,0,0 [0..0]",
        "Tx Power Current [dBm]": "0,0,0,0 [0..0]",
    }
