"""Arista EOS: `show lldp neighbors detail | json`, and the same without `detail`, also as eAPI wraps it."""

from collections.abc import Iterator
from typing import Any

from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, entries, get, holders, neighbour, word

KEY = "lldpNeighbors"


def read(root: Any) -> Heard:
    """Return what a switch hears."""
    return Heard("", tuple(each for holder in holders(root, KEY) for each in _neighbours(get(holder, KEY))))


def _neighbours(told: Any) -> Iterator[Neighbour]:
    if isinstance(told, list):  # without detail
        for each in told:
            yield Neighbour(
                word(get(each, "port")), word(get(each, "neighborDevice")), word(get(each, "neighborPort")), ""
            )
        return
    for interface, body in told.items() if isinstance(told, dict) else ():
        for each in entries(get(body, "lldpNeighborInfo")):
            port = get(each, "neighborInterfaceInfo")
            yield neighbour(
                interface,
                word(get(each, "systemName")),
                word(get(port, "interfaceId_v2")) or word(get(port, "interfaceId")).strip('"'),
                word(get(port, "interfaceDescription")),
                word(get(port, "interfaceIdType")),
            )
