"""Links: unordered pairs of ports. Designed links and observed ones are both matchings: a port has one cable."""

from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.inventory.records import Termination

Port = Termination


class Link(NamedTuple):
    """Two ports that a cable joins, the smaller first; make it with `link`."""

    a: Port
    b: Port


def link(one: Port, other: Port) -> Link:
    """Return the link between two ports, whichever is named first."""
    return Link(one, other) if one <= other else Link(other, one)


class PortTakenError(ValueError):
    """A port stands in two links: that is no design and no observation."""

    def __init__(self, port: Port, first: Port, second: Port) -> None:
        super().__init__(f"{port} has two cables, one to {first} and one to {second}; expected one")


def matching(links: Iterable[Link]) -> dict[Port, Port]:
    """Return each port's other end. Raises TakenError for a port with two cables or a cable onto itself."""
    ends: dict[Port, Port] = {}
    for a, b in links:
        if a not in ends and b not in ends and a != b:
            ends[a] = b
            ends[b] = a
        elif ends.get(a) != b:
            port, far = (a, b) if a in ends else (b, a)
            raise PortTakenError(port, ends.get(port, far), far)
    return ends
