"""Links: unordered pairs of ports. Designed links and observed ones are both matchings: a port has one cable."""

from collections.abc import Collection, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress
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


@dataclass(frozen=True, slots=True, eq=False)
class LinkColumns(Mapping[Link, str]):
    """Links and their rates by columns, since a large fabric has some hundred thousand: made when one is asked for.

    `near` and `far` are the ends, in any order, and `ports` the same ones: none stands in two links. `made` is the
    same as a dict, once it was asked for.
    """

    near: Sequence[Port]
    far: Sequence[Port]
    rates: Sequence[str]
    ports: AbstractSet[Port]
    made: list[dict[Link, str]] = field(default_factory=list[dict[Link, str]])

    def __getitem__(self, joined: Link) -> str:
        return self._links()[joined]

    def __iter__(self) -> Iterator[Link]:
        return iter(self._links())

    def __len__(self) -> int:
        return len(self.rates)

    def keys(self) -> KeysView[Link]:
        """Return the links."""
        return self._links().keys()

    def items(self) -> ItemsView[Link, str]:
        """Return each link with its rate."""
        return self._links().items()

    def _links(self) -> dict[Link, str]:
        if not self.made:
            self.made.append(dict(zip(each_link(zip(self.near, self.far, strict=True)), self.rates, strict=True)))
        return self.made[0]


def both_ends(links: Iterable[Link]) -> Iterable[tuple[Port, Port]]:
    """Return both ends of each link, in any order; no link is made for that."""
    return zip(links.near, links.far, strict=True) if isinstance(links, LinkColumns) else links


def rates_of(links: Mapping[Link, str]) -> Collection[str]:
    """Return the rate of each link; no link is made for that."""
    return links.rates if isinstance(links, LinkColumns) else links.values()


def without(links: Mapping[Link, str], gone: Collection[Link]) -> Mapping[Link, str]:
    """Return the links without those that are gone."""
    if not isinstance(links, LinkColumns):
        return {joined: rate for joined, rate in links.items() if joined not in gone}
    ports = set(chain.from_iterable(gone))
    stay = [port not in ports for port in links.near]
    near, far = (list(compress(ends, stay)) for ends in (links.near, links.far))
    return LinkColumns(near, far, list(compress(links.rates, stay)), links.ports - ports)


class PortTakenError(ValueError):
    """A port stands in two links: that is no design and no observation."""

    def __init__(self, port: Port, first: Port, second: Port) -> None:
        super().__init__(f"{port} has two cables, one to {first} and one to {second}; expected one")


def matching(links: Iterable[Link]) -> dict[Port, Port]:
    """Return each port's other end. Raises TakenError for a port with two cables or a cable onto itself."""
    told = tuple(links)
    ends = far_ends(told)
    return ends if len(ends) == 2 * len(told) else replaced({}, (), told)


def unplugged(expected: Mapping[Port, Port], there: Iterable[Link]) -> list[Link]:
    """Return the designed links that are not `there`; `expected` is what `matching` returns."""
    ports = there.ports if isinstance(there, LinkColumns) else set(chain.from_iterable(there))
    return list({link(port, expected[port]) for port in expected.keys() - ports})


def undesigned(links: Iterable[Link], expected: Mapping[Port, Port]) -> list[Link]:
    """Return the links that are not designed. `expected` is what `matching` returns."""
    if not isinstance(links, LinkColumns):
        return [joined for joined in links if expected.get(joined[0]) != joined[1]]
    goals = map(expected.get, links.near)
    rows = zip(links.near, links.far, goals, strict=True)
    return [link(a, b) for a, b, goal in rows if goal is not b and goal != b]  # a port is the design's own as a rule


def far_ends(links: Collection[Link]) -> dict[Port, Port]:
    """Return each port's other end; of a port with two cables that of the last."""
    ends: dict[Port, Port] = {}
    for a, b in links:  # of some hundred thousand a loop takes half of what chained iterators take
        ends[a] = b
        ends[b] = a
    return ends


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
