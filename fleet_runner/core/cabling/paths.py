"""Pairs of ports between which the fewest tests use every link between switches.

Traffic between two leaves takes the shortest ways up and down again, and switches choose one for each flow (ECMP).
So a test between two leaves can use all links on these ways, in both directions, if it has flows enough. What leads
up from a leaf is used only by tests that begin or end there: half as many tests as leaves are the least.

Which way a flow takes is a hash that nobody outside the switch knows. How many flows make it likely that each link
has one is counted as if the hash spread them evenly; certain it is not.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.picture_layout import natural

LIKELY = 0.99
"""How likely it is, with as many flows as are told, that every link carries one of them in each direction."""

Graph = Mapping[str, Mapping[str, tuple[Link, ...]]]
"""The links between switches, by both of these."""

Ways = Mapping[str, list[tuple[str, tuple[Link, ...]]]]
"""From each switch the switches by which flows come nearer to one leaf, and the links to these."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One test: both its ports, the leaves they are plugged into, and what it covers that those before do not.

    `flows` is how many it takes; 1 where there is one way. `ways` are all links that its flows may take.
    """

    one: Port
    other: Port
    leaves: tuple[str, str]
    links: tuple[Link, ...]
    flows: int
    ways: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class PathTests:
    """All tests. `least` is a number of tests below which none can cover the same.

    `links` counts the links between switches that tests of all servers would have to use; `deserted` are links of
    leaves at which no idle server is, by leaf; `unreached` are others that lie on no shortest way between two leaves
    with idle servers.
    """

    pairs: tuple[Pair, ...]
    links: int
    least: int
    deserted: Mapping[str, tuple[Link, ...]]
    unreached: tuple[Link, ...]

    @property
    def covered(self) -> int:
        """Return how many links the tests use."""
        return sum(len(pair.links) for pair in self.pairs)


def path_tests(links: Iterable[Link], servers: Collection[str], idle: Collection[str]) -> PathTests:
    """Choose pairs of idle servers' ports. `links` are a fabric's designed links.

    A link between two leaves (of an MLAG pair) is no way up, and not to be covered. Nor is one between two switches
    that have all other neighbours in common: it is on no shortest way.
    """
    ends, goals = _goals(tuple(links), servers)
    leaves, graph = frozenset(ends), _graph(goals)
    free = {leaf: mine for leaf, ports in ends.items() if (mine := [port for port in ports if port.device in idle])}
    search = _Search(graph, leaves, {leaf: free[leaf] for leaf in sorted(free, key=natural)}, set(goals))
    chosen = search.chosen()
    ended = {leaf for leaf in free if any(leaf in (a.device, b.device) for each in chosen for a, b in each.new)}
    deserted, unreached = _left(search.left, leaves - free.keys())
    likely = 1 - (1 - LIKELY) / max(1, len(chosen))
    used = Counter[str]()
    pairs = [_pair(search, each, likely, used) for each in chosen]
    return PathTests(tuple(pairs), len(goals), math.ceil(len(ended) / 2), deserted, unreached)


def _goals(every: Collection[Link], servers: Collection[str]) -> tuple[dict[str, list[Port]], list[Link]]:
    """Return the servers' ports by leaf, and the links that lead up."""
    ends = _ends(every, servers)
    up = [each for each in every if not _inside(each, servers, ends.keys())]
    beside = {switch: frozenset(far) for switch, far in _graph(up).items()}
    return ends, [each for each in up if not _joins_twins(each, beside)]


def _ends(links: Iterable[Link], servers: Collection[str]) -> dict[str, list[Port]]:
    """Return the servers' ports by the leaf that they are plugged into."""
    found: dict[str, list[Port]] = defaultdict(list)
    for a, b in links:
        for near, far in ((a, b), (b, a)):
            if near.device in servers and far.device not in servers:
                found[far.device].append(near)
    return {leaf: sorted(ports, key=lambda port: natural(str(port))) for leaf, ports in found.items()}


def _inside(each: Link, servers: Collection[str], leaves: Collection[str]) -> bool:
    ends = (each.a.device, each.b.device)
    return any(end in servers for end in ends) or all(end in leaves for end in ends)


def _joins_twins(each: Link, beside: Mapping[str, frozenset[str]]) -> bool:
    one, other = each.a.device, each.b.device
    shared = beside[one] - {other}
    return bool(shared) and shared == beside[other] - {one}


def _graph(links: Iterable[Link]) -> Graph:
    found: dict[str, dict[str, list[Link]]] = defaultdict(lambda: defaultdict(list))
    for each in links:
        found[each.a.device][each.b.device].append(each)
        found[each.b.device][each.a.device].append(each)
    return {switch: {far: tuple(joined) for far, joined in beside.items()} for switch, beside in found.items()}


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Two leaves, the links that a test between them is the first to cover, and the shares of the flows back."""

    leaves: tuple[str, str]
    new: frozenset[Link]
    back: Mapping[Link, float]


@dataclass(slots=True)
class _Search:
    """Takes pair after pair, each time the one that covers most of what is left at a leaf and beyond."""

    graph: Graph
    leaves: frozenset[str]
    free: Mapping[str, list[Port]]
    left: set[Link]
    around: Counter[str] = field(default_factory=Counter[str])
    """How many links of each leaf no test uses yet, and under "" of those between other switches."""

    def chosen(self) -> list[_Chosen]:
        """Return pairs of leaves."""
        self.around.update(end for each in self.left for end in self._leaves_of(each))
        found: list[_Chosen] = []
        open_ = list(self.free)
        while open_ and self.left:
            one = max(open_, key=self.around.__getitem__)
            best = self._best(one)
            if best is None:
                open_.remove(one)
                continue
            found.append(best)
            self.left -= best.new
            self.around.subtract(end for each in best.new for end in self._leaves_of(each))
        return found

    def _best(self, one: str) -> _Chosen | None:
        """Return the leaf with which a leaf covers most; None where it covers nothing with any."""
        ways = self.toward(one)
        best: _Chosen | None = None
        for other in sorted(self._partners(one), key=self.around.__getitem__, reverse=True):
            most = self.around[one] + self.around[other] + self.around[""]
            if best is not None and len(best.new) >= most:
                break
            back = shares(other, ways)
            new = self.left & back.keys()
            if len(new) > (len(best.new) if best is not None else 0):
                best = _Chosen((one, other), frozenset(new), back)
        return best

    def _leaves_of(self, each: Link) -> list[str]:
        return [port.device for port in each if port.device in self.leaves] or [""]

    def _partners(self, one: str) -> list[str]:
        """Return the leaves at which another server is idle than at this one."""
        mine = {port.device for port in self.free[one]}
        return [
            leaf
            for leaf, ports in self.free.items()
            if leaf != one and (len(mine) > 1 or any(port.device not in mine for port in ports))
        ]

    def toward(self, leaf: str) -> Ways:
        """Return the shortest ways to a leaf, none of which leads through another leaf."""
        far, ahead, others = {leaf: 0}, [leaf], self.leaves - {leaf}
        found: dict[str, list[tuple[str, tuple[Link, ...]]]] = {leaf: []}
        for switch in ahead:
            beyond = far[switch] + 1
            for beside, joined in self.graph.get(switch, {}).items() if switch not in others else ():
                if beside not in far:
                    far[beside] = beyond
                    found[beside] = [(switch, joined)]
                    ahead.append(beside)
                elif far[beside] == beyond:
                    found[beside].append((switch, joined))
        return found


def shares(start: str, ways: Ways) -> dict[Link, float]:
    """Return which share of the flows from a leaf takes each link, if hashes spread them evenly."""
    found: dict[Link, float] = {}
    here: Mapping[str, float] = {start: 1.0} if start in ways else {}
    while here:
        ahead: dict[str, float] = defaultdict(float)
        for switch, share in here.items():
            part = share / max(1, sum(len(joined) for _, joined in ways[switch]))
            for nearer, joined in ways[switch]:
                found |= dict.fromkeys(joined, part)
                ahead[nearer] += part * len(joined)
        here = ahead
    return found


def other_nodes(pair: Pair, links: Iterable[Link], servers: Collection[str], idle: AbstractSet[str]) -> Pair | None:
    """Return the same test between two other idle servers at the same leaves; None where these have not both one.

    What two tests find that share no node is no node's.
    """
    free = idle - {pair.one.device, pair.other.device}
    ends = _ends(links, servers)
    mine, theirs = ([port for port in ends.get(leaf, ()) if port.device in free] for leaf in pair.leaves)
    found = next(((a, b) for a in mine for b in theirs if a.device != b.device), None)
    return None if found is None else replace(pair, one=found[0], other=found[1], links=())


def crossed(
    pair: Pair, fast: Pair, links: Iterable[Link], servers: Collection[str], idle: AbstractSet[str]
) -> tuple[Pair, ...]:
    """Return tests that part the leaves of a slow pair: each with another leaf of a fast pair, between other servers.

    One of them, or both, is left out where no idle server is; `fast` has no leaf in common with `pair`.
    """
    ends, goals = _goals(tuple(links), servers)
    search = _Search(_graph(goals), frozenset(ends), {}, set())
    free = idle - {pair.one.device, pair.other.device}
    found: list[Pair] = []
    for leaves in zip(pair.leaves, fast.leaves, strict=True):
        mine, theirs = ([port for port in ends.get(leaf, ()) if port.device in free] for leaf in leaves)
        ports = next(((a, b) for a in mine for b in theirs if a.device != b.device), None)
        ways = shares(leaves[0], search.toward(leaves[1]))
        if ports is not None and ways:
            found.append(Pair(*ports, leaves, (), flows(Counter(ways.values()), LIKELY), tuple(sorted(ways))))
    return tuple(found)


def _pair(search: _Search, chosen: _Chosen, likely: float, used: Counter[str]) -> Pair:
    """Return a test between two leaves; `used` counts how many tests each server has already."""
    one, other = chosen.leaves
    near, far = _ports(search.free[one], search.free[other], used)
    used.update((near.device, far.device))
    there = shares(one, search.toward(other))
    counted = Counter(way[each] for way in (there, chosen.back) for each in chosen.new)
    ways = tuple(sorted(chosen.back))
    return Pair(near, far, chosen.leaves, tuple(sorted(chosen.new)), flows(counted, likely), ways)


def _ports(mine: Iterable[Port], theirs: Iterable[Port], used: Counter[str]) -> tuple[Port, Port]:
    """Return a port of each leaf, of two servers: of those with the fewest tests, so that tests can run at once."""

    def tests(port: Port) -> int:
        return used[port.device]

    others = sorted(theirs, key=tests)
    return next((a, b) for a in sorted(mine, key=tests) for b in others if a.device != b.device)


def flows(shares: Mapping[float, int], likely: float) -> int:
    """Return how many flows it takes, so that every one of some links carries one with a likelihood at least.

    `shares` counts the links by the share of flows that each carries. The likelihood that one is missed is at most
    the sum of what it is for each.
    """

    def missed(count: int) -> float:
        return sum(links * (1 - share) ** count for share, links in shares.items())

    most = 1
    while missed(most) > 1 - likely:
        most *= 2
    least = most // 2
    while most - least > 1:
        middle = (most + least) // 2
        most, least = (most, middle) if missed(middle) > 1 - likely else (middle, least)
    return most


def _left(links: Iterable[Link], empty: Collection[str]) -> tuple[dict[str, tuple[Link, ...]], tuple[Link, ...]]:
    """Part links that no test uses by the leaf without an idle server that keeps them from it."""
    deserted: dict[str, list[Link]] = defaultdict(list)
    unreached: list[Link] = []
    for each in sorted(links):
        leaf = next((port.device for port in each if port.device in empty), None)
        (unreached if leaf is None else deserted[leaf]).append(each)
    return {leaf: tuple(deserted[leaf]) for leaf in sorted(deserted, key=natural)}, tuple(unreached)
