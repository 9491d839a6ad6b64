"""Why nodes wait, counted: the same sentence of many nodes is said once."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import ENDED

LONGEST = 300
"""Characters of a sentence that are shown; a node's own page has all of it."""

FEW = 5
"""Nodes that are named with a sentence; the rest is counted."""

_NUMBER = re.compile(r"[0-9]+")


class Wait(NamedTuple):
    """What so many nodes wait for: the sentence of one of them, and the names of a few."""

    sentence: str
    number: int
    names: tuple[str, ...]


def waits(nodes: Iterable[Node], busy: Iterable[str], queued: Mapping[str, str]) -> tuple[Wait, ...]:
    """Return what nodes wait for that no run works on (`busy`), most nodes first.

    `queued` says of some why their batch has not begun, which then is what they wait for. Sentences that differ in
    numbers, or in the node's own name, are one; the first nodes of each, in the order given, are named.
    """
    running = frozenset(busy)
    groups: dict[str, list[tuple[str, str]]] = {}
    alike: dict[str, str] = {}
    for node in nodes:
        said = queued.get(node.name, "" if node.name in running else node.waiting)
        if said and node.state not in ENDED:
            first = said.strip().partition("\n")[0][:LONGEST]
            plain = first.replace(node.name, "it")
            if plain not in alike:  # thousands say the same
                alike[plain] = _NUMBER.sub("#", plain)
            groups.setdefault(alike[plain], []).append((node.name, first))
    found = (_wait(group) for group in groups.values())
    return tuple(sorted(found, key=lambda each: (-each.number, each.sentence)))


def _wait(group: list[tuple[str, str]]) -> Wait:
    return Wait(group[0][1], len(group), tuple(name for name, _ in group[:FEW]))
