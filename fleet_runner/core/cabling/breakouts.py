"""Designed cables by the cable they are: one each, or the several that a breakout is."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fleet_runner.core.inventory.records import Cable, Termination


def laid(cables: Iterable[Cable]) -> Iterator[tuple[Termination, tuple[tuple[Cable, Termination], ...]]]:
    """Return one end of each cable, and what runs from there: records with their other ends.

    No interface takes two cables, so those that share one, and are alike, are a breakout: that is its end.
    """
    cables = tuple(cables)
    used: dict[tuple[Termination, Cable], list[Cable]] = defaultdict(list)
    for cable in cables:
        for end in (cable.a, cable.b):
            used[end, _alike(cable, end)].append(cable)
    done: set[tuple[Termination, Cable]] = set()
    for cable in cables:
        near = cable.b if len(used[cable.b, _alike(cable, cable.b)]) > 1 else cable.a
        key = near, _alike(cable, near)
        if key not in done:
            done.add(key)
            yield near, tuple((each, each.b if each.a == near else each.a) for each in used[key])


def _alike(cable: Cable, end: Termination) -> Cable:
    """Return what a cable shares with the others of its breakout: all but the other end."""
    return replace(cable, a=end, b=end)
