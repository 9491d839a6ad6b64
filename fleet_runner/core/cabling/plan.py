"""The fewest touches that put a fault right.

Each observed cable of a fault can become a designed one by moving one end, because they share a port. A fault with
m designed and n observed links needs max(m, n) touches; where there is a choice, the plan with the fewest racks
wins, then the fewest devices, then the one that works at the switches. No plug is moved that is one of several in a
cable, where there is a choice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.diff import Component
from fleet_runner.core.cabling.links import Link, Port, link


@dataclass(frozen=True, slots=True)
class Move:
    """One end of a cable goes from `source` to `target`; the other end stays plugged in `stays`."""

    stays: Port
    source: Port
    target: Port


@dataclass(frozen=True, slots=True)
class Add:
    """A cable goes in."""

    cable: Link


@dataclass(frozen=True, slots=True)
class Remove:
    """A cable comes out."""

    cable: Link


@dataclass(frozen=True, slots=True)
class Restore:
    """What is down as a whole (a device, a trunk) comes back, and its links with it."""

    what: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Each device stands in the next one's place, the last in the first's; the cables of their places stay."""

    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """The source of truth is told what stands there now. No hand is needed at the fabric.

    `known` is the GUID that it has ("" for none), `found` the one that is seen; `interface` is "" for a whole device.
    """

    device: str
    interface: str
    known: str
    found: str


@dataclass(frozen=True, slots=True)
class Reseat:
    """A cable that runs slower or narrower than it should is plugged anew; `rate` says how it runs."""

    cable: Link
    rate: str


Touch = Move | Add | Remove
"""What hands do to one cable."""

Action = Touch | Restore | Exchange | Record | Reseat

TRIED = 65
"""Links of a fault up to which each way is tried: beyond, a fabric is a heap, and trying is quadratic."""


def handled(action: Touch) -> tuple[Port, Port]:
    """Return the ports at which somebody stands."""
    match action:
        case Move(_, source, target):
            return source, target
        case _:
            return action.cable


Where = Callable[[str], str]
"""From a device to its rack, or whatever a person walks between."""


def plan(
    component: Component, rack: Where, server: Callable[[str], bool], lane: Callable[[Port], bool] = lambda _: False
) -> tuple[Touch, ...]:
    """Return the cheapest plan. `server` tells servers from switches, `lane` ports that share their plug."""

    def cost(actions: tuple[Touch, ...]) -> tuple[int, int, int, int]:
        ports = {port for action in actions for port in handled(action)}
        devices = {port.device for port in ports}
        racks = {rack(device) for device in devices}
        return sum(map(lane, ports)), len(racks), len(devices), sum(map(server, devices))

    return min(plans(component), key=cost)


def apply(actions: Iterable[Action], observed: Iterable[Link]) -> frozenset[Link]:
    """Return the links after the actions: a plan must turn what is plugged into what is designed.

    Devices are exchanged first: all other actions name a port by the place in which its device belongs.
    """
    every = tuple(actions)
    places = {
        device: place
        for action in every
        if isinstance(action, Exchange)
        for device, place in zip(action.devices, (*action.devices[1:], action.devices[0]), strict=True)
    }
    links = set(renamed(observed, places)) if places else set(observed)
    gone: set[Link] = set()
    come: set[Link] = set()
    for action in every:
        match action:
            case Move(stays, source, target):
                gone.add(link(stays, source))
                come.add(link(stays, target))
            case Add(cable):
                come.add(cable)
            case Remove(cable):
                gone.add(cable)
            case Restore(_, restored):
                come.update(restored)
            case _:
                pass
    return frozenset((links - gone) | come)


def renamed(links: Iterable[Link], places: Mapping[str, str]) -> Iterator[Link]:
    """Give each link's ends the names of the places in which their devices stand."""
    for a, b in links:
        yield link(
            Port(places.get(a.device, a.device), a.interface), Port(places.get(b.device, b.device), b.interface)
        )


def plans(component: Component) -> tuple[tuple[Touch, ...], ...]:
    """Pair neighbouring links in each way that leaves at most one over."""
    links = component.links
    count = len(links)
    if component.closed:
        turned = (*links[1:], links[0])
        return _round(_paired(links, None)), _round(_paired(turned, None))
    if count % 2 == 0:
        return (_paired(links, None),)
    lefts = range(0, count, 2) if count <= TRIED else (0, count - 1)
    return tuple(_paired((*links[:left], *links[left + 1 :]), links[left]) for left in lefts)


def _paired(links: tuple[tuple[Link, bool], ...], left: tuple[Link, bool] | None) -> tuple[Touch, ...]:
    """A port must be free before a plug goes in: a move frees the port that its neighbour's plug needs."""
    pairs = list(zip(links[::2], links[1::2], strict=True))
    onwards = [_move(one[0], other[0]) for one, other in pairs if one[1]]
    back = [_move(other[0], one[0]) for one, other in reversed(pairs) if not one[1]]
    moves = (*onwards, *back)
    if left is None:
        return moves
    cable, designed = left
    return (*moves, Add(cable)) if designed else (Remove(cable), *moves)


def _round(moves: tuple[Touch, ...]) -> tuple[Touch, ...]:
    """Round a cycle each move frees the next one's port, and the last the first's: that plug comes out beforehand.

    Which it is must not depend on where the walk began: the smallest port's.
    """
    sources = [handled(move)[0] for move in moves]
    first = sources.index(min(sources)) + 1
    return (*moves[first:], *moves[:first])


def _move(designed: Link, observed: Link) -> Move:
    (stays,) = set(designed) & set(observed)
    return Move(stays, source=_far(observed, stays), target=_far(designed, stays))


def _far(joined: Link, near: Port) -> Port:
    return joined.b if joined.a == near else joined.a
