"""Cables with several ends that took each other's ports: one fault of two plugs, not one for each of their lanes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling.diff import Component
from fleet_runner.core.cabling.explain import Fault, Kind, Places, digest, listed
from fleet_runner.core.cabling.lanes import cage_of
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.plan import Move

TWO = 2
"""Links of a swap, and its ends on either side."""


class Exchange(NamedTuple):
    """Two ports that are broken out, and the swaps that all of their lanes are in."""

    one: Port
    other: Port
    components: tuple[Component, ...]


def exchanged(components: Iterable[Component], expected: Mapping[Port, Port], places: Places) -> Iterator[Exchange]:
    """Yield the exchanges of whole ports: each designed lane of one is swapped with a lane of the other."""
    pairs: dict[tuple[Port, ...], list[Component]] = defaultdict(list)
    for each in components if places.lanes else ():
        told = sorted(cage for port in each.ports if (cage := cage_of(port, places.lanes)))
        two = tuple(dict.fromkeys(told))
        if each.closed and len(each.designed) == len(told) == len(two) == TWO:
            pairs[two].append(each)
    for (one, other), mine in pairs.items():
        lanes = [cage for port in expected if (cage := cage_of(port, (one, other)))]
        if len(mine) > 1 and lanes.count(one) == lanes.count(other) == len(mine):
            yield Exchange(one, other, tuple(mine))


def fault(it: Exchange, places: Places) -> Fault:
    """Return it as one fault; its moves are of all lanes, which go with two plugs."""
    designed = tuple(sorted(each for part in it.components for each in part.designed))
    observed = tuple(sorted(each for part in it.components for each in part.observed))
    moves = tuple(move for part in it.components for move in _moves(part, places))
    message = (
        f"The cables of {it.one} and {it.other}, which have several ends each, are swapped: expected"
        f" {listed(designed)}, observed {listed(observed)}."
    )
    one, other = places.port(it.one), places.port(it.other)
    steps = (
        f"Unplug {one} and {other}: all far ends of each are designed at the other.",
        f"Plug the cable that was in {one} into {other}, and that of {other} into {one}; their other ends stay.",
    )
    ports = tuple(sorted({port for each in designed for port in each}))
    key = f"cabling/{it.one.device}/{it.one.interface}/{digest(map(str, (it.one, it.other)))}"
    return Fault(Kind.SWAP, key, message, steps, moves, ports, designed, observed)


def _moves(component: Component, places: Places) -> Iterator[Move]:
    """Yield the moves of a swap that are made at the lanes."""
    back = {near: far for each in component.designed for near, far in (each, each[::-1])}
    for a, b in component.observed:
        lane, far = (a, b) if cage_of(a, places.lanes) else (b, a)
        yield Move(far, lane, back[far])
