"""The RoCE port of a node in the lab: eth0 of mlx5_8, which only a profile with `roce` has checked."""

from fleet_runner.lab.tools.node import Node

ADAPTER, INTERFACE, MTU, MBPS = "mlx5_8", "eth0", 9000, 100_000
USUAL_MTU = 1500
"""That of an interface that nobody set up."""

PRIORITIES = range(8)
LOSSLESS = 3


def lossless(node: Node) -> set[int]:
    """Return the priorities with PFC."""
    return set() if node.fault("pfc_off") is not None else {LOSSLESS}
