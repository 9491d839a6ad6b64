"""Rounds of tests between nodes: in a round no node has two tests, so that none slows another one at its ends."""

from collections.abc import Iterable

from fleet_runner.core.cabling.paths import Pair


def rounds(pairs: Iterable[Pair]) -> tuple[tuple[Pair, ...], ...]:
    """Part pairs into rounds, each into the first one in which neither of its nodes has a test."""
    found: list[list[Pair]] = []
    nodes: list[set[str]] = []
    for pair in pairs:
        mine = {pair.one.device, pair.other.device}
        at = next((at for at, taken in enumerate(nodes) if not taken & mine), len(found))
        if at == len(found):
            found.append([])
            nodes.append(set())
        found[at].append(pair)
        nodes[at] |= mine
    return tuple(map(tuple, found))
