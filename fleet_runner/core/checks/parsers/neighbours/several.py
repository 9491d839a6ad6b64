"""What the switches of a fabric hear, in one text: how a sweep keeps it as evidence.

Shape: {"lldp_of_switches": {device: {"neighbours": [[interface, system, port, description]], "macs": [[interface,
address]]} or {"unread": why}}}; "macs" is left out where nothing was learned. Beside the switches stand nodes, with
what they heard themselves and "at", when (epoch seconds).
What a neighbour says of itself comes from whoever is plugged in: it is cut to the length that LLDP's standard allows
(IEEE 802.1AB: 255).
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.forwarding import MOST_PORTS, OF_HOST, Learned
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.lldp import Neighbour

KEY = "lldp_of_switches"

LONGEST = 255
"""Characters of a name, and of a sentence that says why a switch was not read."""

MOST = 4096
"""Neighbours of one switch: some seven on each port of the largest there are."""


MOST_LEARNED = MOST_PORTS * (OF_HOST + 1)
"""Addresses of one switch, as many as its reader keeps; of more none is kept, for what is left would mislead."""


class HeardByNode(NamedTuple):
    """What a node heard itself, and when (epoch seconds)."""

    at: float
    neighbours: tuple[Neighbour, ...]

    def written(self) -> dict[str, Any]:
        """Return it as plain JSON, as it stands beside the switches."""
        return {"at": self.at, "neighbours": _cut(self.neighbours, MOST)}


def before(nodes: Mapping[str, tuple[HeardByNode, Collection[str]]]) -> str:
    """Return what nodes heard, each with the switches that it should be joined to, as a sweep is told; "" for none.

    It is one text, as Ansible takes seconds to walk through the words of a thousand nodes, and none for one text.
    """
    told = {name: [heard.written(), sorted(switches)] for name, (heard, switches) in nodes.items()}
    return json.dumps(told) if told else ""


def beside(told: str, read: Collection[str]) -> dict[str, Any]:
    """Return what nodes heard, as `before` wrote it, that are joined to a switch that was not `read`."""
    nodes: dict[str, tuple[dict[str, Any], list[str]]] = json.loads(told) if told else {}
    return {name: heard for name, (heard, switches) in nodes.items() if not set(switches) <= set(read)}


class HeardBySwitches(NamedTuple):
    """The neighbours of each switch that was read, of each other one why it was not, and the addresses learned.

    `nodes` is what nodes beside switches that were not read said earlier.
    """

    heard: Mapping[str, tuple[Neighbour, ...]]
    unread: Mapping[str, str]
    learned: Mapping[str, tuple[Learned, ...]] = {}
    nodes: Mapping[str, HeardByNode] = {}


def written(
    heard: Mapping[str, Iterable[Neighbour]],
    unread: Mapping[str, str],
    learned: Mapping[str, Iterable[Learned]] | None = None,
) -> dict[str, Any]:
    """Return what switches hear in its form as plain JSON."""
    told: dict[str, dict[str, Any]] = {
        device: {"neighbours": _cut(neighbours, MOST)} for device, neighbours in heard.items()
    }
    for device, rows in (learned or {}).items():
        macs = _cut(rows, MOST_LEARNED + 1)
        told[device] |= {"macs": macs} if 0 < len(macs) <= MOST_LEARNED else {}
    return {KEY: told | {device: {"unread": why[:LONGEST]} for device, why in unread.items()}}


def _cut(rows: Iterable[Sequence[str]], most: int) -> list[list[str]]:
    return [[cell[:LONGEST] for cell in row] for row in islice(rows, most)]


def begins(text: str) -> bool:
    """Whether a text begins as these do."""
    return text.lstrip().startswith(f'{{"{KEY}"')


def parse(text: str) -> HeardBySwitches:
    """Return what the switches hear; EvidenceError for a text that is cut, or something else."""
    devices = json_object(text, "the sweep").get(KEY)
    if not isinstance(devices, dict):
        raise EvidenceError(f"the sweep: expected the key {KEY!r} with an object for each switch")
    heard: dict[str, tuple[Neighbour, ...]] = {}
    learned: dict[str, tuple[Learned, ...]] = {}
    unread: dict[str, str] = {}
    nodes: dict[str, HeardByNode] = {}
    for device, told in devices.items():
        if not isinstance(told, dict) or not (isinstance(told.get("unread"), str) or _told(told)):
            found = json.dumps(told)[:80]
            raise EvidenceError(f"the sweep: {device}: found {found}, expected its neighbours or why it was not read")
        if "unread" in told:
            unread[device] = told["unread"]
            continue
        neighbours = tuple(Neighbour(*row) for row in told["neighbours"])
        if "at" in told:
            nodes[device] = HeardByNode(told["at"], neighbours)
            continue
        heard[device] = neighbours
        if "macs" in told:
            learned[device] = tuple(Learned(*row) for row in told["macs"])
    return HeardBySwitches(heard, unread, learned, nodes)


def _told(told: Mapping[str, Any]) -> bool:
    """Whether it is what a switch hears, and what it learned."""
    at = told.get("at", 0.0)
    return (
        isinstance(at, int | float)
        and _rows(told.get("neighbours"), len(Neighbour._fields))
        and _rows(told.get("macs", []), len(Learned._fields))
    )


def _rows(rows: object, cells: int) -> bool:
    """Whether these are rows of so many texts."""
    return isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == cells and all(isinstance(cell, str) for cell in row) for row in rows
    )
