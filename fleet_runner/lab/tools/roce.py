"""The RoCE ports of a node in the lab, which only a profile with `roce` has checked: eth0, and Ethernet rails."""

import os

from fleet_runner.lab import ethernet
from fleet_runner.lab.tools.node import Node

ADAPTER, INTERFACE, MTU, MBPS = "mlx5_8", "eth0", 9000, 100_000
USUAL_MTU = 1500
"""That of an interface that nobody set up."""

RAILS = {ethernet.interface(rail): ethernet.adapter(rail) for rail in range(ethernet.RAILS)}
"""The ports of a lab that has Ethernet rails, and the adapter of each."""

PRIORITIES = range(8)
LOSSLESS = 3

STORMS, DROPS = 3, 40_000
"""What both ends count of a host that takes nothing: storms, and dropped packets of the lossless priority."""

NET = "root/sys/class/net"


def is_port(node: Node, interface: str) -> bool:
    """Whether a node has this RoCE port: those of Ethernet rails only a lab has that was made with them."""
    mine = interface == INTERFACE or interface in RAILS
    return mine and os.path.isdir(os.path.join(node.lab, "nodes", node.name, NET, interface))


def has(node: Node, fault: str, where: str) -> bool:
    """Whether a fault of RoCE is at a port, or at the switch of its cable; one that does not say it is at eth0."""
    options = node.fault(fault)
    return options is not None and options.get("component", INTERFACE) == where


def lossless(node: Node, interface: str) -> set[int]:
    """Return the priorities with PFC."""
    return set() if has(node, "pfc_off", interface) else {LOSSLESS}
