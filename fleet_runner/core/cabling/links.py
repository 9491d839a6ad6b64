"""Links: unordered pairs of ports. Designed links and observed ones are both matchings: a port has one cable."""

from collections.abc import Collection, ItemsView, Iterable, Iterator, KeysView, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress
from operator import itemgetter
from typing import NamedTuple

from fleet_runner.core.cabling.indexed_ends import IndexedEnds
from fleet_runner.core.cabling.port_index import IndexedPorts, PortIndex
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

    `near` and `far` are the ends, in any order, by their indices in `ports`: none stands in two links. `made` is the
    same as a dict, once it was asked for.
    """

    ports: IndexedPorts
    near: Sequence[int]
    far: Sequence[int]
    rates: Sequence[str]
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

    def ends(self) -> Iterator[tuple[Port, Port]]:
        """Yield both ends of each link, in any order; no link is made for that."""
        port = self.ports.every.__getitem__
        return zip(map(port, self.near), map(port, self.far), strict=True)

    def _links(self) -> dict[Link, str]:
        if not self.made:
            self.made.append(dict(zip(each_link(self.ends()), self.rates, strict=True)))
        return self.made[0]


def both_ends(links: Iterable[Link]) -> Iterable[tuple[Port, Port]]:
    """Return both ends of each link, in any order; no link is made for that."""
    return links.ends() if isinstance(links, LinkColumns) else links


def rates_of(links: Mapping[Link, str]) -> Collection[str]:
    """Return the rate of each link; no link is made for that."""
    return links.rates if isinstance(links, LinkColumns) else links.values()


def without(links: Mapping[Link, str], gone: Collection[Link]) -> Mapping[Link, str]:
    """Return the links without those that are gone."""
    if not isinstance(links, LinkColumns):
        return {joined: rate for joined, rate in links.items() if joined not in gone}
    ports = set(map(links.ports.find, chain.from_iterable(gone)))
    stay = [at not in ports for at in links.near]
    near, far = (list(compress(ends, stay)) for ends in (links.near, links.far))
    return LinkColumns(links.ports, near, far, list(compress(links.rates, stay)))


class PortTakenError(ValueError):
    """A port stands in two links: that is no design and no observation."""

    def __init__(self, port: Port, first: Port, second: Port) -> None:
        super().__init__(f"{port} has two cables, one to {first} and one to {second}; expected one")


def matching(links: Iterable[Link]) -> dict[Port, Port]:
    """Return each port's other end. Raises TakenError for a port with two cables or a cable onto itself."""
    told = tuple(links)
    ends = far_ends(told)
    if len(ends) < 2 * len(told):
        ends = {}
        _plug(ends, told)
    return ends


def designed_ends(links: Sequence[Link], seen: Mapping[Link, str]) -> MutableMapping[Port, Port]:
    """Return what `matching` does of a design; by index where what is seen was bound to the ports of these links."""
    if isinstance(seen, LinkColumns):
        return in_turn(seen.ports.index, links) or matching(links)
    return matching(links)


def in_turn(index: PortIndex, links: Sequence[Link]) -> IndexedEnds | None:
    """Return each port's other end by its index, where that has the ends of these links in turn, each once."""
    same = index.distinct and index.ports == tuple(chain.from_iterable(links))  # the same objects, as a rule
    return IndexedEnds(index) if same and links else None


def unplugged(expected: Mapping[Port, Port], there: Iterable[Link]) -> list[Link]:
    """Return the designed links that are not `there`: no others are. `expected` is what `matching` returns."""
    if isinstance(expected, IndexedEnds) and isinstance(there, LinkColumns) and expected.are_of(there.ports.index):
        ports = expected.index.ports
        met = bytearray(len(ports) // 2)
        for at in there.near:
            met[at >> 1] = 1
        return [link(*ports[2 * at : 2 * at + 2]) for at, found in enumerate(met) if not found]
    empty = expected.keys() - set(chain.from_iterable(both_ends(there)))
    return list({link(port, expected[port]) for port in empty})


def undesigned(links: Iterable[Link], expected: Mapping[Port, Port]) -> list[Link]:
    """Return the links that are not designed. `expected` is what `matching` returns."""
    if isinstance(expected, IndexedEnds) and isinstance(links, LinkColumns) and expected.are_of(links.ports.index):
        ports = links.ports.every
        return [link(ports[a], ports[b]) for a, b in zip(links.near, links.far, strict=True) if a ^ 1 != b]
    return [link(a, b) for a, b in both_ends(links) if expected.get(a) != b]


def devices_of(ends: Mapping[Port, Port]) -> set[str]:
    """Return the devices of all ports of a matching."""
    return ends.devices() if isinstance(ends, IndexedEnds) else set(map(itemgetter(0), ends))


def far_ends(links: Collection[Link]) -> dict[Port, Port]:
    """Return each port's other end; of a port with two cables that of the last."""
    ends: dict[Port, Port] = {}
    for a, b in links:  # of some hundred thousand a loop takes half of what chained iterators take
        ends[a] = b
        ends[b] = a
    return ends


def replaced(ends: Mapping[Port, Port], without: Iterable[Link], links: Iterable[Link]) -> MutableMapping[Port, Port]:
    """Return a matching without some of its links and with others, by the rules of `matching`."""
    ends = ends.copy() if isinstance(ends, IndexedEnds) else dict(ends)
    for port in chain.from_iterable(without):
        del ends[port]
    _plug(ends, links)
    return ends


def _plug(ends: MutableMapping[Port, Port], links: Iterable[Link]) -> None:
    for a, b in links:
        if a not in ends and b not in ends and a != b:
            ends[a] = b
            ends[b] = a
        elif ends.get(a) != b:
            port, far = (a, b) if a in ends else (b, a)
            raise PortTakenError(port, ends.get(port, far), far)
