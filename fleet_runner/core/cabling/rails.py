"""Which of a node's ports lie in one fabric: rails that are fabrics of their own are not seen from each other."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fleet_runner.core.cabling.design import designed, infiniband, places
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.inventory import profile


def rails(links: Iterable[Link], node: str, servers: Collection[str]) -> tuple[tuple[Port, ...], ...]:
    """Return the node's ports by the fabric that they lie in: the switches that the design joins, directly or not."""
    beside: dict[str, set[str]] = {}
    mine: list[tuple[Port, str]] = []
    for a, b in links:
        if a.device not in servers and b.device not in servers:
            beside.setdefault(a.device, set()).add(b.device)
            beside.setdefault(b.device, set()).add(a.device)
        if node in {a.device, b.device}:
            mine.append((a, b.device) if a.device == node else (b, a.device))
    found: dict[frozenset[str], list[Port]] = {}
    for port, switch in sorted(mine):
        found.setdefault(_joined(switch, beside), []).append(port)
    return tuple(map(tuple, found.values()))


def eyes(fabric: Mapping[str, Any], node: str, wanted: profile.Profile) -> tuple[tuple[str, ...], ...]:
    """Return a node's adapters by the designed fabric that they lie in; () if all its ports lie in one.

    A fabric has none where the profile does not say which adapters its ports are.
    """
    apart = rails(designed(fabric, infiniband), node, places(fabric).servers)
    if len(apart) <= 1:
        return ()
    named = {interface: adapter for adapter, interface in profile.hca_interfaces(wanted).items()}
    return tuple(tuple(named[port.interface] for port in rail if port.interface in named) for rail in apart)


def _joined(switch: str, beside: Mapping[str, set[str]]) -> frozenset[str]:
    found, ahead = {switch}, [switch]
    while ahead:
        new = beside.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return frozenset(found)
