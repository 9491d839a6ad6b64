"""Devices outside the design that may be ones of it by other names: they are plugged where such a one belongs."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling.judge import Doubt
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.misnamed import Mismatch, Sort


class Heard(NamedTuple):
    """Both devices of a cable, and their ports; None where nobody can tell which."""

    a: str
    a_port: Port | None
    b: str
    b_port: Port | None


def renamed(heard: Iterable[Heard], designed: Mapping[Port, Link], known: Collection[str]) -> frozenset[str]:
    """Return the devices that are not `known`, at a port to one of which nothing is heard, or whose name they hold.

    What belongs there may be in the next cable's port, and so on: the last one's device counts.
    """
    rows = tuple(heard)
    here = {device for each in rows for device in (each.a, each.b)}
    odd = [(name, port) for a, mine, b, its in rows for name, port in ((a, its), (b, mine)) if name not in known]
    if not odd:
        return frozenset()
    ends = {port: end for port, joined in designed.items() for end in joined if end != port}
    at: dict[Port | None, Port | None] = {}
    for _, mine, _, its in rows:
        at |= {mine: its, its: mine}
    found: set[str] = set()
    for device, port in odd:
        goal = ends.get(port) if port else None
        passed: set[Port | None] = set()
        while goal in at and goal not in passed:
            passed.add(goal)
            near = at[goal]
            goal = ends.get(near) if near else None
        if goal and (goal.device not in here or _says(device, goal.device)):
            found.add(device)
    return frozenset(found)


def _says(name: str, device: str) -> bool:
    """Whether a name is a device's with something before or after it: its BMC's, or with its rack."""
    return re.search(rf"(?<![^\W_]){re.escape(device)}(?![^\W_])", name, re.IGNORECASE) is not None


def called(doubts: Iterable[Doubt]) -> tuple[Mismatch, ...]:
    """Return what the design and the captures call the devices at which links are doubted."""
    ends = ((each.designed, {*each.designed}, {*each.seen}) for each in doubts)
    return tuple(
        Mismatch(joined, Sort.DEVICES, min(goal - odd).device, min(odd - goal).device) for joined, goal, odd in ends
    )
