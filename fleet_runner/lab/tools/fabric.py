"""The InfiniBand fabric as its devices see it: ports, links that are up, local identifiers."""

from typing import Any, NamedTuple

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node, plugged, read_state


class Port(NamedTuple):
    """A port of the fabric; `name` is what the device calls itself (its NodeDescription)."""

    kind: str  # "CA" or "SW"
    guid: str
    number: int
    name: str
    lid: int


class Link(NamedTuple):
    """A link that is up."""

    a: Port
    b: Port


def links(node: Node) -> tuple[Link, ...]:
    """Return every link that is up, seen from a node: both ends have power and a cable between them."""
    found: list[Link] = []
    powered: dict[str, bool] = {}
    for a, a_port, b, b_port in plugged(node.lab):
        if plan.ETHERNET_SWITCH in (a, b):
            continue
        if all(_powered(node, name, powered) for name in (a, b)):
            found.append(Link(port(a, a_port), port(b, b_port)))
    return tuple(found)


def port(device: str, interface: str) -> Port:
    """Return a port by its device's and interface's names in the design."""
    number = plan.index(device)
    if device.startswith("gpu-"):
        rail = int(interface.removeprefix("ib"))
        return Port("CA", plan.hca_guid(number, rail), 1, f"{device} mlx5_{rail}", 100 + number * plan.RAILS + rail)
    lid = number if device.startswith("leaf") else plan.RAILS + number
    return Port("SW", plan.switch_guid(device), int(interface), device, lid)


def _powered(node: Node, device: str, known: dict[str, bool]) -> bool:
    if not device.startswith("gpu-"):
        return True
    if device not in known:
        state: dict[str, Any] = node.state if device == node.name else read_state(node.lab, device)
        known[device] = state["power"] == "On"
    return known[device]
