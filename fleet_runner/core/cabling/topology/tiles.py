"""A fabric's links counted by leaf, by rail or by rack: those designed, and those not as designed."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.picture_layout import natural
from fleet_runner.core.cabling.topology.layers import MIXED, Layers

LEAF, RAIL, RACK = "leaf", "rail", "rack"
WAYS = (LEAF, RAIL, RACK)


class Tile(NamedTuple):
    """One leaf, rail or rack: its designed links, and how many of them are not as designed, or could not be told."""

    name: str
    designed: int
    wrong: int
    untold: int = 0


def tiles(it: Layers, wrong: Collection[Link], untold: Collection[Link], way: str) -> tuple[Tile, ...]:
    """Count links by a way of looking; whatever has most wrong first, then by name."""
    designed: dict[str, int] = {}
    bad: dict[str, int] = {}
    dark: dict[str, int] = {}
    leaves = frozenset(it.leaves)
    for joined in it.links:
        for name in _of(it, leaves, joined, way):
            designed[name] = designed.get(name, 0) + 1
            bad[name] = bad.get(name, 0) + (joined in wrong)
            dark[name] = dark.get(name, 0) + (joined in untold and joined not in wrong)
    found = (Tile(name, count, bad[name], dark[name]) for name, count in designed.items())
    return tuple(sorted(found, key=lambda tile: (-tile.wrong, -tile.untold, natural(tile.name))))


def of(it: Layers, way: str, name: str) -> tuple[Link, ...]:
    """Return the links of one leaf, rail or rack."""
    leaves = frozenset(it.leaves)
    return tuple(joined for joined in it.links if name in _of(it, leaves, joined, way))


def ordered(links: Iterable[Link], wrong: Collection[Link]) -> Sequence[Link]:
    """Return links as a list shows them: those that are not as designed first, then by their ports."""
    return sorted(links, key=lambda each: (each not in wrong, *(natural(f"{port}") for port in each)))


def _of(it: Layers, leaves: frozenset[str], joined: Link, way: str) -> set[str]:
    """Return what a link counts for: both racks of one between racks, no rail of one between switches."""
    devices = (joined.a.device, joined.b.device)
    if way == RAIL:
        return {f"{it.rail(joined)}"} if it.rail(joined) != MIXED else set()
    if way == RACK:
        return {it.racks.get(device) or "unknown" for device in devices}
    return {device for device in devices if device in leaves}
