"""Which devices of a design are servers, where nobody says it.

What their ports are called tells it, else the graph. Switches number their ports (7, 1/7, swp7), servers name them
(mlx5_0, ib0). Where that tells nothing, a server has far fewer cables than each switch that it is joined to, and
stands beside other servers: a spine joins many leaves, and a core joins switches that no server is joined to.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from fleet_runner.core.cabling.directors import port_key
from fleet_runner.core.cabling.links import Link

_NUMBERED = re.compile(
    r"(?:swp|port|ethernet|osfp|qsfp|p|[a-z]{1,4}(?=[0-9]+[/:]))?[ _-]?[0-9]+(?:[/:.][0-9]+)*"
    r"|sw[0-9]+p[0-9]+(?:s[0-9]+)?",
    re.ASCII,
)
"""How switches call their ports: 7, 1/7, 1/7/1, swp7, Ethernet1/7, IB1/7, P7, P3.1, sw4p1."""

_OF_ADAPTERS = frozenset({"p0", "p1"})
"""How adapters with a processor of their own call theirs, too."""

MANY = 2
"""A switch has at least so many times the cables of each server at it."""


_SWITCHES = ("leaf", "spine", "core", "switch", "tor", "router")


def is_server(role: str) -> bool:
    """Whether a device of a role is a server: what is no kind of switch."""
    return not any(word in role.lower() for word in _SWITCHES)


def servers(links: Iterable[Link], told: Mapping[str, bool]) -> frozenset[str]:
    """Return the servers. `told` says of devices whether they are; that is believed."""
    neighbours: dict[str, list[str]] = {}
    numbered: dict[str, bool] = {}
    names: dict[str, set[str]] = {}
    for joined in links:
        for port, far in (joined, joined[::-1]):
            neighbours.setdefault(port.device, []).append(far.device)
            mine = _NUMBERED.fullmatch(port.interface.lower()) is not None or port_key(port.interface) != ""
            numbered[port.device] = numbered.get(port.device, True) and mine
            names.setdefault(port.device, set()).add(port.interface.lower())
    named = {device for device, switch in numbered.items() if not switch or names[device] <= _OF_ADAPTERS}
    found = named if 0 < len(named) < len(numbered) else _by_cables(neighbours)
    return frozenset(device for device in neighbours if told.get(device, device in found))


def _by_cables(neighbours: Mapping[str, list[str]]) -> set[str]:
    """Return the devices with far fewer cables than all at their far ends; where there are none, with fewer."""
    few = _fewer(neighbours, MANY) or _fewer(neighbours, 1)
    if not few:
        return set()
    counted = Counter(len(neighbours[device]) for device in few)
    usual = min(counted, key=lambda cables: (-counted[cables], cables))
    beside = {far for device in few if len(neighbours[device]) == usual for far in neighbours[device]}
    return {device for device in few if len(neighbours[device]) <= usual or beside.intersection(neighbours[device])}


def _fewer(neighbours: Mapping[str, list[str]], times: int) -> set[str]:
    """Return the devices of which every neighbour has more cables, and at least so many times as many."""
    cables = {device: len(far) for device, far in neighbours.items()}
    return {
        device
        for device, far in neighbours.items()
        if all(cables[each] > cables[device] and cables[each] >= times * cables[device] for each in far)
    }
