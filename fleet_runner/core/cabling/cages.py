"""Cables with several ends that took each other's ports: one fault of two plugs, not one for each of their lanes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
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


def exchanged(components: Iterable[Component], places: Places) -> Iterator[Exchange]:
    """Yield the exchanges of whole ports: each designed lane of one is swapped with a lane of the other.

    Far ends that were not compared may be right, and would go with the plug: where there is one, nothing is yielded.
    """
    pairs: dict[tuple[Port, ...], list[Component]] = defaultdict(list)
    for each in components if places.far_ends else ():
        told = sorted(cage for port in each.ports if (cage := cage_of(port, places.far_ends)))
        two = tuple(dict.fromkeys(told))
        if each.closed and len(each.designed) == len(told) == len(two) == TWO and _goes_with_a_plug(each, places):
            pairs[two].append(each)
    for (one, other), mine in pairs.items():
        if len(mine) > 1 and places.far_ends[one] == places.far_ends[other] == len(mine):
            yield Exchange(one, other, tuple(mine))


def _goes_with_a_plug(component: Component, places: Places) -> bool:
    """Whether both lanes have the same place in their ports, where the design says at which lane each end belongs."""
    lanes = [(cage, port) for port in component.ports if (cage := cage_of(port, places.far_ends))]
    (one, mine), (other, theirs) = lanes
    any_lane = one in places.lanes and other in places.lanes
    return any_lane or mine.interface[len(one.interface) :] == theirs.interface[len(other.interface) :]


def fault(it: Exchange, places: Places) -> Fault:
    """Return it as one fault; its moves are of all lanes, which go with two plugs."""
    designed = tuple(sorted(each for part in it.components for each in part.designed))
    observed = tuple(sorted(each for part in it.components for each in part.observed))
    moves = tuple(move for part in it.components for move in _moves(part, places))
    message = (
        f"The cables of {it.one} and {it.other}, which have several ends each, are swapped: expected"
        f" {listed(designed)}, observed {listed(observed)}."
    )
    ports = tuple(sorted({port for each in designed for port in each}))
    one, other = (_plug(cage, ports, places) for cage in (it.one, it.other))
    steps = (
        f"Unplug {one} and {other}: all far ends of each are designed at the other.",
        f"Plug the cable that was in {one} into {other}, and that of {other} into {one}; their other ends stay.",
    )
    key = f"cabling/{it.one.device}/{it.one.interface}/{digest(map(str, (it.one, it.other)))}"
    return Fault(Kind.SWAP, key, message, steps, moves, ports, designed, observed)


def _plug(cage: Port, ports: Iterable[Port], places: Places) -> str:
    """Return a port in words, with its lanes where the design has only these: they may be ports of a card."""
    lanes = [port.interface for port in ports if cage_of(port, (cage,))]
    named = f"{cage.interface} ({', '.join(lanes)})"
    return places.port(cage if cage in places.lanes else Port(cage.device, named))


def _moves(component: Component, places: Places) -> Iterator[Move]:
    """Yield the moves of a swap that are made at the lanes."""
    back = {near: far for each in component.designed for near, far in (each, each[::-1])}
    for a, b in component.observed:
        lane, far = (a, b) if cage_of(a, places.far_ends) else (b, a)
        yield Move(far, lane, back[far])
