"""Links: unordered pairs of ports. Designed links and observed ones are both matchings: a port has one cable."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from operator import itemgetter
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


def each_link(pairs: Iterable[tuple[Port, Port]]) -> Iterator[Link]:
    """Yield what `link` returns of each pair; for some hundred thousand it takes half as long."""
    return map(partial(tuple.__new__, Link), (pair if pair[0] <= pair[1] else pair[::-1] for pair in pairs))


_TURNED = itemgetter(1, 0)


class PortTakenError(ValueError):
    """A port stands in two links: that is no design and no observation."""

    def __init__(self, port: Port, first: Port, second: Port) -> None:
        super().__init__(f"{port} has two cables, one to {first} and one to {second}; expected one")


def matching(links: Iterable[Link]) -> dict[Port, Port]:
    """Return each port's other end. Raises TakenError for a port with two cables or a cable onto itself."""
    told = tuple(links)
    ends = far_ends(told)
    return ends if len(ends) == 2 * len(told) else replaced({}, (), told)


def unplugged(designed: Iterable[Link], there: Collection[Link], expected: Mapping[Port, Port]) -> list[Link]:
    """Return the designed links that are not `there`, of those that `expected` has: what `matching` returns."""
    gone = {link(*joined) for joined in designed if joined not in there}
    return [joined for joined in gone if joined not in there and expected.get(joined.a) == joined.b]


def undesigned(links: Collection[Link], expected: Mapping[Port, Port]) -> list[Link]:
    """Return the links that are not designed. `expected` is what `matching` returns."""
    designed = map(expected.get, map(itemgetter(0), links))
    return [joined for joined, far in zip(links, designed, strict=True) if far != joined[1]]


def far_ends(links: Collection[Link]) -> dict[Port, Port]:
    """Return each port's other end; of a port with two cables that of the last."""
    return dict(zip(chain.from_iterable(links), chain.from_iterable(map(_TURNED, links)), strict=True))


def replaced(ends: Mapping[Port, Port], without: Iterable[Link], links: Iterable[Link]) -> dict[Port, Port]:
    """Return a matching without some of its links and with others, by the rules of `matching`."""
    ends = dict(ends)
    for port in chain.from_iterable(without):
        del ends[port]
    for a, b in links:
        if a not in ends and b not in ends and a != b:
            ends[a] = b
            ends[b] = a
        elif ends.get(a) != b:
            port, far = (a, b) if a in ends else (b, a)
            raise PortTakenError(port, ends.get(port, far), far)
    return ends
