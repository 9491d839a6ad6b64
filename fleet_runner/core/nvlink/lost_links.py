"""Which part is behind NVLinks that are down: a switch tray, a tray's connector, or one port.

Each GPU of an NVL72 has 18 NVLinks, one to each switch chip, two to each of the nine switch trays (NVIDIA's MNNVL
User Guide). A lost switch tray takes the same links from every GPU of the rack; a loose connector of a compute tray
takes links from all GPUs of this tray; a bad port or cable takes one. Which link leads to which chip may differ
between the GPUs of a tray, and is the same for the same place in every tray.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

Down = Sequence[frozenset[int]]
"""The links that are down, by the place of the GPU in its tray."""


class Part(StrEnum):
    """What is behind lost links."""

    DOMAIN = "domain"  # every link of every GPU: the switch trays' power, or their control
    SWITCH_TRAY = "switch tray"  # the same links at every tray
    SWITCH_PORTS = "switch ports"  # the same links at several trays
    TRAYS = "trays"  # all links of all GPUs of several trays: what these share
    TRAY = "tray"  # all links of all GPUs of one tray
    CONNECTOR = "connector"  # links of all GPUs of a tray
    PORT = "port"  # anything less


class Lost(NamedTuple):
    """Links that one part took: at which trays, and which ones, by the place of the GPU in its tray."""

    part: Part
    trays: tuple[str, ...]
    links: tuple[frozenset[int], ...]


def lost(down: Mapping[str, Down], every: frozenset[int], expected: int) -> tuple[Lost, ...]:
    """Return what is behind the links that are down at each tray.

    `every` are the links that a GPU has, none where all are down everywhere. `expected` is how many trays the domain
    has: what less than half of them show is not taken for a switch tray. Trays with fewer GPUs than most are passed
    over: nobody can say which place is empty.
    """
    sizes = Counter(len(gpus) for gpus in down.values())
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0)
    seen = {tray: tuple(gpus) for tray, gpus in down.items() if len(gpus) == usual}
    if not any(links for gpus in seen.values() for links in gpus):
        return ()
    many = len(seen) > 1 and len(seen) * 2 > expected
    if many and all(links == every for gpus in seen.values() for links in gpus):
        return (Lost(Part.DOMAIN, tuple(seen), (every,) * usual),)
    shared = tuple(frozenset.intersection(*(gpus[place] for gpus in seen.values())) for place in range(usual))
    common = shared if many and all(shared) else (frozenset[int](),) * usual
    found = [Lost(Part.SWITCH_TRAY, tuple(seen), common)] if all(common) else []
    rest = {tray: tuple(links - common[at] for at, links in enumerate(gpus)) for tray, gpus in seen.items()}
    return (*found, *_rest(rest, tuple(every - links for links in common)))


def _rest(rest: Mapping[str, tuple[frozenset[int], ...]], whole: tuple[frozenset[int], ...]) -> Iterator[Lost]:
    alike: dict[tuple[frozenset[int], ...], list[str]] = defaultdict(list)
    for tray, gpus in rest.items():
        if any(gpus):
            alike[gpus].append(tray)
    for gpus, trays in alike.items():
        if gpus == whole:
            yield Lost(Part.TRAYS if len(trays) > 1 else Part.TRAY, tuple(trays), gpus)
        elif all(gpus) and len(trays) > 1:
            yield Lost(Part.SWITCH_PORTS, tuple(trays), gpus)
        else:
            part = Part.CONNECTOR if all(gpus) and len(gpus) > 1 else Part.PORT
            yield from (Lost(part, (tray,), gpus) for tray in trays)
