"""What differs, taken apart into independent faults.

Designed links E and observed links O are matchings, so their symmetric difference is a set of paths and even
cycles in which E and O take turns. No two of them share a port: each is a fault of its own. Linear in the links.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.links import Link, Port, link


@dataclass(frozen=True, slots=True)
class Component:
    """One fault's ports in walking order, and which kind of link comes first.

    Link i joins ports i and i+1 (and the last port the first, if `closed`); `first_designed` says whether link 0
    is designed; from there designed and observed links take turns.
    """

    ports: tuple[Port, ...]
    closed: bool
    first_designed: bool

    @property
    def links(self) -> tuple[tuple[Link, bool], ...]:
        """Return the links in walking order, each with whether it is designed."""
        after = (*self.ports[1:], self.ports[0]) if self.closed else self.ports[1:]
        pairs = zip(self.ports, after, strict=False)
        return tuple((link(a, b), (index % 2 == 0) == self.first_designed) for index, (a, b) in enumerate(pairs))

    @property
    def designed(self) -> tuple[Link, ...]:
        """Return the designed links that are not there."""
        return tuple(each for each, designed in self.links if designed)

    @property
    def observed(self) -> tuple[Link, ...]:
        """Return the links that are there and not designed."""
        return tuple(each for each, designed in self.links if not designed)


def diff(expected: Mapping[Port, Port], observed: Mapping[Port, Port]) -> tuple[Component, ...]:
    """Return every fault, in the order of its first port; both arguments are what `links.matching` returns."""
    ports = {port for port, far in expected.items() if observed.get(port) != far}
    ports.update(port for port in observed if port not in expected)
    ends = sorted(port for port in ports if port not in expected or port not in observed)
    seen: set[Port] = set()
    components: list[Component] = []
    for start in (*ends, *sorted(ports)):
        if start not in seen:
            component = _walk(start, expected, observed)
            seen.update(component.ports)
            components.append(component)
    return tuple(sorted(components, key=lambda component: min(component.ports)))


def _walk(start: Port, expected: Mapping[Port, Port], observed: Mapping[Port, Port]) -> Component:
    """Follow a path from one of its ends, or a cycle from any of its ports."""
    designed = start in expected
    ports = [start]
    along_design = designed
    while (port := (expected if along_design else observed).get(ports[-1])) is not None and port != start:
        ports.append(port)
        along_design = not along_design
    return Component(tuple(ports), port is not None, designed)
