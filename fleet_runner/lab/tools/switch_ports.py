"""What Ethernet switches of the lab say of their own ports, in their makers' forms, as `cabling.switches` asks."""

import json
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fleet_runner.lab import ethernet
from fleet_runner.lab.tools import roce
from fleet_runner.lab.tools.lldp import heard
from fleet_runner.lab.tools.node import Node

GBPS, MTU = 400, 9216

LOST_A_SECOND = 10**6
"""Blocks that a lossy cable's FEC does not correct: more than IEEE 802.3 allows in a day."""


class Port(NamedTuple):
    """A port as it is set, and what it has counted."""

    name: str
    up: bool
    mtu: int = MTU
    pfc: bool = True
    lost: int = 0
    storms: int = 0


def answer(lab: str, switch: str, command: str) -> str | None:
    """Return what a switch says to a command; None for one that it does not know."""
    tell = _ANSWERS[ethernet.SWITCHES[switch]].get(command)
    return None if tell is None else tell(_ports(lab, switch)) + "\n"


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table as SONiC writes it: titles, dashes, and cells below each other."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _ports(lab: str, switch: str) -> list[Port]:
    """Return the ports of a switch; those that hear somebody are up."""
    maker, there = ethernet.SWITCHES[switch], {each.interface: each for each in heard(lab, switch)}
    found: list[Port] = []
    for number in range(1, ethernet.PORTS + 1):
        far = there.get(maker.name(number))
        port = Port(maker.name(number), far is not None)
        if far is not None and far.system not in ethernet.SWITCHES:
            port = _beside(port, switch, Node(lab, far.system), far.port)
        found.append(port)
    return found


def _beside(port: Port, switch: str, node: Node, interface: str) -> Port:
    """Return the port at the other end of a node's, with the faults that are there."""
    mine = any(name == switch and interface == ethernet.interface(at) for at, name in enumerate(ethernet.LEAVES))
    awake = max(0.0, time.time() - node.state["boot"]["kernel"])
    return port._replace(
        mtu=roce.USUAL_MTU if mine and roce.has(node, "wrong_mtu", switch) else MTU,
        pfc=not (mine and roce.has(node, "pfc_off", switch)),
        lost=int(awake * LOST_A_SECOND) if roce.has(node, "lossy_cable", interface) else 0,
        storms=roce.STORMS if roce.has(node, "pause_storm", interface) else 0,
    )


def _eos_interfaces(ports: list[Port]) -> str:
    rows = {
        each.name: {
            "interfaceStatus": "connected" if each.up else "notconnect",
            "bandwidth": GBPS * 10**9 if each.up else 0,
            "mtu": each.mtu,
        }
        for each in ports
    }
    return json.dumps({"interfaces": rows})


def _eos_phy(ports: list[Port]) -> str:
    rows = {
        each.name: {
            "phyStatuses": [
                {
                    "description": {"location": "line"},
                    "fec": {"encoding": "reedSolomon", "uncorrectedCodewords": {"value": each.lost}},
                }
            ]
        }
        for each in ports
    }
    return json.dumps({"interfacePhyStatuses": rows})


def _eos_watchdog(ports: list[Port]) -> str:
    queue = str(roce.LOSSLESS)
    rows = {each.name: {"txQueues": {queue: {"stuckCount": each.storms}}} for each in ports if each.storms}
    return json.dumps({"interfaces": rows})


def _sonic_status(ports: list[Port]) -> str:
    titles = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
    kind = "OSFP 8X Pluggable Transceiver"
    rows = [
        (each.name, "0", f"{GBPS}G", str(each.mtu), "rs", f"etp{at}", "routed", _oper(each), "up", kind, "off")
        for at, each in enumerate(ports, start=1)
    ]
    return table([titles, *rows])


def _oper(port: Port) -> str:
    return "up" if port.up else "down"


def _sonic_pfc(ports: list[Port]) -> str:
    rows = [(each.name, str(roce.LOSSLESS) if each.pfc else "N/A") for each in ports]
    return table([("Interface", "Lossless priorities"), *rows])


def _sonic_watchdog(ports: list[Port]) -> str:
    """Only queues that had a storm are named."""
    titles = ("QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP")
    rows = [
        (f"{each.name}:{roce.LOSSLESS}", "operational", f"{each.storms}/{each.storms}", f"0/{roce.DROPS}", "0/0")
        for each in ports
        if each.storms
    ]
    return table([titles, *rows])


def _sonic_fec(ports: list[Port]) -> str:
    rows = [(each.name, "U" if each.up else "D", f"{each.lost:,}" if each.up else "N/A") for each in ports]
    return table([("IFACE", "STATE", "FEC_UNCORR"), *rows])


def _sonic_wred(ports: list[Port]) -> str:
    titles = ("Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes")
    return (
        "\n\n".join(table([titles, (each.name, f"UC{roce.LOSSLESS}", "0", "0", "0", "0")]) for each in ports) + "\n"
    )


def _sonic_flaps(ports: list[Port]) -> str:
    """No port of the lab ever went down while somebody was there."""
    titles = ("Interface", "Flap Count", "Admin", "Oper", "Link Down TimeStamp(UTC)", "Link Up TimeStamp(UTC)")
    return table([titles, *((each.name, "Never", "Up", _oper(each).title(), "Never", "Never") for each in ports)])


def _sonic_modules(ports: list[Port]) -> str:
    """Cables are of copper, which measures nothing."""
    plugged = "SFP EEPROM detected\n        Connector: No separable connector\n"
    return "\n".join(f"{each.name}: {plugged if each.up else 'SFP EEPROM Not detected'}" for each in ports)


def _nvue_interfaces(ports: list[Port]) -> str:
    rows = {
        each.name: {
            "type": "swp",
            "link": {"oper-status": _oper(each), "fec": "rs", "mtu": each.mtu, "speed": f"{GBPS}G"},
        }
        for each in ports
    }
    return json.dumps(rows)


def _nvue_roce(_ports: list[Port]) -> str:
    return json.dumps({"enable": "on", "mode": "lossless", "pfc": {"pfc-priority": str(roce.LOSSLESS)}})


_ANSWERS: dict[ethernet.Maker, dict[str, Callable[[list[Port]], str]]] = {
    ethernet.EOS: {
        "show interfaces | json": _eos_interfaces,
        "show interfaces phy detail | json": _eos_phy,
        "show priority-flow-control counters watchdog | json": _eos_watchdog,
    },
    ethernet.SONIC: {
        "show interfaces status": _sonic_status,
        "show pfc priority": _sonic_pfc,
        "show pfcwd stats": _sonic_watchdog,
        "show interfaces counters fec-stats": _sonic_fec,
        "show queue wredcounters": _sonic_wred,
        "show interfaces flap": _sonic_flaps,
        "show interfaces transceiver eeprom -d": _sonic_modules,
    },
    ethernet.NVUE: {"nv show interface -o json": _nvue_interfaces, "nv show qos roce -o json": _nvue_roce},
}
