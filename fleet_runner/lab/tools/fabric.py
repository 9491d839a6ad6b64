"""The InfiniBand fabric as its devices see it: ports, links that are up, local identifiers."""

from typing import Any, NamedTuple

from fleet_runner.lab import ethernet, plan
from fleet_runner.lab.tools.node import Node, plugged, read_state


class Port(NamedTuple):
    """A port of the fabric; `name` is what the device calls itself (its NodeDescription)."""

    kind: str  # "CA" or "SW"
    guid: str
    number: int
    name: str
    lid: int


class Link(NamedTuple):
    """A link that is up, and its speed."""

    a: Port
    b: Port
    speed: str = "NDR"


def links(node: Node) -> tuple[Link, ...]:
    """Return every link that is up, seen from a node: both ends have power and a cable between them."""
    found: list[Link] = []
    servers: dict[str, dict[str, Any]] = {node.name: node.state}
    for a, a_port, b, b_port in plugged(node.lab):
        if b == plan.ETHERNET_SWITCH or b in ethernet.SWITCHES:
            continue
        for name in (a, b):
            if name.startswith("gpu-") and name not in servers:
                servers[name] = read_state(node.lab, name)
        ends = [(servers[name], interface) for name, interface in ((a, a_port), (b, b_port)) if name in servers]
        if all(state["power"] == "On" for state, _ in ends):
            speed = "HDR" if any(_is_slow(*end) for end in ends) else "NDR"
            found.append(Link(port(a, a_port), port(b, b_port), speed))
    return tuple(found)


def _is_slow(state: dict[str, Any], interface: str) -> bool:
    """Whether a server's port has trained at half of its speed."""
    slow = state["faults"].get("slow_port")
    return slow is not None and interface == f"ib{slow['rail']}"


def port(device: str, interface: str) -> Port:
    """Return a port by its device's and interface's names in the design."""
    number = plan.index(device)
    if device.startswith("gpu-"):
        rail = int(interface.removeprefix("ib"))
        return Port("CA", plan.hca_guid(number, rail), 1, f"{device} mlx5_{rail}", 100 + number * plan.RAILS + rail)
    lid = number if device.startswith("leaf") else plan.RAILS + number
    return Port("SW", plan.switch_guid(device), int(interface), device, lid)
