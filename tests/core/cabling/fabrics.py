"""Designs and mishaps to draw from: what hands do to cables, each on cables of its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.links import Link, Port, link

SERVERS = frozenset(f"gpu-{number:02d}" for number in range(1, 13))


class Mishap(StrEnum):
    """What hands do; each is one fault, whatever else happens to other cables."""

    SWAP = "swap"
    ROTATE = "rotate"
    MOVE = "move"
    PULL = "pull"
    ADD = "add"


NEEDS = {Mishap.SWAP: 2, Mishap.ROTATE: 3, Mishap.MOVE: 1, Mishap.PULL: 1, Mishap.ADD: 0}
"""Cables that a mishap takes, at least."""

KINDS = {
    Mishap.SWAP: {Kind.SWAP, Kind.WRONG_RAIL},
    Mishap.ROTATE: {Kind.ROTATION},
    Mishap.MOVE: {Kind.MOVED, Kind.WRONG_SWITCH},
    Mishap.PULL: {Kind.MISSING},
    Mishap.ADD: {Kind.EXTRA},
}


@dataclass(frozen=True, slots=True)
class Story:
    """A design, what was done to it, and what is plugged now."""

    designed: tuple[Link, ...]
    observed: tuple[Link, ...]
    mishaps: tuple[Mishap, ...]
    touches: int


def rails(servers: int = 4, count: int = 4) -> tuple[Link, ...]:
    """Servers joined to a leaf per rail, and each leaf to two spines."""
    down = [
        link(Port(f"gpu-{server + 1:02d}", f"ib{rail}"), Port(f"leaf-{rail + 1}", str(server + 1)))
        for server in range(servers)
        for rail in range(count)
    ]
    up = [
        link(Port(f"leaf-{rail + 1}", str(servers + 1 + spine)), Port(f"spine-{spine + 1}", str(rail + 1)))
        for rail in range(count)
        for spine in range(2)
    ]
    return (*down, *up)


@st.composite
def stories(draw: st.DrawFn, kinds: Iterable[Mishap] = tuple(Mishap)) -> Story:
    """Draw a design and mishaps on distinct cables; at least one cable of every device stays as it is."""
    designed = rails(draw(st.integers(2, 12)), draw(st.integers(2, 8)))
    untouched = _one_each(designed)
    left = draw(st.permutations([each for each in designed if each not in untouched]))
    observed = set(designed)
    mishaps: list[Mishap] = []
    touches = 0
    for number, mishap in enumerate(draw(st.lists(st.sampled_from(list(kinds)), max_size=12))):
        take = NEEDS[mishap] + (draw(st.integers(0, 3)) if mishap is Mishap.ROTATE else 0)
        if take <= len(left):
            cables, left = left[:take], left[take:]
            observed = (observed - set(cables)) | set(done(mishap, cables, number))
            mishaps.append(mishap)
            touches += max(take, 1)
    return Story(designed, tuple(observed), tuple(mishaps), touches)


def done(mishap: Mishap, cables: list[Link], number: int) -> list[Link]:
    """Return what is plugged after a mishap; `number` makes a free port its own."""
    free = Port("leaf-1", f"{900 + number}")
    match mishap:
        case Mishap.SWAP | Mishap.ROTATE:  # each cable keeps its server's or its leaf's end
            return [link(cable.a, cables[index - 1].b) for index, cable in enumerate(cables)]
        case Mishap.MOVE:
            return [link(cables[0].a, free)]
        case Mishap.PULL:
            return []
        case Mishap.ADD:
            return [link(free, Port("spine-1", f"{900 + number}"))]


def matchings(ports: int = 14) -> st.SearchStrategy[tuple[Link, ...]]:
    """Draw any cables at all between a few ports of three devices in two racks."""
    every = [Port(f"d{number % 3}", str(number)) for number in range(ports)]
    return st.tuples(st.permutations(every), st.integers(0, ports // 2)).map(
        lambda drawn: tuple(link(*drawn[0][2 * pair : 2 * pair + 2]) for pair in range(drawn[1]))
    )


def places(links: Iterable[Link]) -> Places:
    """Every device in a rack of its own."""
    devices = {port.device for each in links for port in each}
    words = {device: f"hall rack {device.upper()} U1" for device in devices}
    return Places(words, {device: f"hall/{device}" for device in devices}, SERVERS)


def _one_each(designed: Iterable[Link]) -> set[Link]:
    kept: dict[str, Link] = {}
    for each in designed:
        for port in each:
            kept.setdefault(port.device, each)
    return set(kept.values())
